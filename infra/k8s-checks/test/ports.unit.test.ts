import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { ROOT } from './kustomization.ts';

const workload = z.object({
  kind: z.enum(['Deployment', 'StatefulSet']),
  spec: z.object({
    template: z.object({
      metadata: z.object({ labels: z.record(z.string(), z.string()) }),
      spec: z.object({
        containers: z.array(z.object({ ports: z.array(z.object({ containerPort: z.number().int() })).default([]) })),
      }),
    }),
  }),
});
const folders = ['k8s/base', 'k8s/watcher'];

describe('docs/operations/ports.md', () => {
  it('lists the ports of every pod, and no others', () => {
    const objects = folders
      .flatMap((folder) => readdirSync(path.join(ROOT, folder)).map((name) => path.join(ROOT, folder, name)))
      .flatMap((file) => parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS() as unknown));
    const ports = objects.flatMap((object) => {
      const { success, data } = workload.safeParse(object);
      if (!success) return [];
      const { metadata, spec } = data.spec.template;
      return spec.containers
        .flatMap((container) => container.ports)
        .map(({ containerPort }) => `${metadata.labels['app.kubernetes.io/name']} ${containerPort}`);
    });
    const page = readFileSync(path.join(ROOT, 'docs/operations/ports.md'), 'utf8');
    const section = page.slice(page.indexOf('## In Kubernetes'), page.indexOf('## On one machine'));
    const documented = [...section.matchAll(/^\| (\w+) +\| (\d+) \|/gm)].map(([, pod, port]) => `${pod} ${port}`);
    expect(ports.length).toBeGreaterThan(10);
    expect(documented.sort()).toEqual(ports.sort());
  });
});
