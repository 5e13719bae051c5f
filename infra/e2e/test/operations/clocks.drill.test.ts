import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  type ApiClient,
  apiClient,
  type Cluster,
  compareProjection,
  type Instance,
  readWholeLog,
  startCluster,
  until,
  wrongClock,
} from '@pf/testing';

const REQUEST = {
  chain: 'eip155:84532',
  token: 'USDC',
  amount: '2',
  requestor: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
};
/** What /readyz says of the clock; offsets in ms. */
interface Health {
  readonly checks: { readonly clock: 'ok' | 'unavailable' };
  readonly clock: {
    readonly standing: string;
    readonly offsets: { readonly kafka: number; readonly postgres: number };
  };
}

let cluster: Cluster;
let api: ApiClient;

beforeEach(async () => {
  cluster = await startCluster();
  const gateway = await cluster.start('gateway');
  api = apiClient(`${gateway.url}/v1`, cluster.apiKeys.test);
});
afterEach(() => cluster.close());

const clockOf = async ({ url }: Instance) => (await (await fetch(`${url}/readyz`)).json()) as Health;
const stands = (instance: Instance, standing: string) =>
  until(`the clock to be ${standing}`, async () => (await clockOf(instance)).clock.standing === standing);
/** Creates intents until every partition had one. */
const createSome = async (): Promise<readonly string[]> => {
  const made = await Promise.all(
    Array.from({ length: 24 }, async (_, index) => {
      const response = await api.create({ ...REQUEST, ttlSeconds: 600, idempotencyKey: `${Date.now()}-${index}` });
      expect(response.status).toBe(201);
      return response.body.intent.id;
    }),
  );
  return made;
};
/** Nothing has expired, no time is wrong, and the projection is the fold of the log. */
async function expectTrueTimes(): Promise<void> {
  const { events, intents, problems } = await readWholeLog(cluster);
  expect([problems, await compareProjection(cluster.database, intents)]).toEqual([[], []]);
  expect(events.filter(({ type }) => type === 'intent.expired')).toEqual([]);
  for (const { at } of events) expect(Math.abs(Date.parse(at) - Date.now())).toBeLessThan(300_000);
}

describe('An intent service with a wrong clock', () => {
  it.each([
    ['an hour fast', 3_600],
    ['an hour slow', -3_600],
    ['8 s fast', 8],
    ['8 s slow', -8],
  ])('decides nothing while it is %s, leaves that to another, and recovers', async (_how, seconds) => {
    const clock = wrongClock(0);
    const first = await cluster.start('intent', { env: clock.env });
    await createSome();

    // The clock is set wrong while the process runs, as by a person or a broken time server.
    clock.set(seconds);
    await stands(first, 'wrong');
    expect((await clockOf(first)).checks.clock).toBe('unavailable');
    await until('the offset to be shown', async () => {
      const { kafka, postgres } = (await clockOf(first)).clock.offsets;
      return [kafka, postgres].every((offset) => Math.abs(offset - seconds * 1_000) < 2_000);
    });
    const second = await cluster.start('intent');
    await createSome();
    await expectTrueTimes();

    clock.set(0);
    await stands(first, 'right');
    second.kill('SIGTERM');
    await second.exited;
    await createSome();
    await expectTrueTimes();
  });

  it('owns nothing when it starts with it, while another decides', async () => {
    const clock = wrongClock(3_600);
    const wrong = await cluster.start('intent', { env: clock.env, wait: false });
    await cluster.start('intent');
    await stands(wrong, 'wrong');
    await createSome();
    await expectTrueTimes();
  });

  it('waits for a clock that is right when it starts with it and seals personal data', async () => {
    const clock = wrongClock(3_600);
    const env = { ...clock.env, SEAL_PERSONAL_DATA: 'true' };
    const intent = await cluster.start('intent', { env, wait: false });
    await until('the start to wait for the clock', async () => {
      const response = await fetch(`${intent.health}/readyz`);
      return ((await response.json()) as { readonly waits_for?: readonly string[] }).waits_for?.includes('clock');
    });
    expect((await fetch(`${intent.health}/healthz`)).status).toBe(200);
    clock.set(0);
    await stands(intent, 'right');
    await createSome();
  });
});
