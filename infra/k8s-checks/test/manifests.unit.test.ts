import { readFileSync } from 'node:fs';
import { BlockList, isIPv6 } from 'node:net';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { networks } from '@pf/chains';
import { observationKeys } from '@pf/contracts';
import { type Topic, topicConfig } from '@pf/event-log';
import { REDIS_SERVICES, redisUser } from '@pf/redis/users';
import { serveHealth } from '@pf/runtime';
import { z } from 'zod';
import {
  componentsOf,
  type Overlay,
  patchesOf,
  readComponent,
  readOverlay,
  ROOT,
  type Workload,
  workload,
} from './kustomization.ts';
import { problemsWith } from './variables.ts';

const OVERLAYS = ['local', 'staging', 'production'].map((name) => ({ name, overlay: readOverlay(name) }));
/** The time within which services exit after SIGTERM. */
const DRAIN_SECONDS = 25;

/** The replicas of each network's watcher (k8s/overlays). */
const WATCHERS = 3;
/** Connections of `migrate`, `pf`, KEDA and psql. */
const OPERATORS = 10;

/** The paths that overlays may patch, apart from NODE_EXTRA_CA_CERTS: no test reads them. */
const PATCHABLE = new RegExp(
  [
    '^/spec/(replicas|minReplicas|minReplicaCount',
    '|template/spec/(volumes(/-)?|topologySpreadConstraints.*|containers/0/resources/requests/cpu',
    '|(c|initC)ontainers/\\d/volumeMounts(/-)?))$',
  ].join(''),
);

/** Each container of the image with its pod: those that run before another one, too. */
const workloads = ({ objects }: Overlay): readonly Workload[] =>
  objects
    .filter(
      ({ kind, metadata }) =>
        kind === 'Deployment' || (kind === 'StatefulSet' && ['archive', 'operator'].includes(metadata.name)),
    )
    .map((object) => workload.parse(object))
    .flatMap((resource) => {
      const pod = resource.spec.template.spec;
      return [...pod.initContainers, ...pod.containers].map((container) => ({
        ...resource,
        spec: { template: { ...resource.spec.template, spec: { ...pod, containers: [container] as const } } },
      }));
    })
    .map((resource) => resource as Workload);
/** What serves for as long as it runs. */
const services = (overlay: Overlay): readonly Workload[] =>
  workloads(overlay).filter((resource) => containerOf(resource).readinessProbe !== undefined);
const containerOf = ({ spec }: Workload) => spec.template.spec.containers[0];
const ofKind = ({ objects }: Overlay, kind: string) => objects.filter((object) => object.kind === kind);

/** The environments of a workload's containers: for watchers one for each network. Null: the value of a secret. */
function environmentsOf(overlay: Overlay, resource: Workload): readonly Readonly<Record<string, string | null>>[] {
  const { env, envFrom } = containerOf(resource);
  let environments: Record<string, string | null>[] = [{}];
  for (const source of envFrom) {
    const reference = 'configMapRef' in source ? source.configMapRef : source.secretRef;
    const secret = overlay.secrets.get(reference.name);
    const found = 'configMapRef' in source ? overlay.configMaps.get(reference.name) : secret && [secret];
    if (!found && !reference.optional)
      throw new Error(`${resource.metadata.name} refers to ${reference.name}, which does not exist`);
    environments = (found ?? [{}]).flatMap((values) =>
      environments.map((environment) => ({ ...environment, ...values })),
    );
  }
  const own = Object.fromEntries(
    env.flatMap(({ name, value, valueFrom }): [string, string | null][] => {
      if (!valueFrom || 'secretKeyRef' in valueFrom) return [[name, value ?? null]];
      const { name: map, key, optional } = valueFrom.configMapKeyRef;
      const found = overlay.configMaps.get(map)?.[0]?.[key];
      if (found === undefined && !optional) throw new Error(`${resource.metadata.name} lacks ${key} of ${map}`);
      return found === undefined ? [] : [[name, found]];
    }),
  );
  return environments.map((environment) => ({ ...environment, ...own }));
}

