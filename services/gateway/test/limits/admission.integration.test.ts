import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { errorResponse, newApiKey } from '@pf/contracts';
import { type Cluster, type Instance, openStream, type OpenStream, startCluster, until } from '@pf/testing';
import { createKey, openAccount } from '@pf/database';

const CREATE = {
  chain: 'eip155:84532',
  token: 'USDC',
  amount: '12.50',
  requestor: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
};
const offer = { chain: CREATE.chain, token: CREATE.token, requestor: CREATE.requestor };

describe('a gateway', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster();
  });
  afterAll(() => cluster.close());

  const from = (address: string, key: string | null): Record<string, string> => ({
    'x-forwarded-for': address,
    ...(key !== null && { authorization: `Bearer ${key}` }),
  });

  describe('before it knows who asks', () => {
    let gateway: Instance;
    beforeAll(async () => {
      // 12 requests a minute without a valid key.
      gateway = await cluster.start('gateway', { env: { RATE_LIMIT_FACTOR: '0.02', TRUSTED_PROXIES: '1' } });
    });
    const ask = async (address: string, key: string | null, path = '/v1/webhooks', method = 'GET') => {
      const response = await fetch(`${gateway.url}${path}`, { method, headers: from(address, key) });
      // A body that is not read keeps its connection.
      return { status: response.status, headers: response.headers, body: await response.text() };
    };

    it('refuses an address that guesses keys, and no other', async () => {
      expect((await ask('198.51.100.1', cluster.apiKeys.test)).status).toBe(200);
      const answers: Awaited<ReturnType<typeof ask>>[] = [];
      for (let n = 0; n < 20; n++) answers.push(await ask('198.51.100.1', newApiKey(false)));
      const statuses = answers.map(({ status }) => status);
      expect(statuses.slice(0, 12)).toEqual(Array<number>(12).fill(401));
      // One more is allowed every 5 s.
      const refused = answers.filter(({ status }) => status === 429);
      expect(refused.length).toBeGreaterThanOrEqual(4);
      const [{ headers, body } = { headers: new Headers(), body: '' }] = refused;
      const { error } = errorResponse.parse(JSON.parse(body));
      expect(error).toMatchObject({ code: 'rate_limit.exceeded', message: expect.stringContaining('without a valid') });
      expect(headers.get('retry-after')).toBe(String(error.details?.['retry_after']));
      // A key that this gateway knows works from there all the same, and everything from elsewhere.
      expect((await ask('198.51.100.1', cluster.apiKeys.test)).status).toBe(200);
      expect((await ask('198.51.100.2', newApiKey(false))).status).toBe(401);
    });

    it('counts what needs no key, too: unknown paths, preflights, methods, the reference', async () => {
      const asked: readonly (readonly [address: string, path: string, method: string])[] = [
        ['198.51.100.11', '/nowhere', 'GET'],
        ['198.51.100.12', '/v1/intents/pi_x', 'OPTIONS'],
        ['198.51.100.13', '/v1/webhooks', 'PUT'],
        ['198.51.100.14', '/v1/openapi.json', 'GET'],
        ['198.51.100.15', '/v1/webhooks', 'GET'],
      ];
      for (const [address, path, method] of asked) {
        const statuses: number[] = [];
        for (let n = 0; n < 16; n++) statuses.push((await ask(address, null, path, method)).status);
        expect([path, method, statuses[0] === 429, statuses.includes(429)]).toEqual([path, method, false, true]);
      }
    });

    it('does not count valid keys', async () => {
      const { key } = await createKey(cluster.database, { accountId: cluster.accountId, livemode: false });
      for (let n = 0; n < 30; n++) expect((await ask('198.51.100.21', key)).status).toBe(200);
      expect((await ask('198.51.100.21', null)).status).toBe(401);
    });

    it('begins few replays for an account, also where it enables an endpoint again and again', async () => {
      const send = async (path: string, body: object): Promise<{ readonly status: number; readonly text: string }> => {
        const headers = { ...from('198.51.100.22', cluster.apiKeys.test), 'content-type': 'application/json' };
        const response = await fetch(`${gateway.url}/v1${path}`, {
          method: 'POST',
          headers,
          body: JSON.stringify(body),
        });
        return { status: response.status, text: await response.text() };
      };
      const { text } = await send('/webhook-endpoints', { url: 'https://shop.example/hooks' });
      const { endpoint } = JSON.parse(text) as { readonly endpoint: { readonly id: string } };
      const enable = `/webhook-endpoints/${endpoint.id}/enable`;
      // One in ten minutes, with this factor.
      expect((await send(enable, { replay: true })).status).toBe(200);
      for (const refused of [
        await send(enable, { replay: true }),
        await send('/webhook-replays', { since: new Date(Date.now() - 60_000).toISOString() }),
      ]) {
        expect([refused.status, refused.text]).toEqual([429, expect.stringContaining('Too many replays were begun')]);
      }
      expect((await send(enable, {})).status).toBe(200);
    });

    it('has no probes and no metrics on its public port', async () => {
      for (const path of ['/healthz', '/readyz', '/metrics']) {
        const response = await ask('198.51.100.31', null, path);
        expect([response.status, errorResponse.parse(JSON.parse(response.body)).error.code]).toEqual([
          404,
          'route.not_found',
        ]);
      }
      expect((await fetch(`${gateway.health}/healthz`)).status).toBe(200);
      expect(await (await fetch(`${gateway.health}/readyz`)).json()).toMatchObject({ status: 'ok' });
    });
  });

  it('caps the event streams of an address, and of an account whatever its keys', async () => {
    // One of an address, three of an account in test mode; 12 requests a minute with a payer's key.
    const env = { RATE_LIMIT_FACTOR: '0.002', TRUSTED_PROXIES: '1' };
    const [one, other] = [await cluster.start('gateway', { env }), await cluster.start('gateway')];
    await cluster.start('intent');
    const created = await fetch(`${other.url}/v1/intents`, {
      method: 'POST',
      headers: { authorization: `Bearer ${cluster.apiKeys.test}`, 'content-type': 'application/json' },
      body: JSON.stringify(CREATE),
    });
    const { intent } = (await created.json()) as { intent: { id: string } };
    const { key } = await createKey(cluster.database, { accountId: cluster.accountId, livemode: false });
    const open: OpenStream[] = [];
    const follow = async (address: string, of = key): Promise<number> => {
      const stream = await openStream(`${one.url}/v1/intents/${intent.id}/events`, from(address, of));
      if (stream.status === 200) open.push(stream);
      return stream.status;
    };
    expect(await follow('198.51.100.1')).toBe(200);
    expect(await follow('198.51.100.1')).toBe(429);
    for (const address of ['198.51.100.2', '198.51.100.3']) expect(await follow(address)).toBe(200);
    expect(await follow('198.51.100.4')).toBe(429);
    const { key: another } = await createKey(cluster.database, { accountId: cluster.accountId, livemode: false });
    expect(await follow('198.51.100.5', another)).toBe(429);
    // One that is closed makes room.
    open[0]?.close();
    await until('room for another', async () => (await follow('198.51.100.1')) === 200);
    for (const stream of open) stream.close();
  });

  /** Of the account's test mode: one key alone does not take all that the account has. */
  const twoKeys = async (): Promise<readonly [string, string]> => {
    const { key } = await createKey(cluster.database, { accountId: cluster.accountId, livemode: false });
    return [cluster.apiKeys.test, key];
  };

  it('serves live requests while those of test mode wait for the database', async () => {
    const gateway = await cluster.start('gateway');
    const keys = await twoKeys();
    const blocker = await cluster.database.sql.connect();
    const list = async (path: string, key: string): Promise<number> => {
      const response = await fetch(`${gateway.url}/v1${path}`, { headers: { authorization: `Bearer ${key}` } });
      await response.text();
      return response.status;
    };
    try {
      // On a busy machine some of test mode may have given up by then: the proof is one time at which none has.
      let isProven = false;
      for (let tries = 0; !isProven && tries < 10; tries++) {
        await blocker.query('BEGIN; LOCK TABLE service.webhook_replays IN ACCESS EXCLUSIVE MODE');
        let ended = 0;
        const waiting = Array.from({ length: 15 }, () => keys).flatMap((both) =>
          both.map((key) => list('/webhook-replays', key).finally(() => (ended += 1))),
        );
        await until('all connections of test mode to wait', async () => {
          const { rows } = await cluster.database.sql.query<{ waiting: number }>(
            `SELECT count(*)::int AS waiting FROM pg_stat_activity
              WHERE datname = current_database() AND wait_event_type = 'Lock'`,
          );
          return rows[0]?.waiting === 2;
        });
        for (let n = 0; n < 5; n++) expect(await list('/webhooks', cluster.apiKeys.live)).toBe(200);
        const before = ended;
        await blocker.query('ROLLBACK');
        for (const status of await Promise.all(waiting)) expect([200, 503]).toContain(status);
        isProven = before === 0;
      }
      expect(isProven).toBe(true);
    } finally {
      await blocker.query('ROLLBACK');
      blocker.release();
    }
  });

  it.each([
    ['creates', 'POST', '/payment-links', { amount: CREATE.amount, offers: [offer] }, 'payment_links'],
    ['sets', 'PUT', `/sponsors/${CREATE.chain}`, { url: 'https://sponsor.example' }, 'sponsors'],
    ['lists', 'GET', '/webhook-replays', undefined, 'webhook_replays'],
  ])(
    'serves other accounts while what one of them %s waits for the database',
    async (_what, method, path, body, table) => {
      const gateway = await cluster.start('gateway');
      const { id: accountId } = await openAccount(cluster.database, randomBytes(32), { name: 'another' });
      const { key: another } = await createKey(cluster.database, { accountId, livemode: false });
      const ask = async (key: string, how: string, what: string, json?: object): Promise<number> => {
        const response = await fetch(`${gateway.url}/v1${what}`, {
          method: how,
          headers: { authorization: `Bearer ${key}`, ...(json && { 'content-type': 'application/json' }) },
          ...(json && { body: JSON.stringify(json) }),
        });
        await response.text();
        return response.status;
      };
      expect(await ask(another, 'GET', '/webhooks')).toBe(200);
      const keys = await twoKeys();
      const blocker = await cluster.database.sql.connect();
      try {
        await blocker.query(`BEGIN; LOCK TABLE service.${table} IN ACCESS EXCLUSIVE MODE`);
        const waiting = Array.from({ length: 15 }, () => keys).flatMap((both) =>
          both.map((key) => ask(key, method, path, body)),
        );
        await until('its connections to wait', async () => {
          const { rows } = await cluster.database.sql.query<{ waiting: number }>(
            `SELECT count(*)::int AS waiting FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'`,
          );
          return (rows[0]?.waiting ?? 0) >= 2;
        });
        for (let n = 0; n < 5; n++) expect(await ask(another, 'GET', '/webhooks')).toBe(200);
        // Two of them have a connection, and the others do not wait for it without end.
        expect(await Promise.race(waiting)).toBe(429);
        await blocker.query('ROLLBACK');
        // On a busy machine Postgres may have ended the wait of the two.
        for (const status of await Promise.all(waiting)) expect([200, 201, 429, 503]).toContain(status);
      } finally {
        await blocker.query('ROLLBACK');
        blocker.release();
      }
    },
  );
});
