// npm run test:k8s: every overlay builds, and every object in it is one that a cluster of the pinned version would take:
// unknown fields, wrong types and missing ones are refused. No cluster is needed.
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { parseAllDocuments } from 'yaml';
import { findTool, run } from './tools.ts';

/** The oldest Kubernetes that the manifests are for. */
const KUBERNETES = '1.30';

const root = path.resolve(import.meta.dirname, '../../..');
const overlays = path.join(root, 'k8s', 'overlays');
const tools = path.join(root, '.tools', 'go');
const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** @returns what is wrong with the overlay, in the tools' words; null where all is well */
async function problemOf(overlay: string, kustomize: string, validate: string, folder: string): Promise<string | null> {
  const built = await run(kustomize, ['build', path.join(overlays, overlay)]);
  if (!built.ok) return built.stderr;
  const file = path.join(folder, `${overlay}.yaml`);
  await writeFile(file, built.stdout);
  const validated = await run(validate, [
    file,
    '--version',
    KUBERNETES,
    '--local-crds',
    path.join(root, 'k8s', 'crds'),
  ]);
  if (!validated.ok) return `${validated.stdout}${validated.stderr}`;
  say(`  ${overlay}: ${parseAllDocuments(built.stdout).length} objects`);
  return null;
}

async function check(): Promise<readonly string[]> {
  const kustomize = await findTool('kustomize', tools, say);
  const validate = await findTool('kubectl-validate', tools, say);
  const folder = await mkdtemp(path.join(os.tmpdir(), 'pf-k8s-'));
  try {
    const names = (await readdir(overlays)).sort();
    const problems: string[] = [];
    for (const name of names) {
      const problem = await problemOf(name, kustomize, validate, folder);
      if (problem !== null) problems.push(`${name}:\n${problem.trim()}`);
    }
    say(problems.length === 0 ? `\n${names.length} overlays build and are valid for Kubernetes ${KUBERNETES}` : '');
    return problems;
  } finally {
    await rm(folder, { recursive: true });
  }
}

const problems = await check().catch((error: unknown) => [error instanceof Error ? error.message : String(error)]);
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