const port = z.object({ port: z.number(), endPort: z.number().optional(), protocol: z.string() });
const rule = z.object({
  to: z.array(z.looseObject({})).default([]),
  from: z.array(z.looseObject({})).default([]),
  ports: z.array(port).min(1),
});
const policy = z.object({
  metadata: z.object({ name: z.string() }),
  spec: z.object({
    podSelector: z.object({ matchLabels: z.record(z.string(), z.string()).default({}) }),
    policyTypes: z.array(z.string()),
    egress: z.array(rule).default([]),
    ingress: z.array(rule).default([]),
  }),
});
const policies = (overlay: Overlay) => ofKind(overlay, 'NetworkPolicy').map((object) => policy.parse(object));
const portsOf = (overlay: Overlay, name: string) =>
  policies(overlay)
    .find(({ metadata }) => metadata.name === name)
    ?.spec.egress.flatMap(({ ports }) => ports.map(({ port: number }) => number));

/** The ranges of addresses among the peers of a rule. */
const blocksOf = (peers: readonly unknown[] | undefined) =>
  z
    .array(z.object({ ipBlock: z.object({ cidr: z.string(), except: z.array(z.string()).default([]) }).optional() }))
    .parse(peers)
    .flatMap(({ ipBlock }) => ipBlock ?? []);
const isIn = (address: string, cidr: string): boolean => {
  const [network = '', length] = cidr.split('/');
  const familyOf = (text: string) => (isIPv6(text) ? 'ipv6' : 'ipv4');
  const range = new BlockList();
  range.addSubnet(network, Number(length), familyOf(network));
  return range.check(address, familyOf(address));
};
/** An IPv6 range in the usual notation. */
const canonical = (cidr: string): string => {
  const [address = '', length] = cidr.split('/');
  return `${new URL(`http://[${address}]`).hostname}/${length}`;
};

/** What a pod that has a variable connects to. */
const CONNECTIONS: Readonly<Record<string, string>> = {
  DATABASE_URL: 'postgres',
  REDIS_URL: 'redis',
  KAFKA_BROKERS: 'kafka',
  MAIL_URL: 'smtp',
  GATEWAY_URL: 'gateway',
  OIDC_ISSUER: 'https',
};

describe('The table of secrets in docs/operations/deploy.md', () => {
  it('has every secret of the store, with its variables', () => {
    const page = readFileSync(path.join(ROOT, 'docs/operations/deploy.md'), 'utf8');
    let secret = '';
    const documented = new Map<string, string[]>();
    for (const [, named, variable = ''] of page.matchAll(/^\| (?:`payments\/([\w-]+…?)`)? *\| `([A-Z_]+…?)` /gm)) {
      secret = named ?? secret;
      documented.set(secret, [...(documented.get(secret) ?? []), variable]);
    }
    // One line stands for the users of each service, and one for the upstreams and keys of each network.
    const line = (name: string): string => name.replace(/^(database|redis)-.*/, '$1-…');
    const { secrets } = readOverlay('production');
    expect(documented.size).toBeGreaterThan(5);
    for (const [name, values] of secrets) {
      const variables = documented.get(line(name)) ?? [];
      const missing = Object.keys(values).filter(
        (key) => !variables.includes(key) && !variables.includes(key.replace(/^(RPC|KEY)_.*/, '$1_…')),
      );
      expect([name, missing]).toEqual([name, []]);
    }
  });
});

