// The files of the Helm chart, from the same manifests that kustomize builds: k8s/chart/templates only puts the values
// of a site into them.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse, parseAllDocuments } from 'yaml';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const K8S = path.join(ROOT, 'k8s');
const KEDA = ['ScaledObject', 'TriggerAuthentication'];
const HEADER = '# Generated from k8s by `npm run generate`: do not edit.\n';

interface Kustomization {
  readonly resources: readonly string[];
}

const kustomization = (folder: string): Kustomization =>
  parse(readFileSync(path.join(K8S, folder, 'kustomization.yaml'), 'utf8')) as Kustomization;

/** The objects of a folder of k8s with their comments. */
const objects = (folder: string): readonly string[] =>
  kustomization(folder).resources.flatMap((file) =>
    readFileSync(path.join(K8S, folder, file), 'utf8')
      .trimEnd()
      .split('\n---\n'),
  );

const kindOf = (text: string): string => (parseAllDocuments(text)[0]?.toJS() as { readonly kind: string }).kind;
const together = (texts: readonly string[]): string => `${HEADER}${texts.join('\n---\n')}\n`;

const scaling = (isKeda: boolean): string =>
  together(objects('components/scaling').filter((text) => KEDA.includes(kindOf(text)) === isKeda));

/** Makers of the generated files of the chart, by their paths from the root of the repository. */
export const CHART_FILES: Readonly<Record<string, () => string>> = Object.fromEntries(
  Object.entries({
    base: () => together(objects('base')),
    watcher: () => together(objects('watcher')),
    scaling: () => scaling(false),
    keda: () => scaling(true),
    strimzi: () => together(objects('components/strimzi')),
    'external-secrets': () => together(objects('components/external-secrets')),
    'kafka-oauth': () => together(objects('components/kafka-oauth')),
    monitoring: () => together(objects('components/monitoring')),
  }).map(([name, make]) => [`k8s/chart/files/${name}.yaml`, make]),
);
