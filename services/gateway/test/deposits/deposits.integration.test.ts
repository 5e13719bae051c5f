import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { depositIdOf, partitionOf } from '@pf/contracts';
import { createAccount, createKey, ProjectionWriter, readCheckpoint } from '@pf/database';
import {
  type AccountId,
  type Address,
  decideDeposit,
  type PublicDeposit,
  type Received,
  type TokenAddress,
  type TransactionHash,
} from '@pf/domain';
import { deposits, samples } from '@pf/domain/testing';
import { type ApiClient, apiClient, type Cluster, type Instance, startCluster } from '@pf/testing';

const ALICE = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' as Address;
const BOB = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC' as Address;
const EURC = '0x808456652fdb597867f38412077A9182bf77359F';
const LIVE = { chain: 'eip155:8453', livemode: true } as Partial<Received>;
const hashOf = (number: number): TransactionHash => `0x${number.toString(16).padStart(64, '0')}` as TransactionHash;

interface Page {
  readonly deposits: readonly PublicDeposit[];
  readonly hasMore: boolean;
  readonly nextCursor: string | null;
}

describe('GET /deposits', () => {
  let cluster: Cluster;
  let gateway: Instance;
  let api: ApiClient;
  let stranger: ApiClient;
  const ids: string[] = [];
  const client = (key: string): ApiClient => apiClient(`${gateway.url}/v1`, key);

  /** Projects a deposit, as the intent service does. Each is a second newer than the one before. */
  async function receive(number: number, change: Partial<Received> = {}): Promise<void> {
    const arrival = deposits.arrival({ hash: hashOf(number), to: ALICE, ...change.arrival });
    const data = deposits.received({ accountId: cluster.accountId as AccountId, ...change, arrival });
    const id = depositIdOf(data.accountId, data.chain, arrival, cluster.log.partitions);
    const now = samples.SCENARIO_START + number * 1_000;
    const decided = decideDeposit({ kind: 'deposit', type: 'deposit_landed', depositId: id, data }, now, undefined);
    if (decided === null) throw new Error('nothing was decided');
    const partition = partitionOf(id);
    const { position } = await readCheckpoint(cluster.database, partition);
    await new ProjectionWriter(cluster.database.sql).project({
      partition,
      from: position,
      next: position + 1n,
      lastAt: now,
      intents: [],
      deposits: [{ deposit: decided.deposit, before: 0 }],
      events: [],
      outcomes: [],
    });
    ids.push(id);
  }

  beforeAll(async () => {
    cluster = await startCluster();
    gateway = await cluster.start('gateway');
    api = client(cluster.apiKeys.test);
    const { id: other } = await createAccount(cluster.database, { name: 'stranger' });
    stranger = client((await createKey(cluster.database, { accountId: other, livemode: false })).key);
    await receive(0);
    await receive(1, { arrival: deposits.arrival({ hash: hashOf(1), to: BOB, from: null }) });
    await receive(2, { arrival: deposits.arrival({ hash: hashOf(2), to: ALICE, tokenAddress: EURC as TokenAddress }) });
    await receive(3, LIVE);
    await receive(4, { accountId: other });
  });
  afterAll(() => cluster.close());

  const page = async (query = '', by = api): Promise<Page> => {
    const { status, body } = await by.request<Page>('GET', `/deposits?${query}`);
    expect([status, body.error]).toEqual([200, undefined]);
    return body;
  };
  const listed = async (query?: string, by?: ApiClient): Promise<readonly string[]> =>
    (await page(query, by)).deposits.map(({ id }) => id);
  const named = (...numbers: readonly number[]): readonly (string | undefined)[] => numbers.map((one) => ids[one]);

  it('lists those of the account in the mode of the key, newest first', async () => {
    expect(await listed()).toEqual(named(2, 1, 0));
    expect(await listed('', client(cluster.apiKeys.live))).toEqual(named(3));
    expect(await listed('', stranger)).toEqual(named(4));
  });

  it('pages without gaps or repeats', async () => {
    const first = await page('limit=2');
    expect(first).toMatchObject({ hasMore: true, nextCursor: expect.any(String) as unknown });
    expect(await page(`limit=2&cursor=${first.nextCursor}`)).toMatchObject({
      deposits: [{ id: ids[0] }],
      hasMore: false,
      nextCursor: null,
    });
  });

  it.each([
    ['state=open', [2, 1, 0]],
    ['state=assigned&state=ignored', []],
    ['state=open&state=assigned&token=USDC', [1, 0]],
    [`recipient=${BOB.toLowerCase()}`, [1]],
    [`token=${EURC}`, [2]],
    ['chain=eip155:8453', [2, 1, 0]],
    ['chain=eip155:42431', []],
    [`txSignature=${hashOf(0)}`, [0]],
    [`createdAfter=${new Date(samples.SCENARIO_START).toISOString()}`, [2, 1]],
    [`createdBefore=${new Date(samples.SCENARIO_START + 1_000).toISOString()}`, [0]],
    [`recipient=${ALICE}&token=USDC`, [0]],
  ])('filters by %s', async (query, expected) => {
    expect(await listed(query)).toEqual(named(...expected));
  });

  it.each(['state=paid', 'recipient=x', 'txSignature=0x1', 'createdAfter=yesterday', 'limit=0', 'cursor=x'])(
    'returns 400 for %s, and names the parameter',
    async (query) => {
      const { status, body } = await api.request('GET', `/deposits?${query}`);
      expect([status, body.error?.code]).toEqual([400, 'request.validation_failed']);
      expect(body.error?.param).toBe(query.split('=')[0]);
    },
  );

  it('shows one by its id, to its account and in its mode only', async () => {
    const shown = async (number: number, by: ApiClient) => {
      const { status, body } = await by.request<{ deposit?: PublicDeposit }>('GET', `/deposits/${ids[number]}`);
      return body.deposit ?? [status, body.error?.code];
    };
    expect(await shown(1, api)).toMatchObject({ id: ids[1], sender: null, recipient: BOB, amount: '12.5' });
    expect(await shown(1, stranger)).toEqual([404, 'deposit.not_found']);
    expect(await shown(3, api)).toEqual([404, 'deposit.not_found']);
    expect((await api.request('GET', '/deposits/dp_none')).status).toBe(404);
  });
});