describe.each(OVERLAYS)('k8s/overlays/$name', ({ name, overlay }) => {
  it('gives every container the variables that its command needs, and no unknown ones', () => {
    for (const resource of workloads(overlay)) {
      for (const environment of environmentsOf(overlay, resource))
        expect(problemsWith(containerOf(resource).args[0] ?? '', environment)).toEqual([]);
    }
    expect(services(overlay).map(({ metadata }) => metadata.name)).toEqual(
      expect.arrayContaining(['gateway', 'intent', 'webhook', 'watcher', 'dashboard', 'checkout', 'archive']),
    );
  });

  it('has every pod replaced that does not become ready, so that a release can be taken back', () => {
    const sets = z.array(z.object({ spec: z.object({ podManagementPolicy: z.string().default('OrderedReady') }) }));
    const found = sets.parse(ofKind(overlay, 'StatefulSet'));
    expect(found.length).toBeGreaterThanOrEqual(2);
    for (const { spec } of found) expect(spec.podManagementPolicy).toBe('Parallel');
  });

  it('seals personal data where all services are replaced at once, and else says that it does not yet', () => {
    const sealed = services(overlay).flatMap((resource) => {
      const [environment] = environmentsOf(overlay, resource);
      const seals = environment?.['SEAL_PERSONAL_DATA'];
      return seals === undefined ? [] : [[resource.metadata.name, seals]];
    });
    const expected = String(name === 'local');
    expect(sealed).toEqual([
      ['gateway', expected],
      ['intent', expected],
    ]);
  });

  it('gives the days of retention to intent services alone', () => {
    const privacy = [{ SEAL_PERSONAL_DATA: 'true', PRIVACY_RETENTION_DAYS: '400' }];
    const site = { ...overlay, configMaps: new Map([...overlay.configMaps, ['privacy', privacy]]) };
    for (const resource of workloads(site)) {
      const [environment = {}] = environmentsOf(site, resource);
      expect(problemsWith(containerOf(resource).args[0] ?? '', environment)).toEqual([]);
      const days = resource.metadata.name === 'intent' ? '400' : undefined;
      expect([resource.metadata.name, environment['PRIVACY_RETENTION_DAYS']]).toEqual([resource.metadata.name, days]);
    }
  });

  it('patches only fields that these tests do not read', () => {
    for (const { path: at, value } of patchesOf(name)) {
      if (/^\/spec\/template\/spec\/(c|initC)ontainers\/\d\/env/.test(at))
        expect([value].flat()).toEqual([{ name: 'NODE_EXTRA_CA_CERTS', value: '/etc/kafka-ca/ca.crt' }]);
      else expect(at).toMatch(PATCHABLE);
    }
  });

  it('runs the image as an unprivileged user on a read-only root filesystem', () => {
    for (const resource of workloads(overlay)) {
      expect(resource.spec.template.spec).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, runAsUser: 1000 },
      });
      expect(containerOf(resource).securityContext).toMatchObject({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    }
  });

  it('probes the port that the service listens on, from outside the container', () => {
    for (const resource of services(overlay)) {
      const { ports, startupProbe, livenessProbe, readinessProbe } = containerOf(resource);
      const [environment] = environmentsOf(overlay, resource);
      const listening = Number(environment?.['HEALTH_PORT']);
      // Every address of either family: clusters may have IPv6 alone.
      expect(environment?.['HOST']).toBe('::');
      for (const probe of [startupProbe, livenessProbe, readinessProbe])
        expect(ports.find(({ name: port }) => port === probe?.httpGet.port)?.containerPort).toBe(listening);
      expect([startupProbe, livenessProbe, readinessProbe].map((probe) => probe?.httpGet.path)).toEqual([
        '/healthz',
        '/healthz',
        '/readyz',
      ]);
    }
  });

  it('lets no Service and no network policy lead to the probes, and only Prometheus to the metrics', () => {
    const own = ['http', 'metrics'];
    const service = z.object({
      metadata: z.object({ name: z.string() }),
      spec: z.object({ ports: z.array(z.object({ targetPort: z.union([z.string(), z.number()]).optional() })) }),
    });
    const backing = ['kafka', 'postgres', 'redis'];
    for (const object of ofKind(overlay, 'Service').filter(({ metadata }) => !backing.includes(metadata.name))) {
      const { metadata, spec } = service.parse(object);
      const expected = metadata.name === 'metrics' ? ['metrics'] : ['http'];
      expect([metadata.name, spec.ports.map(({ targetPort }) => targetPort)]).toEqual([metadata.name, expected]);
    }
    const closed = services(overlay).flatMap((resource) =>
      containerOf(resource).ports.filter(({ name: port }) => !own.includes(port)),
    );
    expect(closed.length).toBeGreaterThan(0);
    for (const { metadata, spec } of policies(overlay))
      for (const { ports } of spec.ingress) {
        const open = ports.map(({ port: number }) => number);
        for (const { containerPort } of closed) expect(open).not.toContain(containerPort);
        if (open.includes(9464)) expect([metadata.name, open]).toEqual(['telemetry', [9464]]);
      }
  });

  it('grants every pod a longer termination period than it needs', () => {
    for (const resource of services(overlay)) {
      expect(resource.spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(
        DRAIN_SECONDS + (containerOf(resource).lifecycle?.preStop.sleep.seconds ?? 0),
      );
    }
  });

  it('labels each pod for exactly the connections that its variables name', () => {
    const connectionOf = (variable: string): string | undefined =>
      CONNECTIONS[variable] ?? (variable.startsWith('RPC_') ? 'https' : undefined);
    const pods = new Map<string, { readonly needed: Set<string>; readonly labels: readonly string[] }>();
    for (const resource of workloads(overlay)) {
      const { name: pod } = resource.metadata;
      const labels = Object.keys(resource.spec.template.metadata.labels)
        .filter((label) => label.startsWith('payments/uses-'))
        .map((label) => label.slice('payments/uses-'.length));
      const { needed } = pods.get(pod) ??
        pods.set(pod, { needed: new Set(), labels }).get(pod) ?? { needed: new Set() };
      const [environment = {}] = environmentsOf(overlay, resource);
      for (const variable of Object.keys(environment)) needed.add(connectionOf(variable) ?? '');
      needed.delete('');
      if (containerOf(resource).args[0] === 'webhook') needed.add('internet');
    }
    for (const { needed, labels } of pods.values()) expect([...labels].sort()).toEqual([...needed].sort());
  });

  it('gives each program a user of its own in the database', () => {
    const used = workloads(overlay).flatMap((resource) =>
      containerOf(resource).envFrom.flatMap((source) =>
        'secretRef' in source && source.secretRef.name.startsWith('database')
          ? [[containerOf(resource).args[0], source.secretRef.name]]
          : [],
      ),
    );
    expect(Object.fromEntries(used)).toEqual({
      gateway: 'database-gateway',
      intent: 'database-intent',
      watcher: 'database-watcher',
      webhook: 'database-webhook',
      dashboard: 'database-dashboard',
      checkout: 'database-checkout',
      archive: 'database-archive',
      operator: 'database-operator',
      migrate: 'database-owner',
    });
    for (const [command, secret] of used) {
      const url = overlay.secrets.get(secret ?? '')?.['DATABASE_URL'];
      if (url) expect(new URL(url).username).toBe(command === 'migrate' ? 'payments' : `pf_${command}`);
    }
  });

  it('gives each service a user of its own in Redis', () => {
    for (const service of REDIS_SERVICES) {
      const [environment] = services(overlay)
        .filter((resource) => containerOf(resource).args[0] === service)
        .flatMap((resource) => environmentsOf(overlay, resource));
      expect(environment).toHaveProperty('REDIS_URL');
      const url = overlay.secrets.get(`redis-${service}`)?.['REDIS_URL'];
      if (url) expect(new URL(url).username).toBe(redisUser(service));
    }
  });

  it('lets Reloader replace every pod whose secrets have changed', () => {
    const kinds = ['Deployment', 'StatefulSet'];
    const own = new Set(workloads(overlay).map(({ metadata }) => metadata.name));
    for (const { kind, metadata } of overlay.objects.filter((object) => kinds.includes(object.kind)))
      if (own.has(metadata.name))
        expect([kind, metadata.name, metadata['annotations']]).toEqual([
          kind,
          metadata.name,
          { 'reloader.stakater.com/auto': 'true' },
        ]);
  });

  it('has nothing that could not be applied again after a change', () => {
    // The pods of a Job are immutable.
    expect(ofKind(overlay, 'Job')).toEqual([]);
  });

  it('denies by default, and every rule names peers and ports', () => {
    const [denied] = policies(overlay).filter(({ metadata }) => metadata.name === 'default-deny');
    expect(denied?.spec).toEqual({
      podSelector: { matchLabels: {} },
      policyTypes: ['Ingress', 'Egress'],
      egress: [],
      ingress: [],
    });
    for (const { spec } of policies(overlay)) {
      for (const { to } of spec.egress) expect(to.length).toBeGreaterThan(0);
      for (const { from } of spec.ingress) expect(from.length).toBeGreaterThan(0);
    }
  });

  it('lets every pod ask DNS by its pods, by the address of a cache on the node, and by that of its service', () => {
    const opened = z.object({
      spec: z.object({
        podSelector: z.strictObject({}),
        egress: z.array(z.object({ to: z.array(z.unknown()), ports: z.array(z.unknown()) })),
      }),
    });
    const { spec } = opened.parse(ofKind(overlay, 'NetworkPolicy').find(({ metadata }) => metadata.name === 'dns'));
    const [usual, openShift] = spec.egress;
    const both = (port: number) => [
      { port, protocol: 'UDP' },
      { port, protocol: 'TCP' },
    ];
    expect([usual?.ports, openShift?.ports]).toEqual([both(53), both(5353)]);
    expect(usual?.to[0]).toEqual({
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } },
      podSelector: { matchExpressions: [{ key: 'k8s-app', operator: 'In', values: ['kube-dns', 'node-local-dns'] }] },
    });
    const ranges = blocksOf(usual?.to);
    // NodeLocal DNSCache; DNS services of kubeadm, EKS (two), GKE and an IPv6 cluster.
    for (const address of ['169.254.20.10', '10.96.0.10', '172.20.0.10', '192.168.0.10', '34.118.224.10', 'fd00:10::a'])
      expect([address, ranges.some(({ cidr }) => isIn(address, cidr))]).toEqual([address, true]);
    for (const address of ['8.8.8.8', '1.1.1.1', '34.118.240.1', '2001:4860:4860::8888'])
      expect([address, ranges.some(({ cidr }) => isIn(address, cidr))]).toEqual([address, false]);
  });

  it('opens of NAT64 what is open of IPv4', () => {
    const translated = (cidr: string): string => {
      const [address, length] = cidr.split('/');
      return canonical(`64:ff9b::${address}/${96 + Number(length)}`);
    };
    const open = ofKind(overlay, 'NetworkPolicy').flatMap(({ metadata, spec }) =>
      z
        .object({ egress: z.array(z.object({ to: z.array(z.unknown()) })).default([]) })
        .parse(spec)
        .egress.map(({ to }) => ({ name: metadata.name, blocks: blocksOf(to) }))
        .filter(({ blocks }) => blocks.some(({ cidr }) => cidr === '0.0.0.0/0')),
    );
    expect(open.map(({ name: policyName }) => policyName)).toEqual(['https', 'smtp', 'internet']);
    for (const { blocks } of open) {
      const closed = blocks.find(({ cidr }) => cidr === '0.0.0.0/0')?.except ?? [];
      expect(blocks.find(({ cidr }) => cidr === '64:ff9b::/96')?.except.map(canonical)).toEqual(closed.map(translated));
    }
  });

  it('opens the ports that are in use', () => {
    const [kafka] = overlay.configMaps.get('kafka') ?? [];
    expect(portsOf(overlay, 'kafka')).toEqual([
      ...new Set(kafka?.['KAFKA_BROKERS']?.split(',').map((broker) => Number(broker.split(':')[1]))),
    ]);
    for (const [policyName, secret, variable, usual] of [
      ['postgres', 'database-owner', 'DATABASE_URL', 5432],
      ['redis', 'redis-webhook', 'REDIS_URL', 6379],
    ] as const) {
      // If the URL is a secret, its port is the default one (docs/operations/deploy.md).
      const url = overlay.secrets.get(secret)?.[variable];
      expect(portsOf(overlay, policyName)).toEqual([url ? Number(new URL(url).port) : usual]);
    }
    for (const [service, open] of [
      ['gateway', 4000],
      ['dashboard', 4004],
      ['checkout', 4007],
    ] as const) {
      const reached = policies(overlay).find(({ metadata }) => metadata.name === service);
      expect(reached?.spec.ingress.map(({ ports }) => ports.map(({ port: number }) => number))).toEqual([[open]]);
    }
  });

  it('has a watcher, upstreams and a key for each network', () => {
    const watched = (overlay.configMaps.get('network') ?? []).map(
      (values) => networks.find(({ chain }) => chain === values['NETWORKS'])?.name,
    );
    const upstreams = Object.keys(overlay.secrets.get('upstreams') ?? {});
    expect(upstreams.sort()).toEqual(
      watched.map((network) => `RPC_${String(network).toUpperCase().replaceAll('-', '_')}`).sort(),
    );
    expect(Object.keys(overlay.secrets.get('observation-keys') ?? {}).sort()).toEqual(
      watched.map((network) => `KEY_${String(network).toUpperCase().replaceAll('-', '_')}`).sort(),
    );
  });
});

