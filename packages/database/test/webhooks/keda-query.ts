import { readFileSync } from 'node:fs';
import path from 'node:path';

const MANIFEST = path.join(import.meta.dirname, '../../../../k8s/components/scaling/webhook.yaml');

/** The query by whose result KEDA scales the webhook services. */
export function kedaQuery(): string {
  const query = /query: >-\n((?: {10}.+\n)+)/.exec(readFileSync(MANIFEST, 'utf8'))?.[1];
  if (query === undefined) throw new Error(`${MANIFEST} has no query`);
  return query;
}
