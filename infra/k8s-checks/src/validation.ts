import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseAllDocuments } from 'yaml';
import { findTool, run } from './tools.ts';

/** The oldest Kubernetes version that the manifests support. */
export const OLDEST_KUBERNETES = '1.30';

/** Kustomize folds long values of secrets: the API server takes line breaks in base64, kubectl-validate does not. */
function unfolded(object: { data?: Record<string, string>; kind?: string }): typeof object {
  if (object.kind !== 'Secret') return object;
  const data = Object.entries(object.data ?? {}).map(([key, value]) => [key, value.replaceAll(/\s/g, '')]);
  return { ...object, data: Object.fromEntries(data) as Record<string, string> };
}

/**
 * Builds an overlay and validates every object for the oldest Kubernetes: it refuses unknown and missing fields and
 * wrong types, and needs no cluster.
 *
 * @throws Error with the tools' error output
 */
export async function validate(
  overlay: string,
  { root, folder, print }: { readonly root: string; readonly folder: string; readonly print: (text: string) => void },
): Promise<void> {
  const tools = path.join(root, '.tools', 'go');
  const built = await run(await findTool('kustomize', tools, print), ['build', overlay]);
  if (!built.ok) throw new Error(built.stderr);
  await mkdir(folder, { recursive: true });
  const file = path.join(folder, `${path.basename(overlay)}.yaml`);
  const objects = parseAllDocuments(built.stdout).map((document) => document.toJS() as Parameters<typeof unfolded>[0]);
  // JSON, because YAML 1.1 and 1.2 differ in what a plain `off` is.
  await writeFile(file, objects.map((object) => JSON.stringify(unfolded(object))).join('\n---\n'));
  const options = ['--version', OLDEST_KUBERNETES, '--local-crds', path.join(root, 'k8s', 'crds')];
  const validated = await run(await findTool('kubectl-validate', tools, print), [file, ...options]);
  if (!validated.ok) throw new Error(`${validated.stdout}${validated.stderr}`);
}
