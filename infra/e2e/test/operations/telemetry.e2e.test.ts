import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { addWebhookEndpoint } from '@pf/database';
import type { PublicIntent } from '@pf/domain';
import { type Metric, METRICS, prometheusName } from '@pf/runtime';
import {
  type ApiClient,
  apiClient,
  type Cluster,
  freePorts,
  parseMetrics,
  readBackingStack,
  type Sample,
  type ServiceName,
  type StackWallet,
  startCluster,
  until,
  type WebhookReceiver,
  webhookReceiver,
} from '@pf/testing';
import { type OtlpReceiver, otlpReceiver, type ReceivedSpan } from '@pf/testing/otlp-receiver';
import { type Anvil, startAnvil } from '@pf/testing/chains';
import { newWallet, walletOn } from '@pf/testing/wallets';

const SERVICES = ['gateway', 'intent', 'watcher', 'webhook'] as const;
/** Secrets: the collector's key, and a token in a webhook receiver's URL. */
const COLLECTOR_KEY = 'collector-key-of-the-test';
const URL_SECRET = 'receivers-own-secret';
/** As the image of a commit after release 1.2.0 says. The watcher has none: its version is that of package.json. */
const BUILD = '1.2.0-3-g5f2c1ab';

let cluster: Cluster;
let chain: Anvil;
let collector: OtlpReceiver;
let receiver: WebhookReceiver;
let url: string;
let api: ApiClient;
let paid: PublicIntent;
let signed: string;
let clientSecret: string;
const metricsPorts = new Map<ServiceName, number>();
const logs = new Map<ServiceName, string>();

/** Pays an intent, and waits until it is finalized and its webhooks have arrived. */
async function pay(): Promise<PublicIntent> {
  const payer = walletOn(chain, chain.wallets[1] as StackWallet);
  const { intent, ...created } = (
    await api.create({ chain: chain.caip2, token: 'USDC', amount: '1', requestor: newWallet(chain).address })
  ).body;
  ({ clientSecret } = created);
  // A client that puts it into a path by mistake.
  expect((await api.request('GET', `/intents/${clientSecret}`)).status).toBe(404);
  const { body } = await api.build(intent.id, payer.address);
  signed = await payer.sign(body.transaction.blob);
  const page = await apiClient(url, clientSecret).follow(intent.id);
  const submitted = await api.submit(intent.id, signed, payer.address);
  expect([submitted.status, submitted.body.error]).toEqual([200, undefined]);
  const webhooks = () => receiver.received.filter((webhook) => webhook.body.data.intent.id === intent.id);
  await until(
    'the webhook of its end',
    () => webhooks().some(({ body: { type } }) => type === 'intent.finalized'),
    45_000,
  );
  await page.ended;
  expect(page.messages.map(({ event }) => event)).toContain('intent.confirmed');
  return (await api.get(intent.id)).body.intent;
}

