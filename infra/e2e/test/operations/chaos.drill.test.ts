import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import {
  apiClient,
  type Cluster,
  type Instance,
  readSettledLog,
  seededRandom,
  type ServiceName,
  startCluster,
} from '@pf/testing';

const KILLS = 20;
const WORKERS = 12;
/** So many are created between two kills: a slow machine takes longer, where none would be created at all. */
const CREATED_BETWEEN = 6;
const REQUESTOR = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

/** What the service acknowledged to clients, which the checker verifies. */
interface Acknowledged {
  readonly created: Map<string, string>;
  readonly detected: Set<string>;
  readonly cancelled: Set<string>;
}

describe('the service under load while its processes are killed at random', () => {
  const seed = Number(process.env['CHAOS_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
  const next = seededRandom(seed);
  const fleet: Instance[] = [];
  const acknowledged: Acknowledged = { created: new Map(), detected: new Set(), cancelled: new Set() };
  let cluster: Cluster;
  let unanswered = 0;

  beforeAll(async () => {
    cluster = await startCluster();
    fleet.push(
      ...(await Promise.all(
        (['intent', 'intent', 'gateway', 'gateway'] as const).map((service) => cluster.start(service)),
      )),
    );
  });
  afterAll(() => cluster.close());

  const running = (service: ServiceName): Instance[] => fleet.filter((instance) => instance.service === service);

  /** Repeats a request at any running gateway until one responds, which docs/reference/contract.md promises is safe. */
  async function insist(
    request: (api: ReturnType<typeof apiClient>) => Promise<{ status: number; body: { intent?: { id: string } } }>,
  ): Promise<{ status: number; id: string | undefined }> {
    for (;;) {
      const gateways = running('gateway');
      const gateway = gateways[Math.floor(next() * gateways.length)];
      try {
        if (!gateway) throw new Error('no gateway');
        const { status, body } = await request(apiClient(`${gateway.url}/v1`, cluster.apiKeys.test));
        if (status !== 503) return { status, id: body.intent?.id };
        unanswered++;
      } catch {
        // The gateway was killed; it may or may not have accepted the request.
        unanswered++;
      }
      await delay(50);
    }
  }

  async function work(worker: number, stopped: () => boolean): Promise<void> {
    for (let round = 0; !stopped(); round++) {
      const idempotencyKey = `${worker}-${round}`;
      const created = await insist((api) =>
        api.create({ chain: 'eip155:84532', token: 'USDC', amount: '1.5', requestor: REQUESTOR, idempotencyKey }),
      );
      expect([200, 201]).toContain(created.status);
      const id = created.id ?? '';
      acknowledged.created.set(idempotencyKey, id);
      if (next() < 0.5 && (await insist((api) => api.detected(id))).status === 200) acknowledged.detected.add(id);
      // If the response of an earlier cancel was lost, the intent is already cancelled: 409.
      if (next() < 0.3 && [200, 409].includes((await insist((api) => api.cancel(id))).status))
        acknowledged.cancelled.add(id);
    }
  }

  /** Kills or pauses a random process of this service. */
  async function disturb(service: ServiceName): Promise<void> {
    const victims = running(service);
    const victim = victims[Math.floor(next() * victims.length)];
    if (!victim) return;
    if (service === 'intent' && next() < 0.2) {
      // Longer than the session timeout: it continues fenced, and another writer owns its partitions.
      victim.kill('SIGSTOP');
      await delay(4_500);
      victim.kill('SIGCONT');
      return;
    }
    fleet.splice(fleet.indexOf(victim), 1);
    victim.kill('SIGKILL');
    await victim.exited;
    fleet.push(await cluster.start(service, { wait: service === 'gateway' }));
  }

  it(`logs each acknowledged command once, without gaps, and projects the fold (CHAOS_SEED=${seed})`, async () => {
    let over = false;
    const workers = Array.from({ length: WORKERS }, (_, worker) => work(worker, () => over));
    for (let kills = 0; kills < KILLS; kills++) {
      const enough = acknowledged.created.size + CREATED_BETWEEN;
      await delay(200 + next() * 900);
      while (acknowledged.created.size < enough) await delay(50);
      // The first is a gateway, whose clients notice it at once: by chance it might be none in a whole run.
      await disturb(kills > 0 && next() < 0.75 ? 'intent' : 'gateway');
    }
    over = true;
    await Promise.all(workers);

    const contents = await readSettledLog(cluster, 30_000);
    expect(contents.problems).toEqual([]);

    const createdByKey = new Map<string | null, string[]>();
    for (const event of contents.events.filter(({ type }) => type === 'intent.created')) {
      const { idempotencyKey = null, id } = event.intent;
      createdByKey.set(idempotencyKey, [...(createdByKey.get(idempotencyKey) ?? []), id]);
    }
    for (const [key, id] of acknowledged.created) expect([key, createdByKey.get(key)]).toEqual([key, [id]]);
    const once = (type: string, ids: Set<string>): void => {
      const counted = new Map<string, number>();
      for (const event of contents.events.filter((found) => found.type === type))
        counted.set(event.intentId, (counted.get(event.intentId) ?? 0) + 1);
      for (const id of ids) expect([type, id, counted.get(id)]).toEqual([type, id, 1]);
    };
    once('intent.detected', acknowledged.detected);
    once('intent.cancelled', acknowledged.cancelled);
    // Clients noticed the kills.
    expect(unanswered).toBeGreaterThan(0);
  });
});
