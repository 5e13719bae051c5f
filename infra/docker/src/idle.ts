import { untilEnded } from './until-ended.ts';

// In Kubernetes a pod goes on after its work, so that it counts as ready (k8s/base/setup.yaml).
await untilEnded();
