import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';

/** Go programs, pinned so that the checks do not change by themselves. */
const TOOLS = {
  kustomize: 'sigs.k8s.io/kustomize/kustomize/v5@v5.7.1',
  'kubectl-validate': 'sigs.k8s.io/kubectl-validate@v0.0.4',
} as const;
export type Tool = keyof typeof TOOLS;

export interface RunResult {
  readonly ok: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end. @throws Error if the program does not exist */
export async function run(
  file: string,
  args: readonly string[],
  { input = '', environment = process.env }: { readonly input?: string; readonly environment?: NodeJS.ProcessEnv } = {},
): Promise<RunResult> {
  const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'pipe'], env: environment });
  // It may exit before it reads its input: the exit code shows whether it failed.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const [[code], stdout, stderr] = await Promise.all([
    once(child, 'close') as Promise<[number | null]>,
    text(child.stdout),
    text(child.stderr),
  ]);
  return { ok: code === 0, stdout, stderr };
}

const isAvailable = (file: string, args: readonly string[]): Promise<boolean> =>
  run(file, args).then(
    ({ ok }) => ok,
    () => false,
  );

/** The second is where Go's own installer puts it, which is not on every PATH. */
const GO_PATHS = ['go', '/usr/local/go/bin/go'] as const;

async function findGo(): Promise<string | undefined> {
  for (const go of GO_PATHS) if (await isAvailable(go, ['version'])) return go;
  return undefined;
}

/**
 * The path of a tool: from the PATH, else from `folder`, where it is installed with Go the first time.
 * @throws Error with what to install if there is neither the tool nor Go
 */
export async function findTool(tool: Tool, folder: string, print: (text: string) => void): Promise<string> {
  if (await isAvailable(tool, ['--help'])) return tool;
  const installed = path.join(folder, tool);
  if (
    await access(installed).then(
      () => true,
      () => false,
    )
  )
    return installed;
  const go = await findGo();
  if (go === undefined) {
    throw new Error(
      `${tool} is not on the PATH, and neither is Go, which can install it. ` +
        `Install Go 1.24 or newer (https://go.dev/dl), or the tool itself: go install ${TOOLS[tool]}`,
    );
  }
  print(`Installing ${tool} with Go. This happens once and takes some minutes on a small machine.`);
  await mkdir(folder, { recursive: true });
  const { ok, stderr } = await run(go, ['install', TOOLS[tool]], { environment: { ...process.env, GOBIN: folder } });
  if (!ok) throw new Error(`go install ${TOOLS[tool]} failed:\n${stderr.trim()}`);
  return installed;
}
