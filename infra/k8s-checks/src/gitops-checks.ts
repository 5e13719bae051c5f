// The examples for Argo CD and Flux, and that of an Ingress: that an API server takes them, and that what the first two
// point to can be rendered. Their controllers are not here.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseAllDocuments } from 'yaml';
import { expectThat, NAMESPACE, type Place, Site } from './upgrades.ts';

interface Backend {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec?: { readonly ports?: readonly { readonly name?: string }[] };
}

/** What the examples say of where manifests are. */
interface Example {
  readonly kind: string;
  readonly spec: {
    readonly path?: string;
    readonly source?: { readonly path: string; readonly helm?: { readonly valueFiles: readonly string[] } };
    readonly chart?: { readonly spec: { readonly chart: string; readonly valuesFiles: readonly string[] } };
  };
}

/** The overlay, or the chart with its values, both from the root of the repository. */
function sourceOf({ spec }: Example): { readonly folder: string; readonly values: readonly string[] | null } | null {
  if (spec.path !== undefined) return { folder: spec.path, values: null };
  if (spec.chart) return { folder: spec.chart.spec.chart, values: spec.chart.spec.valuesFiles };
  if (!spec.source) return null;
  // Argo CD's are relative to the chart, Flux's to the repository.
  const { path: folder, helm } = spec.source;
  return { folder, values: helm ? helm.valueFiles.map((file) => path.join(folder, file)) : null };
}

/** The Ingress of docs/operations/deploy.md. Its backends are Services of the manifests, with these ports. */
async function tryIngress(site: Site, { root }: Place, folder: string): Promise<void> {
  const page = await readFile(path.join(root, 'docs/operations/deploy.md'), 'utf8');
  const [text] = /(?<=```yaml\n)apiVersion: networking\.k8s\.io\/v1\nkind: Ingress\n[^`]+/.exec(page) ?? [];
  if (text === undefined) throw new Error('docs/operations/deploy.md has no Ingress');
  const file = path.join(folder, 'ingress.yaml');
  // The name of a class is lower case: the example's stands for the site's own.
  await writeFile(file, text.replace('CONTROLLER', 'nginx'));
  await site.command('kubectl', 'create', 'namespace', NAMESPACE);
  await site.command('kubectl', 'apply', '--dry-run=server', '--validate=strict', '--filename', file);
  const base = await site.command('kubectl', 'kustomize', path.join(root, 'k8s/base'));
  const services = parseAllDocuments(base).map((document) => document.toJS() as Backend);
  const backends = [...text.matchAll(/service: \{ name: (\w+), port: \{ name: (\w+) \} \}/g)];
  expectThat(backends.length === 3, `the Ingress of deploy.md has ${backends.length} backends`);
  for (const [, name, port] of backends)
    expectThat(
      services.some(
        ({ kind, metadata, spec }) =>
          kind === 'Service' && metadata.name === name && spec?.ports?.some((one) => one.name === port),
      ),
      `the Ingress of deploy.md leads to port ${port} of Service ${name}, which is not there`,
    );
}

/** Applies the examples. @returns what was proven. @throws Error with what went wrong */
export async function tryExamples(place: Place): Promise<string> {
  const folder = path.join(place.folder, 'gitops');
  await mkdir(folder, { recursive: true });
  const site = await Site.open(place, folder);
  try {
    await site.defineResources();
    for (const namespace of ['argocd', 'flux-system']) await site.command('kubectl', 'create', 'namespace', namespace);
    const examples = path.join(place.root, 'k8s/gitops');
    const files = (await readdir(examples)).sort();
    for (const file of files) {
      await site.command('kubectl', 'apply', '--filename', path.join(examples, file));
      const text = await readFile(path.join(examples, file), 'utf8');
      const sources = parseAllDocuments(text).flatMap((document) => sourceOf(document.toJS() as Example) ?? []);
      expectThat(sources.length === 1, `${file} names ${sources.length} places of manifests`);
      for (const source of sources) {
        const at = path.join(place.root, source.folder);
        const values = source.values?.flatMap((value) => ['--values', path.join(place.root, value)]);
        const rendered = values
          ? await site.command('helm', 'template', 'payments', at, '--validate', '-n', NAMESPACE, ...values)
          : await site.command('kubectl', 'kustomize', at);
        expectThat(rendered.includes('kind: Deployment'), `${file}: ${source.folder} has no Deployment`);
      }
      const wrong = path.join(folder, file);
      await writeFile(wrong, text.replace('spec:\n', 'spec:\n  misspelled: true\n'));
      const said = await site.command('kubectl', 'apply', '--filename', wrong).catch((error: Error) => error.message);
      expectThat(said.includes('unknown field "spec.misspelled"'), `${file}: an unknown field was taken: ${said}`);
    }
    await tryIngress(site, place, folder);
    return `gitops: ${files.join(', ')} applied, and what they point to rendered; the Ingress of deploy.md is taken`;
  } finally {
    await site.stop();
  }
}
