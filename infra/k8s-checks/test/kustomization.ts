import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';

export const ROOT = path.resolve(import.meta.dirname, '../../..');

const generator = z.object({ name: z.string(), literals: z.array(z.string()).default([]) });
const kustomization = z.object({
  nameSuffix: z.string().default(''),
  resources: z.array(z.string()).default([]),
  components: z.array(z.string()).default([]),
  configMapGenerator: z.array(generator).default([]),
  secretGenerator: z.array(generator).default([]),
});

const reference = z.object({ name: z.string(), optional: z.boolean().default(false) });
const probe = z.object({ httpGet: z.object({ path: z.string(), port: z.string() }) });
const container = z.object({
  name: z.string(),
  image: z.string(),
  args: z.array(z.string()).length(1),
  ports: z.array(z.object({ name: z.string(), containerPort: z.number() })).default([]),
  env: z
    .array(
      z.object({
        name: z.string(),
        value: z.string().optional(),
        valueFrom: z
          .union([
            z.object({ secretKeyRef: reference.extend({ key: z.string() }) }),
            z.object({ configMapKeyRef: reference.extend({ key: z.string() }) }),
          ])
          .optional(),
      }),
    )
    .default([]),
  envFrom: z.array(z.union([z.object({ configMapRef: reference }), z.object({ secretRef: reference })])).default([]),
  startupProbe: probe.optional(),
  livenessProbe: probe.optional(),
  readinessProbe: probe.optional(),
  lifecycle: z.object({ preStop: z.object({ sleep: z.object({ seconds: z.number() }) }) }).optional(),
  securityContext: z.object({
    allowPrivilegeEscalation: z.boolean(),
    readOnlyRootFilesystem: z.boolean().default(false),
    capabilities: z.object({ drop: z.array(z.string()) }),
  }),
});
/** A Deployment or StatefulSet with one container of the image, and those that run before it. */
export const workload = z.object({
  metadata: z.object({ name: z.string() }),
  spec: z.object({
    template: z.object({
      metadata: z.object({ labels: z.record(z.string(), z.string()) }),
      spec: z.object({
        automountServiceAccountToken: z.boolean(),
        terminationGracePeriodSeconds: z.number().default(30),
        securityContext: z.object({ runAsNonRoot: z.boolean(), runAsUser: z.number() }),
        initContainers: z.array(container).default([]),
        containers: z.tuple([container]),
      }),
    }),
  }),
});
export type Workload = z.infer<typeof workload>;

const object = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
});
type KubernetesObject = z.infer<typeof object>;

/** The contents of an overlay. */
export interface Overlay {
  readonly objects: readonly KubernetesObject[];
  /** Variables and values by the name of the ConfigMap; the ConfigMap `network` has one entry for each network. */
  readonly configMaps: ReadonlyMap<string, readonly Readonly<Record<string, string>>[]>;
  /** Secrets with values from the repository (local), or with the keys of an ExternalSecret and null values. */
  readonly secrets: ReadonlyMap<string, Readonly<Record<string, string | null>>>;
}

const externalSecret = z.object({
  spec: z.object({ target: z.object({ name: z.string() }), data: z.array(z.object({ secretKey: z.string() })) }),
});

/**
 * Reads what `kustomize build` would, without that program: resources, components and generators, but no patches. A
 * test checks that patches change nothing that is read here.
 */
export function readOverlay(name: string): Overlay {
  const objects: KubernetesObject[] = [];
  const configMaps = new Map<string, Record<string, string>[]>();
  const secrets = new Map<string, Record<string, string | null>>();
  const visit = (folder: string): void => {
    const { resources, components, configMapGenerator, secretGenerator } = kustomization.parse(
      parse(readFileSync(path.join(folder, 'kustomization.yaml'), 'utf8')),
    );
    for (const { name: key, literals } of configMapGenerator)
      configMaps.set(key, [...(configMaps.get(key) ?? []), pairs(literals)]);
    for (const { name: key, literals } of secretGenerator) secrets.set(key, pairs(literals));
    for (const entry of [...resources, ...components]) {
      const target = path.join(folder, entry);
      if (!entry.endsWith('.yaml')) visit(target);
      else objects.push(...documents(target));
    }
  };
  visit(path.join(ROOT, 'k8s', 'overlays', name));
  for (const found of objects.filter(({ kind }) => kind === 'ExternalSecret')) {
    const { target, data } = externalSecret.parse(found).spec;
    secrets.set(target.name, Object.fromEntries(data.map(({ secretKey }) => [secretKey, null])));
  }
  return { objects, configMaps, secrets };
}

const operation = z.object({ op: z.string(), path: z.string(), value: z.unknown() });
const patched = z.object({
  components: z.array(z.string()).default([]),
  patches: z.array(z.union([z.object({ patch: z.string() }), z.object({ path: z.string() })])).default([]),
});

/** The JSON patches of an overlay and its components. */
export function patchesOf(name: string): readonly z.infer<typeof operation>[] {
  const visit = (folder: string): z.infer<typeof operation>[] => {
    const { components, patches } = patched.parse(parse(readFileSync(path.join(folder, 'kustomization.yaml'), 'utf8')));
    const own = patches.map((entry) =>
      'patch' in entry ? entry.patch : readFileSync(path.join(folder, entry.path), 'utf8'),
    );
    return [
      ...own.flatMap((text) => z.array(operation).parse(parse(text))),
      ...components.flatMap((component) => visit(path.join(folder, component))),
    ];
  };
  return visit(path.join(ROOT, 'k8s', 'overlays', name));
}

const targeted = z.object({
  resources: z.array(z.string()).default([]),
  patches: z.array(
    z.object({
      path: z.string(),
      target: z.object({ kind: z.string(), name: z.string().default('.*'), labelSelector: z.string().optional() }),
    }),
  ),
});

/** The patches of a component with what they apply to, and the ExternalSecrets that it adds. */
export function readComponent(name: string) {
  const folder = path.join(ROOT, 'k8s', 'components', name);
  const read = (file: string): string => readFileSync(path.join(folder, file), 'utf8');
  const { resources, patches } = targeted.parse(parse(read('kustomization.yaml')));
  return {
    patches: patches.map(({ path: file, target }) => ({ target, patch: z.array(operation).parse(parse(read(file))) })),
    secrets: resources
      .flatMap((file) => documents(path.join(folder, file)))
      .map((found) => externalSecret.parse(found).spec),
  };
}

/** The components that an overlay names itself. */
export const componentsOf = (name: string): readonly string[] =>
  kustomization
    .parse(parse(readFileSync(path.join(ROOT, 'k8s', 'overlays', name, 'kustomization.yaml'), 'utf8')))
    .components.map((component) => path.basename(component));

const documents = (file: string): KubernetesObject[] =>
  parseAllDocuments(readFileSync(file, 'utf8')).map((document) => object.parse(document.toJS()));

const pairs = (literals: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    literals.map((literal) => [literal.slice(0, literal.indexOf('=')), literal.slice(literal.indexOf('=') + 1)]),
  );