beforeAll(async () => {
  [collector, receiver, chain] = await Promise.all([
    otlpReceiver(),
    webhookReceiver(),
    startAnvil({ blockMs: 500, safeDepth: 2 }),
  ]);
  cluster = await startCluster(readBackingStack(), [chain]);
  await addWebhookEndpoint(cluster.database, {
    accountId: cluster.accountId,
    livemode: false,
    url: `${receiver.url}?key=${URL_SECRET}`,
  });
  const ports = await freePorts(SERVICES.length);
  const started = await Promise.all(
    SERVICES.map((service, place) => {
      metricsPorts.set(service, ports[place] ?? 0);
      return cluster.start(service, {
        env: {
          METRICS_PORT: String(ports[place]),
          SERVICE_VERSION: service === 'watcher' ? '' : BUILD,
          ...(service === 'watcher' && { DEPOSITS: 'true' }),
          OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
          OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${COLLECTOR_KEY}`,
          OTEL_METRIC_EXPORT_INTERVAL: '1000',
          OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
          // A plan with prices: what calls cost is counted.
          RPC_BASE_SEPOLIA: '',
          RPC_CONFIG: JSON.stringify({ 'base-sepolia': [{ url: chain.rpcUrl, preset: 'alchemy-paid' }] }),
        },
      });
    }),
  );
  for (const { service, log } of started) logs.set(service, log);
  url = `${started[0]?.url}/v1`;
  api = apiClient(url, cluster.apiKeys.test);
  paid = await pay();
}, 120_000);
afterAll(async () => {
  await cluster.close();
  await Promise.all([chain.stop(), collector.close(), receiver.close()]);
});

describe('the trace of a payment', () => {
  /** The trace id in a webhook's `traceparent`. */
  const traceOf = (type: string): string =>
    String(
      receiver.received.find(({ body }) => body.type === type && body.data.intent.id === paid.id)?.headers[
        'traceparent'
      ],
    ).split('-')[1] ?? '';
  const spansOf = (traceId: string): ReceivedSpan[] => collector.spans.filter((span) => span.traceId === traceId);
  const named = (spans: readonly ReceivedSpan[], service: ServiceName, name: string): ReceivedSpan[] =>
    spans.filter((span) => span.service === service && span.name === name);
  /** Whether the parent of each span is there, but for that of the root: each service exports at times of its own. */
  const isWhole = (spans: readonly ReceivedSpan[]): boolean => {
    const ids = new Set(['', ...spans.map(({ spanId }) => spanId)]);
    return spans.every(({ parentSpanId }) => ids.has(parentSpanId));
  };
  /** The complete trace: services export spans every five seconds. */
  const whole = (type: string): Promise<ReceivedSpan[]> =>
    until(
      `the trace of ${type}`,
      () => {
        const spans = spansOf(traceOf(type));
        return (
          named(spans, 'webhook', 'POST').some(({ attributes }) => attributes['payments.event.type'] === type) &&
          named(spans, 'gateway', 'POST /v1/intents/{id}/submit').length > 0 &&
          named(spans, 'watcher', 'observe landed').length > 0 &&
          isWhole(spans) &&
          spans
        );
      },
      60_000,
    );

  it('runs from the submit through Kafka, projection and chain to the webhook', async () => {
    const spans = await whole('intent.confirmed');
    const byId = new Map(spans.map((span) => [span.spanId, span]));
    const roots = spans.filter(({ parentSpanId }) => !byId.has(parentSpanId));
    expect(roots.map(({ name, kind, parentSpanId }) => [name, kind, parentSpanId])).toEqual([
      ['POST /v1/intents/{id}/submit', 'SERVER', ''],
    ]);
    /** From a span up to the root. */
    const path = (span: ReceivedSpan | undefined): string[] =>
      span ? [...path(byId.get(span.parentSpanId)), `${span.service}: ${span.name}`] : [];
    const confirmed = named(spans, 'webhook', 'POST').find(
      ({ attributes }) => attributes['payments.event.type'] === 'intent.confirmed',
    );
    expect(path(confirmed)).toEqual([
      'gateway: POST /v1/intents/{id}/submit',
      'gateway: send intent.commands',
      'intent: process intent.commands',
      'watcher: observe landed',
      'watcher: send chain.observations',
      'intent: process chain.observations',
      'webhook: process intent.events',
      'webhook: POST',
    ]);
    // The children of a processed record: the Kafka transaction, then the projection.
    for (const processed of spans.filter(({ name, service }) => service === 'intent' && name.startsWith('process '))) {
      const below = spans.filter(({ parentSpanId }) => parentSpanId === processed.spanId);
      const [transaction, projection] = [
        below.find(({ name }) => name === 'send intent.events'),
        below.find(({ name }) => name === 'project ledger'),
      ];
      expect([transaction?.kind, projection?.kind, processed.kind]).toEqual(['PRODUCER', 'CLIENT', 'CONSUMER']);
      // Span times have a precision of milliseconds.
      expect(
        Number((transaction?.endTimeUnixNano ?? 0n) - (projection?.startTimeUnixNano ?? 0n)) / 1e6,
      ).toBeLessThanOrEqual(2);
    }
    expect(named(spans, 'gateway', 'eth_sendRawTransaction')).toHaveLength(1);
    expect(named(spans, 'gateway', 'SELECT ledger.intents').length).toBeGreaterThan(0);
    for (const { startTimeUnixNano, endTimeUnixNano } of spans)
      expect(endTimeUnixNano).toBeGreaterThanOrEqual(startTimeUnixNano);
  });

  it('begins with the create for a webhook about the create', async () => {
    const traceId = traceOf('intent.created');
    const spans = await until(
      'its spans',
      () => {
        const found = spansOf(traceId);
        return (
          [
            'POST /v1/intents',
            'send intent.commands',
            'process intent.commands',
            'send intent.events',
            'project ledger',
            'process intent.events',
            'POST',
          ].every((name) => found.some((span) => span.name === name)) && found
        );
      },
      30_000,
    );
    expect(new Set(spans.map(({ service }) => service))).toEqual(new Set(['gateway', 'intent', 'webhook']));
  });

  it('links an observation to its chain scan, and each message to the batch that decided it', async () => {
    const spans = await whole('intent.confirmed');
    const linked = ({ links }: ReceivedSpan): string[] =>
      links.flatMap(({ spanId }) => collector.spans.find((span) => span.spanId === spanId)?.name ?? []);
    const [observed] = named(spans, 'watcher', 'observe landed');
    await until('the link to the scan', () => observed && linked(observed).length > 0, 30_000);
    expect(observed && linked(observed)).toEqual(['watch base-sepolia']);
    const scan = collector.spans.find(({ spanId }) => spanId === observed?.links[0]?.spanId);
    expect(scan?.links.map(({ traceId }) => traceId)).toContain(observed?.traceId);
    for (const [service, name, batch] of [
      ['intent', 'process intent.commands', 'batch of intent.commands'],
      ['intent', 'process chain.observations', 'batch of chain.observations'],
      ['webhook', 'process intent.events', 'batch of intent.events'],
    ] as const) {
      const [processed] = named(spans, service, name);
      expect([
        name,
        await until(`the ${batch}`, () => processed && linked(processed).length > 0 && linked(processed), 30_000),
      ]).toEqual([name, [batch]]);
      const together = collector.spans.find(({ spanId }) => spanId === processed?.links[0]?.spanId);
      expect(together?.links.map(({ traceId }) => traceId)).toContain(processed?.traceId);
    }
  });

  it('follows the conventions for HTTP, messaging, databases and JSON-RPC', async () => {
    const spans = await whole('intent.confirmed');
    const about = (service: ServiceName, name: string): Record<string, unknown> =>
      named(spans, service, name)[0]?.attributes ?? {};
    expect(about('gateway', 'POST /v1/intents/{id}/submit')).toMatchObject({
      'http.request.method': 'POST',
      'http.route': '/v1/intents/{id}/submit',
      'http.response.status_code': '200',
      'url.scheme': 'http',
      'url.path': `/v1/intents/${paid.id}/submit`,
    });
    expect(about('gateway', 'send intent.commands')).toMatchObject({
      'messaging.system': 'kafka',
      'messaging.operation.name': 'send',
      'messaging.operation.type': 'send',
      'messaging.destination.name': 'intent.commands',
      'payments.command.type': 'prepare_submission',
      'payments.intent.id': paid.id,
    });
    expect(about('intent', 'process intent.commands')).toMatchObject({
      'messaging.operation.type': 'process',
      'messaging.consumer.group.name': 'intent',
      'messaging.destination.name': 'intent.commands',
      'payments.intent.id': paid.id,
    });
    expect(about('intent', 'project ledger')).toMatchObject({
      'db.system.name': 'postgresql',
      'db.operation.name': 'WITH',
    });
    expect(about('gateway', 'SELECT ledger.intents')).toMatchObject({
      'db.system.name': 'postgresql',
      'db.operation.name': 'SELECT',
      'db.query.text': expect.stringContaining('$1'),
    });
    expect(about('gateway', 'eth_sendRawTransaction')).toMatchObject({
      'rpc.system.name': 'jsonrpc',
      'rpc.method': 'eth_sendRawTransaction',
      'server.address': new URL(chain.rpcUrl).host,
    });
    expect(about('watcher', 'observe landed')).toMatchObject({
      'payments.intent.id': paid.id,
      'payments.transaction.hash': paid.txSignature,
      'payments.network': 'base-sepolia',
    });
    const { origin, port } = new URL(receiver.url);
    expect(about('webhook', 'POST')).toMatchObject({
      'http.request.method': 'POST',
      'http.response.status_code': '200',
      'server.address': '127.0.0.1',
      'server.port': port,
      'url.full': `${origin}/REDACTED`,
    });
    for (const { resource, service } of spans) {
      expect(resource).toMatchObject({
        'service.name': service,
        'service.version': service === 'watcher' ? expect.stringMatching(/^\d+\.\d+\.\d+$/) : BUILD,
        'service.instance.id': expect.stringMatching(/^[0-9a-f-]{36}$/),
        'deployment.environment.name': 'test',
      });
    }
  });

  it('contains no secret, and neither do the logs', async () => {
    await whole('intent.confirmed');
    await until(
      'the span of the path with the client secret',
      () => collector.spans.some(({ attributes }) => String(attributes['url.path']).endsWith('_secret_[redacted]')),
      30_000,
    );
    expect([collector.problems, collector.headers.authorization]).toEqual([[], `Bearer ${COLLECTOR_KEY}`]);
    const { secretsKey, apiKeys, webhookSecrets, databaseUrl } = cluster;
    const secrets = [
      COLLECTOR_KEY,
      URL_SECRET,
      apiKeys.test,
      apiKeys.live,
      ...Object.values(webhookSecrets),
      secretsKey.toString('base64'),
      new URL(databaseUrl).password,
      clientSecret,
      clientSecret.split('_secret_')[1] ?? '',
      signed,
      signed.replace(/^0x/, ''),
    ].filter((secret) => secret !== '');
    const texts = [
      JSON.stringify(collector.spans, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
      ...[...logs.values()].map((file) => readFileSync(file, 'utf8')),
    ];
    for (const secret of secrets) for (const text of texts) expect(text.includes(secret) ? secret : '').toBe('');
  });
});

describe('metrics after a payment', () => {
  const scrape = async (service: ServiceName): Promise<readonly Sample[]> => {
    const response = await fetch(`http://127.0.0.1:${metricsPorts.get(service)}/metrics`);
    expect([service, response.status]).toEqual([service, 200]);
    return parseMetrics(await response.text());
  };
  const catalogue: readonly (readonly [string, Metric])[] = Object.entries(METRICS);
  const ofService = (service: ServiceName): readonly (readonly [string, Metric])[] =>
    catalogue.filter(([, { services }]) => services.includes(service));
  /** The name without a histogram's suffix. */
  const family = ({ name }: Sample): string => name.replace(/_(bucket|sum|count)$/, '');
  /** No process of these tests trusts a private authority, or is in a container. */
  const DEPLOYED = ['payments.certificate.valid', 'process.memory.limit'] as const;
  /** The metrics that a successful payment does not touch. */
  const UNTOUCHED: Readonly<Record<(typeof SERVICES)[number], readonly string[]>> = {
    gateway: ['payments.rpc.wait.duration', 'payments.sponsor.requests', ...DEPLOYED],
    intent: ['messaging.client.operation.duration', 'payments.extras.disproved', ...DEPLOYED],
    watcher: ['payments.screening.duration', 'payments.broadcasts', 'payments.rpc.wait.duration', ...DEPLOYED],
    webhook: [...DEPLOYED],
  };

  it.each(SERVICES)('are exactly those that the catalogue lists for the %s service', async (service) => {
    const missing = await until(
      `every metric of ${service}`,
      async () => {
        const names = new Set((await scrape(service)).flatMap((sample) => [sample.name, family(sample)]));
        const absent = ofService(service).filter(
          ([name, metric]) => !names.has(prometheusName(name, metric)) && !UNTOUCHED[service].includes(name),
        );
        if (absent.length > 0) throw new Error(absent.map(([name]) => name).join(', '));
        return 'none';
      },
      30_000,
    );
    expect(missing).toBe('none');
    const known = new Set(ofService(service).map(([name, metric]) => prometheusName(name, metric)));
    expect([
      ...new Set(
        (await scrape(service))
          .filter((sample) => sample.name !== 'target_info' && !known.has(sample.name) && !known.has(family(sample)))
          .map(({ name }) => name),
      ),
    ]).toEqual([]);
  });

  it.each(SERVICES)('have only labels and values that the catalogue allows: %s', async (service) => {
    const byName = new Map(ofService(service).map(([name, metric]) => [prometheusName(name, metric), metric]));
    const values = new Map<string, Set<string>>();
    for (const sample of await scrape(service)) {
      if (sample.name === 'target_info') continue;
      const metric = byName.get(sample.name) ?? byName.get(family(sample));
      const { service_name: serviceName, le: _bound, ...labels } = sample.labels;
      expect([sample.name, serviceName]).toEqual([sample.name, service]);
      const allowed = new Map(
        Object.entries(metric?.labels ?? {}).map(([label, rule]) => [label.replaceAll('.', '_'), rule]),
      );
      for (const [label, value] of Object.entries(labels)) {
        const seen = values.get(`${sample.name} ${label}`) ?? new Set();
        values.set(`${sample.name} ${label}`, seen.add(value));
        expect([
          sample.name,
          label,
          value,
          allowed.get(label)?.pattern.test(value),
          seen.size <= (allowed.get(label)?.most ?? 0),
        ]).toEqual([sample.name, label, value, true, true]);
        // No ids, addresses or hashes, whatever the catalogue allows.
        expect(value).not.toMatch(/\b(pi|evt|acct|req|del|we)_\w{6}|0x[0-9a-f]{16}|[0-9a-f]{8}-[0-9a-f]{4}-/i);
      }
      for (const [label, rule] of Object.entries(metric?.labels ?? {}))
        if (!rule.isOptional)
          expect([sample.name, Object.keys(labels)]).toEqual([
            sample.name,
            expect.arrayContaining([label.replaceAll('.', '_')]),
          ]);
    }
  });

  it('count the payment once, and record its duration', async () => {
    const [gateway, intent, watcher, webhook] = (await Promise.all(SERVICES.map(scrape))) as [
      readonly Sample[],
      readonly Sample[],
      readonly Sample[],
      readonly Sample[],
    ];
    const value = (page: readonly Sample[], name: string, labels: Record<string, string> = {}): number | undefined =>
      page.find(
        (sample) =>
          sample.name === name &&
          Object.entries(labels).every(([label, expected]) => sample.labels[label] === expected),
      )?.value;
    const onChain = { network: 'base-sepolia', livemode: 'false' };
    for (const type of ['intent.created', 'intent.pending', 'intent.confirmed', 'intent.finalized'])
      expect([type, value(intent, 'payments_intent_events_total', { type, ...onChain })]).toEqual([type, 1]);
    expect(value(intent, 'payments_confirmation_duration_seconds_count', onChain)).toBe(1);
    const seconds = value(intent, 'payments_confirmation_duration_seconds_sum', onChain) ?? Number.NaN;
    expect(seconds > 0 && seconds < 45).toBe(true);
    expect(value(intent, 'payments_dead_letters_total')).toBe(0);
    expect(value(intent, 'payments_partitions_owned')).toBe(6);
    expect(
      value(gateway, 'http_server_request_duration_seconds_count', {
        http_request_method: 'POST',
        http_route: '/v1/intents',
        http_response_status_code: '201',
      }),
    ).toBe(1);
    expect(value(gateway, 'payments_payer_wait_duration_seconds_count', { network: 'base-sepolia' })).toBe(1);
    expect(value(watcher, 'payments_watcher_active', { network: 'base-sepolia' })).toBe(1);
    expect(value(webhook, 'payments_delivery_first_attempt_delay_seconds_count')).toBeGreaterThanOrEqual(4);
    expect(value(webhook, 'payments_delivery_attempts_total', { outcome: 'delivered' })).toBeGreaterThanOrEqual(4);
  });

  it('are sent to the collector too', async () => {
    for (const service of SERVICES) {
      const expected = ofService(service)
        .map(([name]) => name)
        .filter((name) => !UNTOUCHED[service].includes(name));
      await until(
        `the metrics of ${service} at the collector`,
        () => expected.every((name) => collector.metrics.get(service)?.has(name)),
        30_000,
      );
    }
    expect(collector.problems).toEqual([]);
  });
});

describe('a collector that is unavailable or never responds', () => {
  async function tryWith(fault: 'hangs' | 'unavailable'): Promise<void> {
    const began = performance.now();
    const dead = await otlpReceiver();
    dead.behavior = 'hangs';
    if (fault === 'unavailable') await dead.close();
    const gateway = await cluster.start('gateway', {
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: dead.url,
        OTEL_METRIC_EXPORT_INTERVAL: '500',
        OTEL_EXPORTER_OTLP_TIMEOUT: '500',
      },
    });
    let ended: Awaited<typeof gateway.exited> | null = null;
    void gateway.exited.then((how) => (ended = how));
    const client = apiClient(`${gateway.url}/v1`, cluster.apiKeys.test);
    // As clients do, it asks again after a 503: the broker, which all tests share, may take too long for once.
    const create = () =>
      until('a create', async () => {
        const { status } = await client.create({
          chain: chain.caip2,
          token: 'USDC',
          amount: '1',
          requestor: chain.wallets[0]?.address ?? '',
        });
        return status === 503 ? null : status;
      });
    const complaints = (): number => readFileSync(gateway.log, 'utf8').split('telemetry cannot be sent').length - 1;
    // More spans than one export holds.
    for (let round = 0; round < 6; round++)
      expect(new Set(await Promise.all(Array.from({ length: 20 }, create)))).toEqual(new Set([201]));
    await until('the warning', () => complaints() > 0, 30_000);
    expect(dead.requests > 0).toBe(fault === 'hangs');
    expect(await create()).toBe(201);
    // One a minute, however many exports fail.
    expect(complaints()).toBeLessThanOrEqual(1 + Math.floor((performance.now() - began) / 60_000));
    gateway.kill('SIGTERM');
    // Well within Kubernetes' grace period: spans that cannot be exported are dropped.
    expect(await until('the end of the gateway', () => ended, 20_000)).toEqual({ code: 0, signal: null });
    if (fault === 'hangs') await dead.close();
  }

  it('neither slows nor stops a service', async () => {
    await Promise.all([tryWith('hangs'), tryWith('unavailable')]);
  });
});
