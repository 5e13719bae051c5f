// npm run test:k8s: builds every overlay and validates every object for the pinned Kubernetes version. It refuses
// unknown and missing fields and wrong types, and needs no cluster.
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { parseAllDocuments } from 'yaml';
import { findTool, run } from './tools.ts';

/** The oldest Kubernetes version that the manifests support. */
const KUBERNETES_VERSION = '1.30';

const root = path.resolve(import.meta.dirname, '../../..');
/** Of the repository, and with components that none of its overlays has. */
const FOLDERS = [path.join(root, 'k8s', 'overlays'), path.join(root, 'infra', 'k8s-checks', 'variants')];
const tools = path.join(root, '.tools', 'go');
const print = (text: string): void => void process.stdout.write(`${text}\n`);

/** Kustomize folds long values of secrets: the API server takes line breaks in base64, kubectl-validate does not. */
function unfolded(object: { data?: Record<string, string>; kind?: string }): typeof object {
  if (object.kind !== 'Secret') return object;
  const data = Object.entries(object.data ?? {}).map(([key, value]) => [key, value.replaceAll(/\s/g, '')]);
  return { ...object, data: Object.fromEntries(data) as Record<string, string> };
}

/** @returns the tools' error output for the overlay; null if it is valid */
async function problemOf(overlay: string, kustomize: string, validate: string, folder: string): Promise<string | null> {
  const built = await run(kustomize, ['build', overlay]);
  if (!built.ok) return built.stderr;
  const file = path.join(folder, `${path.basename(overlay)}.yaml`);
  const objects = parseAllDocuments(built.stdout).map((document) => document.toJS() as Parameters<typeof unfolded>[0]);
  // JSON, because YAML 1.1 and 1.2 differ in what a plain `off` is.
  await writeFile(file, objects.map((object) => JSON.stringify(unfolded(object))).join('\n---\n'));
  const validated = await run(validate, [
    file,
    '--version',
    KUBERNETES_VERSION,
    '--local-crds',
    path.join(root, 'k8s', 'crds'),
  ]);
  if (!validated.ok) return `${validated.stdout}${validated.stderr}`;
  print(`  ${path.basename(overlay)}: ${objects.length} objects`);
  return null;
}

async function check(): Promise<readonly string[]> {
  const kustomize = await findTool('kustomize', tools, print);
  const validate = await findTool('kubectl-validate', tools, print);
  const folder = await mkdtemp(path.join(os.tmpdir(), 'pf-k8s-'));
  try {
    const names: string[] = [];
    for (const place of FOLDERS) for (const name of (await readdir(place)).sort()) names.push(path.join(place, name));
    const problems: string[] = [];
    for (const name of names) {
      const problem = await problemOf(name, kustomize, validate, folder);
      if (problem !== null) problems.push(`${path.basename(name)}:\n${problem.trim()}`);
    }
    print(
      problems.length === 0
        ? `\n${names.length} overlays build and are valid for Kubernetes ${KUBERNETES_VERSION}.`
        : '',
    );
    return problems;
  } finally {
    await rm(folder, { recursive: true });
  }
}

const problems = await check().catch((error: unknown) => [error instanceof Error ? error.message : String(error)]);
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
