import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Pass, signPass } from '@pf/http';
import { apiClient, type Cluster, type Instance, startCluster, until } from '@pf/testing';

const USER = 'usr_test';

describe('a pass of the dashboard', () => {
  let cluster: Cluster;
  let gateway: Instance;
  /** The codes of a list and of a simulation with a pass. */
  const codes = async (text: string): Promise<readonly (string | undefined)[]> => {
    const client = apiClient(`${gateway.url}/v1`, text);
    const [list, simulation] = [await client.list(), await client.simulate('pi_none', 'confirmed')];
    return [list.body.error?.code, simulation.body.error?.code];
  };
  const sign = (change: Partial<Pass> = {}, secret: Uint8Array = cluster.passSecret, at = Date.now()) =>
    signPass(
      { accountId: cluster.accountId, livemode: false, plan: 'free', userId: USER, secrets: false, ...change },
      secret,
      at,
    );

  beforeAll(async () => {
    cluster = await startCluster();
    gateway = await cluster.start('gateway');
    await cluster.start('intent');
  });
  afterAll(() => cluster.close());

  it('is accepted as a key of its account and mode is, and sees nothing else', async () => {
    const [own, live, foreign] = await Promise.all([
      sign(),
      sign({ livemode: true }),
      sign({ accountId: 'acct_foreign' }),
    ]);
    const client = apiClient(`${gateway.url}/v1`, own);
    const created = await client.create({
      chain: 'eip155:84532',
      token: 'USDC',
      amount: '1.00',
      requestor: '0x1111111111111111111111111111111111111111',
    });
    expect([created.status, created.body.intent.livemode]).toEqual([201, false]);
    const { id } = created.body.intent;
    expect((await client.get(id)).status).toBe(200);
    for (const other of [live, foreign])
      expect((await apiClient(`${gateway.url}/v1`, other).get(id)).body.error?.code).toBe('intent.not_found');
    expect(await codes(own)).toEqual([undefined, 'intent.not_found']);
    expect(await codes(live)).toEqual([undefined, 'api_key.test_mode_required']);
  });

  it('is refused when it has expired, is not yet valid, or was signed with another secret', async () => {
    const refused = ['api_key.invalid', 'api_key.invalid'];
    expect(await codes(await sign({}, undefined, Date.now() - 120_000))).toEqual(refused);
    expect(await codes(await sign({}, undefined, Date.now() + 120_000))).toEqual(refused);
    expect(await codes(await sign({}, Buffer.from('a secret that only an attacker knows')))).toEqual(refused);
    expect(await codes(`${(await sign()).slice(0, -4)}AAAA`)).toEqual(refused);
  });

  it('has the quota of the person in the account, and its requests are logged with both', async () => {
    const headers = { authorization: `Bearer ${await sign({ userId: 'usr_counted', plan: 'growth' })}` };
    const response = await fetch(`${gateway.url}/v1/intents`, { headers });
    expect(response.headers.get('ratelimit-policy')).toBe('"person";q=1200000;w=60');
    const line = await until('the line of the request', async () =>
      (await readFile(gateway.log, 'utf8')).split('\n').find((text) => text.includes('usr_counted')),
    );
    expect(JSON.parse(line)).toMatchObject({ accountId: cluster.accountId, userId: 'usr_counted', status: 200 });
  });
});