describe('The keys of the watchers', () => {
  const watcherOf = (network: string) => readFileSync(path.join(ROOT, 'k8s/networks', network, 'kustomization.yaml'));

  it('reach the watcher of their network alone', () => {
    for (const { name } of networks)
      expect([name, /key: (KEY_\w+)/.exec(watcherOf(name).toString())?.[1]]).toEqual([
        name,
        `KEY_${name.toUpperCase().replaceAll('-', '_')}`,
      ]);
    for (const { overlay } of OVERLAYS)
      for (const resource of workloads(overlay)) {
        const uses = (secret: string): boolean => JSON.stringify(resource).includes(`"${secret}"`);
        const [command] = containerOf(resource).args;
        expect([command, uses('observation-keys')]).toEqual([command, command === 'watcher']);
        expect([command, uses('observation-secret')]).toEqual([command, command === 'intent']);
      }
  });

  it('follow from the secret of the intent services', () => {
    const { secrets } = readOverlay('local');
    const secret = Buffer.from(secrets.get('observation-secret')?.['OBSERVATION_SECRET'] ?? '');
    expect(secrets.get('observation-keys')).toEqual({ KEY_BASE_SEPOLIA: observationKeys(secret, ['eip155:84532']) });
  });
});

describe.each(OVERLAYS.filter(({ name }) => name !== 'local'))(
  'k8s/overlays/$name with managed services',
  ({ name, overlay }) => {
    const [kafka] = overlay.configMaps.get('kafka') ?? [];

    it('screens wallets', () => {
      expect(overlay.configMaps.get('screening')).toEqual([{ SCREENING_API_URL: expect.stringMatching(/^https:/) }]);
      expect(overlay.secrets.get('screening')).toEqual({ SCREENING_API_KEY: null });
    });

    it('scales intent services up to the number of partitions at most', () => {
      const scaled = ofKind(overlay, 'HorizontalPodAutoscaler').find(({ metadata }) => metadata.name === 'intent');
      expect(z.looseObject({ maxReplicas: z.number() }).parse(scaled?.['spec']).maxReplicas).toBeLessThanOrEqual(
        Number(kafka?.['KAFKA_PARTITIONS']),
      );
    });

    it('scales nothing but webhooks, which wait for receivers, by what a slow Postgres makes longer', () => {
      expect(ofKind(overlay, 'ScaledObject').map(({ metadata }) => metadata.name)).toEqual(['webhook']);
      for (const { spec } of ofKind(overlay, 'HorizontalPodAutoscaler'))
        expect(spec).toMatchObject({ metrics: [{ type: 'Resource', resource: { name: 'cpu' } }] });
    });

    it('keeps the connections to Postgres within the number that docs/operations/databases.md asks for', () => {
      const scaled = new Map(
        overlay.objects
          .filter(({ kind }) => ['ScaledObject', 'HorizontalPodAutoscaler'].includes(kind))
          .map((object) => {
            const { maxReplicaCount, maxReplicas } = z
              .looseObject({ maxReplicaCount: z.number().optional(), maxReplicas: z.number().optional() })
              .parse(object['spec']);
            return [object.metadata.name, maxReplicaCount ?? maxReplicas ?? 0];
          }),
      );
      const total = services(overlay)
        .map((resource) => {
          const { name } = resource.metadata;
          const [environment] = environmentsOf(overlay, resource);
          const each = Number(environment?.['DATABASE_CONNECTIONS'] ?? 0);
          // A rollout adds one at a time (maxSurge).
          return ((name === 'watcher' ? WATCHERS : (scaled.get(name) ?? 0)) + 1) * each;
        })
        .reduce((sum, connections) => sum + connections, OPERATORS);
      const page = readFileSync(path.join(ROOT, 'docs/operations/databases.md'), 'utf8');
      const most = Number(/`max_connections` of (\d+)/.exec(page)?.[1]);
      expect([total > 0, total <= most]).toEqual([true, true]);
      expect(page).toContain(`| ${name} `.padEnd(13) + `| ${total}`);
    });

    it('creates the topics that the services expect', () => {
      const topics = ofKind(overlay, 'KafkaTopic');
      expect(topics.map(({ metadata }) => metadata.name).sort()).toEqual([
        'chain.observations',
        'intent.commands',
        'intent.dead',
        'intent.events',
        'service.clock',
      ]);
      for (const { spec } of topics)
        expect(spec).toMatchObject({
          partitions: Number(kafka?.['KAFKA_PARTITIONS']),
          replicas: Number(kafka?.['KAFKA_REPLICATION']),
        });
    });

    it('gives the topics the configuration that the services verify', () => {
      for (const { metadata, spec } of ofKind(overlay, 'KafkaTopic')) {
        const { config } = z.object({ config: z.record(z.string(), z.unknown()) }).parse(spec);
        expect([metadata.name, Object.fromEntries(Object.entries(config).map(([key, value]) => [key, String(value)]))])
          // The names of our topics are those of the resources.
          .toEqual([metadata.name, topicConfig(metadata.name as Topic, Number(kafka?.['KAFKA_REPLICATION']))]);
      }
    });

    it('keeps the topics when their resources are deleted or pruned', () => {
      for (const { metadata } of ofKind(overlay, 'KafkaTopic'))
        expect(metadata['annotations']).toMatchObject({
          'strimzi.io/managed': 'false',
          'argocd.argoproj.io/sync-options': 'Prune=false,Delete=false',
          'kustomize.toolkit.fluxcd.io/prune': 'disabled',
          'helm.sh/resource-policy': 'keep',
        });
    });

    it('lets only the gateway write commands, only watchers observations, only the intent service events', () => {
      const users = z.array(
        z.object({
          metadata: z.object({ name: z.string() }),
          spec: z.object({
            authorization: z.object({
              acls: z.array(
                z.object({
                  resource: z.object({ type: z.string(), name: z.string().optional() }),
                  operations: z.array(z.string()),
                }),
              ),
            }),
          }),
        }),
      );
      const writers = (topic: string): string[] =>
        users
          .parse(ofKind(overlay, 'KafkaUser'))
          .flatMap(({ metadata, spec }) =>
            spec.authorization.acls.some(
              ({ resource, operations }) =>
                resource.type === 'topic' &&
                resource.name === topic &&
                operations.some((operation) => ['Write', 'All'].includes(operation)),
            )
              ? [metadata.name]
              : [],
          );
      expect(writers('intent.commands')).toEqual(['pf-gateway']);
      // The writer tells intents of the deposits assigned to them; the operator replays dead-lettered observations.
      expect(writers('chain.observations')).toEqual(['pf-intent', 'pf-watcher', 'pf-operator']);
      expect(writers('intent.events')).toEqual(['pf-intent']);
      expect(writers('intent.dead')).toEqual(['pf-intent']);
      expect(writers('service.clock')).toEqual(['pf-intent', 'pf-watcher']);
    });
  },
);

