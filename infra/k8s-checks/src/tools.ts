import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';

/** Tools that are Go programs. Pinned: a check that changes by itself is none. */
const TOOLS = {
  kustomize: 'sigs.k8s.io/kustomize/kustomize/v5@v5.7.1',
  'kubectl-validate': 'sigs.k8s.io/kubectl-validate@v0.0.4',
} as const;
export type Tool = keyof typeof TOOLS;

export interface Outcome {
  readonly ok: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end. @throws Error where there is no such program */
export async function run(
  file: string,
  args: readonly string[],
  { input = '', environment = process.env }: { readonly input?: string; readonly environment?: NodeJS.ProcessEnv } = {},
): Promise<Outcome> {
  const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'pipe'], env: environment });
  child.stdin.on('error', () => undefined); // It ended before it read: its exit code says so.
  child.stdin.end(input);
  const [[code], stdout, stderr] = await Promise.all([
    once(child, 'close') as Promise<[number | null]>,
    text(child.stdout),
    text(child.stderr),
  ]);
  return { ok: code === 0, stdout, stderr };
}

const isThere = (file: string, args: readonly string[]): Promise<boolean> =>
  run(file, args).then(
    ({ ok }) => ok,
    () => false,
  );

/** Where Go's own installer puts it, which is not on every PATH. */
const GO = ['go', '/usr/local/go/bin/go'] as const;

async function findGo(): Promise<string | undefined> {
  for (const go of GO) if (await isThere(go, ['version'])) return go;
  return undefined;
}

/**
 * The path of a tool: the one of the PATH if there is one, else the one in `folder`, installed there with Go the first time.
 * @throws Error saying what to install where neither is to be had
 */
export async function findTool(tool: Tool, folder: string, say: (text: string) => void): Promise<string> {
  if (await isThere(tool, ['--help'])) return tool;
  const own = path.join(folder, tool);
  if (
    await access(own).then(
      () => true,
      () => false,
    )
  )
    return own;
  const go = await findGo();
  if (go === undefined) {
    throw new Error(
      `${tool} is not on the PATH, and neither is Go to install it with. Install Go 1.24 or newer (https://go.dev/dl), or the tool itself: go install ${TOOLS[tool]}`,
    );
  }
  say(`Installing ${tool} with Go, once; some minutes on a small machine`);
  await mkdir(folder, { recursive: true });
  const { ok, stderr } = await run(go, ['install', TOOLS[tool]], { environment: { ...process.env, GOBIN: folder } });
  if (!ok) throw new Error(`go install ${TOOLS[tool]} failed:\n${stderr.trim()}`);
  return own;
}
