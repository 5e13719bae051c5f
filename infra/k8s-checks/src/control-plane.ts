import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';

const READY_WITHIN_MS = 60_000;
const POLL_MS = 200;
/** Without a node none of the others has anything to do. */
const CONTROLLERS = [
  'deployment-controller',
  'replicaset-controller',
  'statefulset-controller',
  'job-controller',
  'garbage-collector-controller',
  'namespace-controller',
  'serviceaccount-controller',
  'disruption-controller',
  'persistentvolumeclaim-protection-controller',
] as const;

/** An image whose tag contains it does not exist: its pods stay pending. */
export const ABSENT = 'absent';

/** An object as the API server returns it: only what the checks read. */
export interface Stored {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly { readonly kind: string }[];
    readonly deletionTimestamp?: string;
  };
  readonly spec?: { readonly template?: unknown; readonly containers?: readonly { readonly image: string }[] };
  readonly status?: { readonly phase?: string };
}

/** A real etcd, API server and controller manager, with every usual admission, on loopback. */
export interface ControlPlane {
  /** For `kubectl --kubeconfig`. */
  readonly kubeconfig: string;
  /** The file with the certificate of the API server. */
  readonly certificate: string;
  /** A GET of the API: the objects of a list, such as `/api/v1/pods`. */
  list(at: string): Promise<readonly Stored[]>;
  stop(): Promise<void>;
}

/**
 * Nothing runs in the pods. In place of nodes this says of every pod that it is ready, or of a Job's that it has
 * succeeded: so rollouts go on as they would.
 *
 * @param program infra/k8s-checks/cluster, compiled
 * @param folder for data, logs and credentials
 */
export async function startControlPlane(program: string, folder: string): Promise<ControlPlane> {
  await mkdir(folder, { recursive: true });
  const [etcdPort, peerPort, apiPort] = await Promise.all([freePort(), freePort(), freePort()]);
  const at = (name: string): string => path.join(folder, name);
  const token = randomBytes(16).toString('hex');
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  await writeFile(at('accounts.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  await writeFile(at('tokens.csv'), `${token},admin,admin,system:masters\n`, { mode: 0o600 });
  const processes: ChildProcess[] = [];
  // Nothing goes on behind a process that ends early.
  const killAll = (): void => processes.forEach((child) => child.kill('SIGKILL'));
  process.on('exit', killAll);
  const start = (part: string, options: Readonly<Record<string, string>>): void => {
    const output = openSync(at(`${part}.log`), 'w');
    const args = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
    processes.push(spawn(program, [part, ...args], { cwd: folder, stdio: ['ignore', output, output] }));
    closeSync(output);
  };
  const stop = async (): Promise<void> => {
    stopping = true;
    for (const child of processes.reverse()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    }
    process.off('exit', killAll);
    await kubelet;
  };

  let stopping = false;
  let kubelet: Promise<void> = Promise.resolve();
  const etcd = `http://127.0.0.1:${etcdPort}`;
  const peer = `http://127.0.0.1:${peerPort}`;
  start('etcd', {
    'data-dir': at('etcd'),
    'listen-client-urls': etcd,
    'advertise-client-urls': etcd,
    'listen-peer-urls': peer,
    'initial-advertise-peer-urls': peer,
    'initial-cluster': `default=${peer}`,
    'unsafe-no-fsync': 'true',
    'log-level': 'error',
  });
  start('kube-apiserver', {
    'etcd-servers': etcd,
    'bind-address': '127.0.0.1',
    'secure-port': String(apiPort),
    'cert-dir': at('certificates'),
    'token-auth-file': at('tokens.csv'),
    'authorization-mode': 'RBAC',
    'service-account-issuer': 'https://kubernetes.default.svc',
    'service-account-key-file': at('accounts.key'),
    'service-account-signing-key-file': at('accounts.key'),
    'service-cluster-ip-range': '10.96.0.0/16',
  });
  const certificate = at('certificates/apiserver.crt');
  const server = `https://127.0.0.1:${apiPort}`;

  const call = async (method: string, route: string, body?: unknown): Promise<unknown> => {
    const asking = request(`${server}${route}`, {
      method,
      ca: await readFile(certificate),
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/merge-patch+json' }),
      },
    });
    asking.end(body === undefined ? undefined : JSON.stringify(body));
    const [response] = (await once(asking, 'response')) as [NodeJS.ReadableStream & { statusCode: number }];
    const answer = await text(response);
    if (response.statusCode >= 400) throw new Error(`${method} ${route}: ${response.statusCode} ${answer}`);
    return answer.startsWith('{') ? JSON.parse(answer) : answer;
  };
  const list = async (route: string): Promise<readonly Stored[]> => {
    for (;;) {
      try {
        return ((await call('GET', route)) as { items: readonly Stored[] }).items;
      } catch (error) {
        // Of a custom resource that was defined a moment ago.
        if (!(error instanceof Error && error.message.includes('storage is (re)initializing'))) throw error;
      }
      await delay(POLL_MS);
    }
  };

  try {
    const giveUp = performance.now() + READY_WITHIN_MS;
    for (;;) {
      const failure = await call('GET', '/readyz').then(
        () => null,
        (error: Error) => error,
      );
      if (!failure) break;
      if (performance.now() > giveUp || processes.some(({ exitCode }) => exitCode !== null))
        throw new Error(`The API server does not start (${folder}): ${failure.message}`, { cause: failure });
      await delay(POLL_MS);
    }
    const kubeconfig = at('kubeconfig');
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'own', cluster: { server, 'certificate-authority': certificate } }],
      users: [{ name: 'admin', user: { token } }],
      contexts: [{ name: 'own', context: { cluster: 'own', user: 'admin' } }],
      'current-context': 'own',
    };
    await writeFile(kubeconfig, JSON.stringify(config), { mode: 0o600 });
    start('kube-controller-manager', {
      kubeconfig,
      controllers: CONTROLLERS.join(','),
      'leader-elect': 'false',
      'secure-port': '0',
      'service-account-private-key-file': at('accounts.key'),
      'concurrent-deployment-syncs': '20',
    });
    kubelet = (async () => {
      while (!stopping) {
        for (const pod of await list('/api/v1/pods').catch(() => []))
          if (pod.status?.phase === 'Pending' && !pod.spec?.containers?.some(({ image }) => image.includes(ABSENT)))
            await call(
              'PATCH',
              `/api/v1/namespaces/${pod.metadata.namespace}/pods/${pod.metadata.name}/status`,
              statusOf(pod),
            ).catch(() => undefined);
        await delay(POLL_MS);
      }
    })();
    return { kubeconfig, certificate, list, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** What a node would say of the pod. */
function statusOf({ metadata }: Stored): unknown {
  const now = new Date().toISOString();
  if (metadata.ownerReferences?.some(({ kind }) => kind === 'Job')) return { status: { phase: 'Succeeded' } };
  const conditions = ['Initialized', 'ContainersReady', 'Ready'].map((type) => ({
    type,
    status: 'True',
    lastTransitionTime: now,
  }));
  return { status: { phase: 'Running', startTime: now, conditions } };
}

/** A port that was free a moment ago: the programs need theirs as a parameter. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await once(server.close(), 'close');
  return port;
}