describe.each(OVERLAYS.filter(({ name }) => componentsOf(name).includes('private-ca')))(
  'k8s/components/private-ca in k8s/overlays/$name',
  ({ overlay }) => {
    it('gives the authorities to every container that connects to Postgres, Redis or Kafka, and to no other', () => {
      const { patches } = readComponent('private-ca');
      let trusting = 0;
      for (const object of overlay.objects.filter(({ kind }) => ['Deployment', 'StatefulSet'].includes(kind))) {
        const resource = workload.parse(object);
        const { template } = resource.spec;
        const labels = Object.entries(z.record(z.string(), z.string()).parse(object.metadata['labels'] ?? {}));
        const operations = patches
          .filter(
            ({ target: { kind, name, labelSelector } }) =>
              kind === object.kind &&
              new RegExp(`^(${name})$`).test(object.metadata.name) &&
              (labelSelector === undefined || labels.some((label) => label.join('=') === labelSelector)),
          )
          .flatMap(({ patch }) => patch);
        const adds = (at: string, value: object): boolean =>
          operations.some(
            (operation) =>
              operation.path.replace(/\/-$/, '') === `/spec/template/spec/${at}` &&
              JSON.stringify([operation.value].flat()) === JSON.stringify([value]),
          );
        for (const kind of ['initContainers', 'containers'] as const)
          for (const [index, container] of template.spec[kind].entries()) {
            const only: Workload = {
              ...resource,
              spec: { template: { ...template, spec: { ...template.spec, containers: [container] } } },
            };
            const [environment = {}] = environmentsOf(overlay, only);
            const connects = ['DATABASE_URL', 'REDIS_URL', 'KAFKA_BROKERS'].some((name) => name in environment);
            const at = `${kind}/${index}`;
            const has = {
              volume: adds('volumes', { name: 'kafka-ca', configMap: { name: 'kafka-ca' } }),
              mount: adds(`${at}/volumeMounts`, { name: 'kafka-ca', mountPath: '/etc/kafka-ca', readOnly: true }),
              variable: adds(`${at}/env`, { name: 'NODE_EXTRA_CA_CERTS', value: '/etc/kafka-ca/ca.crt' }),
            };
            const expected = { ...has, ...(connects && { volume: true }), mount: connects, variable: connects };
            expect([object.metadata.name, container.name, has]).toEqual([
              object.metadata.name,
              container.name,
              expected,
            ]);
            if (connects) trusting++;
          }
      }
      expect(trusting).toBeGreaterThan(8);
    });
  },
);

