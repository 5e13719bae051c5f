// What a platform team does with the manifests, on a real API server: an upgrade from the former release, the next
// version over it, the same once more, the way back, and forward again; each by the one command of the docs.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseAllDocuments, stringify } from 'yaml';
import { ABSENT, type ControlPlane, startControlPlane, type Stored } from './control-plane.ts';
import { type Programs, run } from './tools.ts';

export const NAMESPACE = 'payments';
export const NEXT_TAG = '9.9.9';
/** No registry has it: pods of it never become ready. */
const BROKEN_TAG = `0.0.0-${ABSENT}`;
const BROKEN_WITHIN = '5s';
/** Version 1.0.0, the first that was deployed (infra/local/setup/earlier-release.mjs). */
const RELEASE = 'b026edb1989277efaaf1c0bec05acf0db09af5ff';
const IMAGES = ['payment-intents', 'images.example/payment-intents'];

/** What holds data, or without which data is not found, by the path of its list: it outlives every upgrade. */
const HOLDERS = [
  '/api/v1/namespaces',
  `/api/v1/namespaces/${NAMESPACE}/persistentvolumeclaims`,
  `/api/v1/namespaces/${NAMESPACE}/secrets`,
  `/apis/kafka.strimzi.io/v1/namespaces/${NAMESPACE}/kafkatopics`,
];

/** What the next version no longer has: kinds that go, and kinds that stay although no manifest has them. */
const REMOVED = {
  pruned: [['networking.k8s.io/v1', 'NetworkPolicy', 'smtp']],
  kept: [
    ['kafka.strimzi.io/v1', 'KafkaTopic', 'intent.events'],
    ['apps/v1', 'StatefulSet', 'archive'],
  ],
} as const;

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

/** Where the checks run. */
export interface Place {
  readonly root: string;
  /** Of this run; removed after it. */
  readonly folder: string;
  readonly programs: Programs;
}

/** The manifests of version 1.0.0 with their custom resources. @returns null without the history of git */
export async function releasedManifests({ root, folder }: Place): Promise<string | null> {
  const target = path.join(folder, 'release');
  await mkdir(target, { recursive: true });
  const archive = spawn('git', ['archive', RELEASE, 'k8s'], { cwd: root, stdio: ['ignore', 'pipe', 'ignore'] });
  const unpack = spawn('tar', ['-x', '-C', target], { stdio: ['pipe', 'ignore', 'ignore'] });
  archive.stdout.pipe(unpack.stdin);
  unpack.stdin.on('error', () => undefined);
  const [[code], [unpacked]] = (await Promise.all([once(archive, 'close'), once(unpack, 'close')])) as [
    [number],
    [number],
  ];
  return code === 0 && unpacked === 0 ? path.join(target, 'k8s') : null;
}

/** The objects of what kustomize or Helm has rendered. */
export const manifestsOf = (rendered: string): readonly Manifest[] =>
  parseAllDocuments(rendered).flatMap((document) => (document.toJS() as Manifest | null) ?? []);

/** One control plane for an overlay, in whose cluster the commands of the docs run. */
export class Site {
  readonly #plane: ControlPlane;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #root: string;

  private constructor(plane: ControlPlane, environment: NodeJS.ProcessEnv, root: string) {
    this.#plane = plane;
    this.#environment = environment;
    this.#root = root;
  }

  static async open({ root, programs: { cluster, helm } }: Place, folder: string): Promise<Site> {
    const plane = await startControlPlane(cluster, path.join(folder, 'control-plane'));
    const bin = path.join(folder, 'bin');
    await mkdir(bin, { recursive: true });
    await writeFile(path.join(bin, 'kubectl'), `#!/bin/sh\nexec '${cluster}' kubectl "$@"\n`, { mode: 0o755 });
    await symlink(helm, path.join(bin, 'helm'));
    const environment = {
      PATH: `${bin}${path.delimiter}${process.env['PATH']}`,
      HOME: folder,
      KUBECONFIG: plane.kubeconfig,
      TIMEOUT: '60s',
    };
    return new Site(plane, environment, root);
  }

