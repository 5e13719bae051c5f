import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { depositIdOf, partitionOf } from '@pf/contracts';
import { createAccount, createKey } from '@pf/database';
import type { AccountId, DepositObservation, PublicDeposit, TransactionHash } from '@pf/domain';
import { deposits, samples } from '@pf/domain/testing';
import type { Publisher } from '@pf/event-log';
import { type ApiClient, apiClient, type ApiResponse, type Cluster, startCluster, until } from '@pf/testing';

const TRACE = { traceparent: null, requestId: null };
type Shown = ApiResponse<{ readonly deposit: PublicDeposit }>;

describe('What an account does about a deposit', () => {
  let cluster: Cluster;
  let publisher: Publisher;
  let api: ApiClient;
  let live: ApiClient;
  let stranger: ApiClient;
  let count = 0;

  beforeAll(async () => {
    cluster = await startCluster();
    const [gateway] = await Promise.all([cluster.start('gateway'), cluster.start('intent')]);
    const client = (key: string): ApiClient => apiClient(`${gateway.url}/v1`, key);
    api = client(cluster.apiKeys.test);
    live = client(cluster.apiKeys.live);
    const { id: accountId } = await createAccount(cluster.database, { name: 'stranger' });
    stranger = client((await createKey(cluster.database, { accountId, livemode: false })).key);
    publisher = await cluster.log.publisher();
  });
  afterAll(async () => {
    await publisher.close();
    await cluster.close();
  });

  const observe = (observation: DepositObservation): Promise<void> =>
    publisher.publish('chain.observations', {
      partition: partitionOf(observation.depositId),
      key: observation.depositId,
      value: cluster.asWatcher({ ...observation, trace: TRACE }),
    });
  const arrived = (number: number) =>
    deposits.arrival({ hash: `0x${number.toString(16).padStart(64, '0')}` as TransactionHash });
  /** A deposit that a watcher has reported, once the API shows it. */
  async function receive(): Promise<{ readonly id: PublicDeposit['id']; readonly lose: () => Promise<void> }> {
    const arrival = arrived(++count);
    const accountId = cluster.accountId as AccountId;
    const id = depositIdOf(accountId, samples.BASE_SEPOLIA, arrival, cluster.log.partitions);
    await observe(deposits.depositLanded({ accountId, arrival }, id));
    const reaches = (level: string) =>
      until(`${id} to be ${level}`, async () => (await shown(id)).body.deposit?.level === level);
    await reaches('confirmed');
    return {
      id,
      lose: async () => {
        await observe(deposits.depositLost(arrival, id));
        await reaches('lost');
      },
    };
  }
  const shown = (id: string): Promise<Shown> => api.request('GET', `/deposits/${id}`);
  const act = (id: string, verb: 'ignore' | 'reopen', by = api): Promise<Shown> =>
    by.request('POST', `/deposits/${id}/${verb}`, {});
  const codeOf = ({ status, body }: Shown) => [status, body.error?.code, body.error?.details];
  const listed = async (state: string): Promise<readonly string[]> => {
    const { body } = await api.request<{ deposits: readonly PublicDeposit[] }>('GET', `/deposits?state=${state}`);
    return body.deposits.map(({ id }) => id);
  };
  const historyOf = async (id: string): Promise<readonly string[]> => {
    const { rows } = await cluster.database.sql.query<{ type: string }>(
      'SELECT type FROM ledger.intent_events WHERE intent_id = $1 ORDER BY version',
      [id],
    );
    return rows.map(({ type }) => type);
  };

  it('ignores it and reopens it, and a repeat answers the same', async () => {
    const { id } = await receive();
    const ignored = await act(id, 'ignore');
    expect([ignored.status, ignored.body.deposit]).toMatchObject([200, { id, state: 'ignored', level: 'confirmed' }]);
    expect((await act(id, 'ignore')).body).toEqual(ignored.body);
    expect([await listed('ignored'), await listed('open')]).toEqual([[id], expect.not.arrayContaining([id])]);

    const reopened = await act(id, 'reopen');
    expect([reopened.status, reopened.body.deposit]).toMatchObject([200, { id, state: 'open' }]);
    expect((await act(id, 'reopen')).body).toEqual(reopened.body);
    expect([await listed('ignored'), await listed('open')]).toEqual([[], expect.arrayContaining([id])]);
    expect(await historyOf(id)).toEqual(['deposit.received', 'deposit.ignored', 'deposit.reopened']);
  });

  it('is done once by requests that come together', async () => {
    const { id } = await receive();
    const responses = await Promise.all(Array.from({ length: 8 }, () => act(id, 'ignore')));
    expect(responses.map(({ status, body }) => [status, body.deposit?.state])).toEqual(
      Array.from({ length: 8 }, () => [200, 'ignored']),
    );
    expect(await historyOf(id)).toEqual(['deposit.received', 'deposit.ignored']);
  });

  it.each(['ignore', 'reopen'] as const)('is refused with 409 once a reorg has undone it: %s', async (verb) => {
    const { id, lose } = await receive();
    const state = verb === 'ignore' ? 'open' : 'ignored';
    if (state === 'ignored') await act(id, 'ignore');
    await lose();
    const history = await historyOf(id);
    const details = { deposit_id: id, state, level: 'lost' };
    expect(codeOf(await act(id, verb))).toEqual([409, 'deposit.invalid_state', details]);
    expect((await act(id, verb === 'ignore' ? 'reopen' : 'ignore')).body.deposit).toMatchObject({ state });
    expect(await historyOf(id)).toEqual(history);
  });

  it.each(['ignore', 'reopen'] as const)(
    'is not of another account, the other mode or no deposit: %s',
    async (verb) => {
      const { id } = await receive();
      const none = `${id.slice(0, -1)}${id.endsWith('1') ? '2' : '1'}`;
      for (const response of [await act(id, verb, stranger), await act(id, verb, live), await act(none, verb)])
        expect(codeOf(response)).toEqual([404, 'deposit.not_found', null]);
      expect(await historyOf(id)).toEqual(['deposit.received']);
    },
  );

  it.each(['ignore', 'reopen'] as const)('returns 503 for what newer code has changed: %s', async (verb) => {
    const { id } = await receive();
    await cluster.database.sql.query(
      `UPDATE ledger.deposits SET document = jsonb_set(document::jsonb, '{heldFrom}', '1')::text WHERE id = $1`,
      [id],
    );
    const response = await act(id, verb);
    expect(codeOf(response)).toMatchObject([503, 'deposit.unavailable', { deposit_id: id }]);
    expect(response.headers.get('retry-after')).toBe('30');
  });
});