describe.each(['kafka-oauth', 'msk-iam'])('k8s/components/%s', (name) => {
  const { overlay } = OVERLAYS.find((found) => found.name === 'production') ?? { overlay: readOverlay('production') };
  const component = readComponent(name);
  const usesKafka = overlay.objects
    .filter(({ kind }) => ['Deployment', 'StatefulSet'].includes(kind))
    .filter((object) => 'payments/uses-kafka' in workload.parse(object).spec.template.metadata.labels);

  it('lets every pod that uses Kafka get its tokens', () => {
    expect(usesKafka.map(({ metadata }) => metadata.name)).toEqual(expect.arrayContaining(['intent', 'setup']));
    for (const { kind, metadata } of usesKafka) {
      // Those of the networks have a suffix (k8s/networks).
      const built = metadata.name === 'watcher' ? 'watcher-base' : metadata.name;
      const operations = component.patches
        .filter(({ target }) => target.kind === kind && new RegExp(`^(${target.name})$`).test(built))
        .flatMap(({ patch }) => patch);
      expect([built, operations]).toEqual([
        built,
        [{ op: 'add', path: '/spec/template/metadata/labels/payments~1uses-https', value: 'true' }],
      ]);
    }
  });

  it('has every key of the secrets with clients of the identity provider, or needs none', () => {
    const keys = usesKafka.flatMap((object) => {
      const { initContainers, containers } = workload.parse(object).spec.template.spec;
      return [...initContainers, ...containers].flatMap(({ env }) =>
        env.flatMap(({ name: variable, valueFrom }) =>
          variable.startsWith('KAFKA_OAUTH_') && valueFrom && 'secretKeyRef' in valueFrom
            ? [`${valueFrom.secretKeyRef.name} ${valueFrom.secretKeyRef.key}`]
            : [],
        ),
      );
    });
    expect(keys).toHaveLength(2 * usesKafka.length);
    const distinct = [...new Set(keys)];
    const made = component.secrets.flatMap(({ target, data }) =>
      data.map(({ secretKey }) => `${target.name} ${secretKey}`),
    );
    const expected = name === 'kafka-oauth' ? distinct : [];
    expect([...made].sort()).toEqual([...expected].sort());
  });
});

describe('the routes of the probes', () => {
  it('are served on a port of their own', async () => {
    const server = await serveHealth('127.0.0.1', 0, { live: () => true, ready: {} });
    try {
      const { port: at } = z.object({ port: z.number() }).parse(server.address());
      for (const route of ['/healthz', '/readyz'])
        expect((await fetch(`http://127.0.0.1:${at}${route}`)).status).toBe(200);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
