// The examples for Argo CD and Flux: that an API server takes them, and that what they point to can be rendered. Their
// controllers are not here.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseAllDocuments } from 'yaml';
import { expectThat, NAMESPACE, type Place, Site } from './upgrades.ts';

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
    return `gitops: ${files.join(', ')} applied, and what they point to rendered`;
  } finally {
    await site.stop();
  }
}
