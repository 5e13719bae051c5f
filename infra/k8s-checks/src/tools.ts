import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { access, mkdir, readFile, rename, rm } from 'node:fs/promises';
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
  {
    input = '',
    environment = process.env,
    folder,
  }: { readonly input?: string; readonly environment?: NodeJS.ProcessEnv; readonly folder?: string } = {},
): Promise<RunResult> {
  const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'pipe'], env: environment, cwd: folder });
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

const exists = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );

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
  if (await exists(installed)) return installed;
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

/**
 * The linker's flags, with what Kubernetes' own build tells its programs: the API server its version, Helm which one it
 * renders for.
 */
function linkingFor(goMod: string): string {
  const [, version, major, minor] = /k8s\.io\/kubernetes (v(\d+)\.(\d+)\.\d+)/.exec(goMod) ?? [];
  if (version === undefined) throw new Error('cluster/go.mod requires no version of k8s.io/kubernetes.');
  const told = {
    'k8s.io/component-base/version.gitVersion': version,
    'k8s.io/component-base/version.gitMajor': major,
    'k8s.io/component-base/version.gitMinor': minor,
    'helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor': major,
    'helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor': minor,
  };
  return ['-s', '-w', ...Object.entries(told).map(([name, value]) => `-X=${name}=${value}`)].join(' ');
}

/** The programs that `cluster/go.mod` names. */
export interface Programs {
  /** A control plane with its kubectl: infra/k8s-checks/cluster/main.go. */
  readonly cluster: string;
  readonly helm: string;
}

/**
 * The programs, compiled from the modules that `cluster/go.mod` names, with the checksums of `cluster/go.sum`. They
 * stay in `folder` until one of them changes.
 * @throws Error with what to install if there is no Go
 */
export async function findPrograms(folder: string, print: (text: string) => void): Promise<Programs> {
  const module = path.join(import.meta.dirname, '../cluster');
  const hash = createHash('sha256');
  for (const file of ['go.mod', 'go.sum', 'main.go']) hash.update(await readFile(path.join(module, file)));
  const linking = linkingFor(await readFile(path.join(module, 'go.mod'), 'utf8'));
  const target = path.join(folder, hash.update(linking).digest('hex').slice(0, 12));
  const programs = { cluster: path.join(target, 'cluster'), helm: path.join(target, 'helm') };
  if ((await exists(programs.cluster)) && (await exists(programs.helm))) return programs;
  const go = await findGo();
  if (go === undefined)
    throw new Error('The API server and Helm are compiled with Go. Install Go 1.24 or newer (https://go.dev/dl).');
  print('Compiling an API server and Helm with Go. This happens once and takes 6 minutes on two idle cores.');
  const fresh = `${target}.new`;
  await rm(folder, { recursive: true, force: true });
  await mkdir(fresh, { recursive: true });
  const args = ['build', '-trimpath', `-ldflags=${linking}`, '-o', `${fresh}/`, '.', 'helm.sh/helm/v3/cmd/helm'];
  const { ok, stderr } = await run(go, args, { folder: module });
  if (!ok) throw new Error(`go ${args.join(' ')} failed:\n${stderr.trim()}`);
  await rename(fresh, target);
  return programs;
}
