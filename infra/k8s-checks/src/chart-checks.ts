// The Helm chart: that it renders what kustomize does for the same values, and that Helm installs, upgrades and takes
// it back on a real API server.
import { cp, mkdir, readFile, realpath, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { stringify } from 'yaml';
import { tryChartPage } from './runbooks/checks.ts';
import { run } from './tools.ts';
import { expectThat, type Manifest, manifestsOf, NAMESPACE, NEXT_TAG, type Place, Site } from './upgrades.ts';

/** What is rendered beside what: files of k8s/chart/ci, and a folder of manifests. */
const COUNTERPARTS = [
  { values: ['production'], folder: 'k8s/overlays/production' },
  { values: ['staging'], folder: 'k8s/overlays/staging' },
  { values: ['production', 'archive-in-bucket'], folder: 'infra/k8s-checks/variants/archive-in-bucket' },
  { values: ['production', 'amazon-msk'], folder: 'infra/k8s-checks/variants/amazon-msk' },
  { values: ['production', 'kafka-oauth'], folder: 'infra/k8s-checks/variants/kafka-oauth' },
] as const;
/** What the chart calls the shard of docs/operations/deploy.md, beside the watcher of the whole network. */
const SHARDS = 'shards={"base":["1/1","2/4"]}';
/** Values that no overlay has. */
const OTHERS = [['minimal']] as const;

const chartOf = ({ root }: Place): string => path.join(root, 'k8s/chart');
const valuesOf = (place: Place, names: readonly string[]): readonly string[] =>
  names.flatMap((name) => ['--values', path.join(chartOf(place), 'ci', `${name}-values.yaml`)]);

async function succeed(file: string, args: readonly string[]): Promise<string> {
  const { ok, stdout, stderr } = await run(file, args);
  if (!ok) throw new Error(`${path.basename(file)} ${args.join(' ')}\n${stdout.trim()}\n${stderr.trim()}`);
  return stdout;
}

const rendered = (place: Place, args: readonly string[]): Promise<string> =>
  succeed(place.programs.helm, ['template', 'payments', chartOf(place), '--namespace', NAMESPACE, ...args]);

const named = (objects: readonly Manifest[]): ReadonlyMap<string, Manifest> =>
  new Map(objects.map((object) => [`${object.kind} ${object.metadata.name}`, object]));

/** The production overlay with the shard that docs/operations/deploy.md has as an example. @returns its folder */
async function withShard({ root, folder }: Place): Promise<string> {
  const page = await readFile(path.join(root, 'docs/operations/deploy.md'), 'utf8');
  const [, file = '', text = ''] = /```yaml\n# (overlays\/production\/\S+)\n([^`]+)```/.exec(page) ?? [];
  expectThat(file !== '', 'docs/operations/deploy.md has no example of a shard');
  const copy = path.join(folder, 'watch-shards');
  await cp(path.join(root, 'k8s'), copy, { recursive: true });
  const production = path.join(copy, 'overlays/production');
  await mkdir(path.dirname(path.join(copy, file)));
  await writeFile(path.join(copy, file), text);
  const kustomization = path.join(production, 'kustomization.yaml');
  const own = await readFile(kustomization, 'utf8');
  const name = path.basename(path.dirname(file));
  await writeFile(kustomization, own.replace('resources:\n', `resources:\n  - ${name}\n`));
  return production;
}

/** Lints the chart with every file of values, and compares it with what kustomize builds. @returns what holds */
export async function checkChart(place: Place): Promise<string> {
  const { cluster, helm } = place.programs;
  for (const names of [...COUNTERPARTS.map(({ values }) => values), ...OTHERS]) {
    await succeed(helm, ['lint', '--strict', chartOf(place), ...valuesOf(place, names)]);
    await rendered(place, valuesOf(place, names));
  }
  let compared = 0;
  const pairs = [
    ...COUNTERPARTS.map(({ values, folder }) => ({
      args: valuesOf(place, values),
      folder: path.join(place.root, folder),
    })),
    { args: [...valuesOf(place, ['production']), '--set-json', SHARDS], folder: await withShard(place) },
  ];
  for (const { args, folder } of pairs) {
    const built = named(manifestsOf(await succeed(cluster, ['kubectl', 'kustomize', folder])));
    const made = named(manifestsOf(await rendered(place, args)));
    for (const name of new Set([...built.keys(), ...made.keys()])) {
      const [one, other] = [built.get(name), made.get(name)];
      expectThat(one !== undefined, `${folder}: only the chart has ${name}`);
      expectThat(other !== undefined, `${folder}: the chart lacks ${name}`);
      expectThat(
        isDeepStrictEqual(one, other),
        `${folder}: ${name} differs:\nkustomize ${JSON.stringify(one)}\nchart     ${JSON.stringify(other)}`,
      );
      compared++;
    }
  }
  const wrong: readonly (readonly [string, string])[] = [
    ['networks={mainnet}', "'/networks/0'"],
    ['image.tagg=1', 'tagg'],
    ['hosts.api=api.example', "'/hosts/api'"],
    ['access.postgres.cidrs=', "'/access/postgres"],
    ['access.dns.cidrs={kube-dns}', "'/access/dns/cidrs/0'"],
    ['kafka.saslMechanism=aws-msk-iam', "'/kafka/region'"],
    ['kafka.saslMechanism=oauthbearer', "'/kafka/oauth/tokenUrl'"],
    ['archive.oldIntents.served=true', "'/archive/bucket'"],
    ['archive.oldIntents.leaveAfterDays=90', "'/archive/oldIntents/served'"],
    ['privacy.retentionDays=400', "'/privacy/sealPersonalData'"],
    ['shards.base={second}', "'/shards/base/0'"],
    ['shards.other={1/2}', 'shards.other: networks does not have it'],
  ];
  for (const [value, complaint] of wrong) {
    const said = await rendered(place, [...valuesOf(place, ['production']), '--set', value]).then(
      () => 'nothing',
      (error: Error) => error.message,
    );
    expectThat(said.includes(complaint), `--set ${value} should be refused for ${complaint}: ${said}`);
  }
  return `chart: ${compared} objects as kustomize builds them; linted, and ${wrong.length} wrong values refused`;
}

/** The pods of each workload, by its name. */
const podsOf = (objects: readonly Manifest[]): ReadonlyMap<string, string> =>
  new Map(
    objects
      .filter(({ kind }) => ['Deployment', 'StatefulSet'].includes(kind))
      .map((object) => [
        object.metadata.name,
        JSON.stringify((object as { readonly spec?: { readonly template?: unknown } }).spec?.template),
      ]),
  );

/**
 * A secret that changes its name, as kustomize's generators and `secretNames` of the chart do it, replaces the pods
 * that use it and no others. @returns what holds
 */
export async function checkRotation(place: Place): Promise<string> {
  const { cluster } = place.programs;
  const compare = (what: string, before: readonly Manifest[], after: readonly Manifest[]): number => {
    const [old, now] = [podsOf(before), podsOf(after)];
    const changed = [...now].filter(([name, pod]) => pod !== old.get(name)).map(([name]) => name);
    const using = [...old]
      .filter(([, pod]) => /"secretRef":{"name":"reply-secret[^"]*"}/.test(pod))
      .map(([name]) => name);
    expectThat(using.length > 0 && using.length < old.size, `${what}: ${using.length} of ${old.size} use the secret`);
    expectThat(isDeepStrictEqual(changed, using), `${what}: ${changed.join()} changed, and ${using.join()} use it`);
    return using.length;
  };
  const values = valuesOf(place, ['production']);
  const inChart = compare(
    'chart with secretNames.reply-secret',
    manifestsOf(await rendered(place, values)),
    manifestsOf(await rendered(place, [...values, '--set', 'secretNames.reply-secret=reply-secret-2027'])),
  );
  const local = path.join(place.root, 'k8s/overlays/local');
  // Kustomize takes no absolute paths.
  const folder = path.join(place.folder, 'rotated');
  await mkdir(folder, { recursive: true });
  await writeFile(
    path.join(folder, 'kustomization.yaml'),
    stringify({
      resources: [path.relative(await realpath(folder), local)],
      namespace: NAMESPACE,
      secretGenerator: [{ name: 'reply-secret', behavior: 'merge', literals: ['REPLY_SECRET=another'] }],
    }),
  );
  const build = async (at: string) => manifestsOf(await succeed(cluster, ['kubectl', 'kustomize', at]));
  const inOverlay = compare('kustomize with a secretGenerator', await build(local), await build(folder));
  return `a changed secret replaces the ${inChart} workloads of the chart that use it, and ${inOverlay} of kustomize`;
}

/** Installs, upgrades, takes back and removes the chart. @returns what was proven. @throws Error with the failure */
export async function tryChart(place: Place): Promise<string> {
  const folder = path.join(place.folder, 'chart');
  await mkdir(folder, { recursive: true });
  const site = await Site.open(place, folder);
  try {
    await site.defineResources();
    const helm = (verb: string, ...args: readonly string[]): Promise<string> =>
      site.command('helm', verb, 'payments', ...args, '--namespace', NAMESPACE, '--wait', '--timeout', '2m');
    const values = [...valuesOf(place, ['production']), '--set', 'namespace.create=false'];
    const images = async (): Promise<string> =>
      [
        ...new Set(
          (await site.list(`/apis/apps/v1/namespaces/${NAMESPACE}/deployments`)).flatMap(({ spec }) =>
            [...JSON.stringify(spec?.template).matchAll(/"image":"([^"]*)"/g)].map(([, image]) => image ?? ''),
          ),
        ),
      ].join();
    await tryChartPage(place, site);
    const first = await images();
    const held = await site.holders();
    const steps = [
      [
        'the next',
        () => helm('upgrade', chartOf(place), ...values, '--set', `image.tag=${NEXT_TAG},kafka.compression=zstd`),
      ],
      ['back', () => helm('rollback', '1')],
    ] as const;
    for (const [step, work] of steps) {
      await work();
      const now = await images();
      expectThat(
        step === 'back' ? now === first : now === first.replace(/:[^:]*$/, `:${NEXT_TAG}`),
        `chart, ${step}: pods of ${now}`,
      );
      const holders = await site.holders();
      for (const [holder, uid] of held)
        expectThat(holders.get(holder) === uid, `chart, ${step}: ${holder} ${holders.get(holder) ?? 'was deleted'}`);
    }
    await helm('uninstall');
    const left = await site.holders();
    const data = [...held.keys()].filter((holder) => /namespaces\/payments$|kafkatopics|claims/.test(holder));
    for (const holder of data)
      expectThat(left.get(holder) === held.get(holder), `chart, uninstalled: ${holder} was deleted`);
    return `chart: installed → the next → back → uninstalled; ${data.length} that hold data stayed`;
  } finally {
    await site.stop();
  }
}