  /** @returns what it wrote. @throws Error with what it complained of */
  async command(file: string, ...args: readonly string[]): Promise<string> {
    const { ok, stdout, stderr } = await run(file, args, { environment: this.#environment });
    if (!ok) throw new Error(`${path.basename(file)} ${args.join(' ')}\n${stdout.trim()}\n${stderr.trim()}`);
    return stdout;
  }

  async render(folder: string): Promise<readonly Manifest[]> {
    const rendered = await this.command('kubectl', 'kustomize', folder);
    return manifestsOf(rendered);
  }

  /** Defines the custom resources of k8s/crds. */
  async defineResources(): Promise<void> {
    await this.command('kubectl', 'apply', '-f', path.join(this.#root, 'k8s/crds'));
    await this.command('kubectl', 'wait', '--for=condition=established', 'crd', '--all');
  }

  apply(folder: string): Promise<string> {
    return this.command(path.join(this.#root, 'k8s/apply'), folder);
  }

  /** @returns what `k8s/apply` said of a rollout that did not end within the time. @throws if it did */
  async failToApply(folder: string, timeout: string): Promise<string> {
    const environment = { ...this.#environment, TIMEOUT: timeout };
    const { ok, stderr } = await run(path.join(this.#root, 'k8s/apply'), [folder], { environment });
    expectThat(!ok, `k8s/apply ${folder} says that everything runs`);
    return stderr;
  }

  list(at: string): Promise<readonly Stored[]> {
    return this.#plane.list(at);
  }

  /** The uids of all that holds data, by place and name. */
  async holders(): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>();
    for (const at of HOLDERS)
      for (const { metadata } of await this.list(at))
        found.set(`${at}/${metadata.name}`, metadata.deletionTimestamp ? 'is being deleted' : metadata.uid);
    return found;
  }

  async has(apiVersion: string, kind: string, name: string): Promise<boolean> {
    const [group = '', version] = apiVersion.split('/');
    const type = `${kind}.${version}.${group}`;
    const there = await this.command('kubectl', '-n', NAMESPACE, 'get', type, name, '--ignore-not-found', '-o', 'name');
    return there !== '';
  }

  get kubeconfig(): string {
    return this.#plane.kubeconfig;
  }

  /** The file with the certificate of the API server. */
  get certificate(): string {
    return this.#plane.certificate;
  }

  stop(): Promise<void> {
    return this.#plane.stop();
  }
}

/** The overlay with another image, and what else a kustomization may have. @returns its folder */
async function versionOf(overlay: string, folder: string, newTag: string, more: object = {}): Promise<string> {
  const target = path.join(folder, newTag);
  await mkdir(target, { recursive: true });
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: [path.relative(target, overlay)],
    images: IMAGES.map((name) => ({ name, newTag })),
    ...more,
  };
  await writeFile(path.join(target, 'kustomization.yaml'), stringify(kustomization));
  return target;
}

/** A version after that of the overlay: another image, another setting, and less. @returns its folder */
function nextVersion(overlay: string, folder: string, objects: readonly Manifest[]): Promise<string> {
  const removed = [...REMOVED.pruned, ...REMOVED.kept].filter(([, kind, name]) => has(objects, kind, name));
  return versionOf(overlay, folder, NEXT_TAG, {
    configMapGenerator: [
      { name: 'kafka', namespace: NAMESPACE, behavior: 'merge', literals: ['KAFKA_COMPRESSION=zstd'] },
    ],
    patches: removed.map(([apiVersion, kind, name]) => ({
      patch: stringify({ $patch: 'delete', apiVersion, kind, metadata: { name, namespace: NAMESPACE } }),
    })),
  });
}

/** A release whose image is missing is reported within its time, and one command takes it back, StatefulSets too. */
async function takesBack(site: Site, overlay: string, folder: string): Promise<void> {
  const said = await site.failToApply(await versionOf(overlay, folder, BROKEN_TAG), BROKEN_WITHIN);
  expectThat(said.includes('timed out'), `of a release without an image it said: ${said}`);
  await site.apply(overlay);
  const left = (await site.list(`/api/v1/namespaces/${NAMESPACE}/pods`))
    .filter(({ spec }) => spec?.containers?.some(({ image }) => image.endsWith(BROKEN_TAG)))
    .map(({ metadata }) => metadata.name);
  expectThat(left.length === 0, `${left.join(', ')} stayed at the release that was taken back`);
  await checkState(site, overlay);
}

const has = (objects: readonly Manifest[], kind: string, name: string): boolean =>
  objects.some((object) => object.kind === kind && object.metadata.name === name);

export function expectThat(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Error(otherwise);
}

const podsOf = async (site: Site): Promise<string> =>
  (await site.list(`/api/v1/namespaces/${NAMESPACE}/pods`))
    .map(({ metadata }) => metadata.uid)
    .sort()
    .join();

/** @throws Error with what differs */
async function checkState(site: Site, folder: string): Promise<void> {
  const objects = await site.render(folder);
  const wanted = new Set(
    objects.flatMap((object) =>
      [...JSON.stringify(object).matchAll(/"image":"([^"]*payment-intents:[^"]*)"/g)].map(([, image]) => image),
    ),
  );
  const pods = await site.list(`/api/v1/namespaces/${NAMESPACE}/pods`);
  const stale = await site.list(`/apis/apps/v1/namespaces/${NAMESPACE}/deployments`);
  for (const { metadata, spec } of stale) {
    const images = [...JSON.stringify(spec?.template).matchAll(/"image":"([^"]*)"/g)].map(([, image]) => image);
    expectThat(
      images.every((image) => wanted.has(image)),
      `${metadata.name} has ${images.join(', ')}`,
    );
  }
  for (const { kind, metadata } of objects.filter((object) => ['Deployment', 'StatefulSet'].includes(object.kind))) {
    // The operator's has none until it is scaled up.
    const runs = pods.some(({ metadata: pod }) => pod.name.startsWith(`${metadata.name}-`));
    expectThat(runs || metadata.name === 'operator', `${kind} ${metadata.name} has no pod`);
  }
  for (const [at, kind] of [
    [`/api/v1/namespaces/${NAMESPACE}/configmaps`, 'ConfigMap'],
    [`/apis/networking.k8s.io/v1/namespaces/${NAMESPACE}/networkpolicies`, 'NetworkPolicy'],
  ] as const) {
    const left = (await site.list(at))
      // What 1.0.0 applied has no label to be pruned by.
      .filter(({ metadata }) => metadata.labels?.['app.kubernetes.io/part-of'] === 'payments')
      .map(({ metadata }) => metadata.name)
      .filter((name) => !has(objects, kind, name));
    expectThat(left.length === 0, `${kind} ${left.join(', ')} should have been pruned`);
  }
}

/**
 * @param release the manifests of the former release, which this one is applied over
 * @param isThorough whether to go forward, stay and go back once more
 * @param afterwards what else is tried there. @returns what it proved
 * @returns what was proven
 * @throws Error with the step that failed
 */
export async function tryUpgrades(
  place: Place,
  overlay: string,
  release: string | null,
  isThorough = false,
  afterwards?: (site: Site) => Promise<string>,
): Promise<string> {
  const name = path.basename(overlay);
  const folder = path.join(place.folder, name);
  await mkdir(folder, { recursive: true });
  const site = await Site.open(place, folder);
  try {
    await site.defineResources();
    const objects = await site.render(overlay);
    const next = await nextVersion(overlay, folder, objects);
    const steps: (readonly [step: string, manifests: string])[] = [
      ['this version', overlay],
      ['the next', next],
      ['back', overlay],
    ];
    if (isThorough) steps.push(['the next', next], ['the next again', next], ['back', overlay]);
    const former = release && path.join(release, 'overlays', name);
    const isReleased =
      former !== null &&
      (await site.render(former).then(
        () => true,
        () => false,
      ));
    // As its docs said.
    if (isReleased) await site.command('kubectl', 'apply', '-k', former);
    let holding = await site.holders();
    for (const [step, now] of steps) {
      const before = await podsOf(site);
      await site.apply(now).catch((error: Error) => {
        throw new Error(`${name}, ${step}: ${error.message}`);
      });
      await checkState(site, now).catch((error: Error) => {
        throw new Error(`${name}, after ${step}: ${error.message}`);
      });
      const held = await site.holders();
      for (const [holder, uid] of holding)
        expectThat(held.get(holder) === uid, `${name}, ${step}: ${holder} ${held.get(holder) ?? 'was deleted'}`);
      holding = held;
      const isSame = (await podsOf(site)) === before;
      expectThat(
        isSame === (step === 'the next again'),
        `${name}, ${step}: ${isSame ? 'no pod was' : 'pods were'} replaced`,
      );
      for (const [apiVersion, kind, object] of REMOVED.pruned)
        expectThat(
          (await site.has(apiVersion, kind, object)) === (now === overlay),
          `${name}, ${step}: ${kind} ${object} was ${now === overlay ? 'not restored' : 'not pruned'}`,
        );
      for (const [apiVersion, kind, object] of REMOVED.kept)
        if (has(objects, kind, object))
          expectThat(await site.has(apiVersion, kind, object), `${name}, ${step}: ${kind} ${object} was deleted`);
    }
    const pods = await site.list(`/api/v1/namespaces/${NAMESPACE}/pods`);
    await refusesUnrestricted(site);
    if (isThorough) await takesBack(site, overlay, folder);
    const more = await afterwards?.(site);
    return (
      `${name}: ${isReleased ? '1.0.0 → ' : ''}${steps.map(([step]) => step).join(' → ')}; ` +
      `${objects.length} objects, ${pods.length} restricted pods, ${holding.size} that hold data stayed` +
      (more === undefined ? '' : `; ${more}`)
    );
  } finally {
    await site.stop();
  }
}

/** That all pods are there would say nothing if any were taken. */
async function refusesUnrestricted(site: Site): Promise<void> {
  const said = await site
    .command('kubectl', '-n', NAMESPACE, 'run', 'unrestricted', '--image=any', '--dry-run=server')
    .catch((error: Error) => error.message);
  expectThat(said.includes('violates PodSecurity'), `the namespace takes an unrestricted pod: ${said}`);
}
