import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { depositIdOf, newIntentId, partitionOf } from '@pf/contracts';
import { createAccount, createKey } from '@pf/database';
import type { AccountId, Arrival, DepositObservation, PublicDeposit, PublicIntent, TransactionHash } from '@pf/domain';
import { deposits, samples } from '@pf/domain/testing';
import type { Publisher } from '@pf/event-log';
import {
  type ApiClient,
  apiClient,
  type ApiResponse,
  type Cluster,
  LISTED,
  readSettledLog,
  startCluster,
  until,
} from '@pf/testing';

const [ON_THE_LIST] = LISTED;
const TRACE = { traceparent: null, requestId: null };
const SETTLED_WITHIN_MS = 20_000;
/** Checksummed, as the API takes them. */
const WALLET = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' as Arrival['to'];
const PAYER = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC' as Arrival['to'];
type Shown = ApiResponse<{ readonly deposit: PublicDeposit }>;

describe('A deposit that is assigned to an intent', () => {
  let cluster: Cluster;
  let publisher: Publisher;
  let api: ApiClient;
  let stranger: ApiClient;
  let strangerId: AccountId;
  let count = 0;

  beforeAll(async () => {
    cluster = await startCluster();
    const [gateway] = await Promise.all([cluster.start('gateway'), cluster.start('intent')]);
    const client = (key: string): ApiClient => apiClient(`${gateway.url}/v1`, key);
    api = client(cluster.apiKeys.test);
    const { id: accountId } = await createAccount(cluster.database, { name: 'stranger' });
    strangerId = accountId;
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
  const shown = (id: string, by = api): Promise<Shown> => by.request('GET', `/deposits/${id}`);
  /** A deposit of 12.50 USDC, and what a watcher may see of it. */
  async function receive(
    change: Partial<Arrival> = {},
    accountId = cluster.accountId as AccountId,
    by = api,
  ): Promise<{ readonly id: PublicDeposit['id']; readonly sees: (level: PublicDeposit['level']) => Promise<void> }> {
    const hash = `0x${(++count).toString(16).padStart(64, '0')}` as TransactionHash;
    const arrival = deposits.arrival({ hash, from: PAYER, to: WALLET, ...change });
    const id = depositIdOf(accountId, samples.BASE_SEPOLIA, arrival, cluster.log.partitions);
    const sees = async (level: PublicDeposit['level']): Promise<void> => {
      if (level === 'withdrawn') throw new Error('no watcher of this test withdraws one');
      await observe(
        level === 'lost'
          ? deposits.depositLost(arrival, id)
          : deposits.depositLanded({ accountId, arrival, level }, id),
      );
      await until(`${id} to be ${level}`, async () => (await shown(id, by)).body.deposit?.level === level);
    };
    await sees('confirmed');
    return { id, sees };
  }
  async function make(change: object = {}, by = api): Promise<string> {
    const body = { chain: samples.BASE_SEPOLIA, token: 'USDC', amount: '12.50', requestor: WALLET, ...change };
    const response = await by.request<{ intent: PublicIntent }>('POST', '/intents', body);
    expect([response.status, response.body.error]).toEqual([201, undefined]);
    return response.body.intent.id;
  }
  const reaches = (id: string, state: string): Promise<PublicIntent> =>
    until(`${id} to be ${state}`, async () => {
      const { body } = await api.request<{ intent: PublicIntent }>('GET', `/intents/${id}`);
      return body.intent.state === state ? body.intent : null;
    });
  const assign = (id: string, intentId: string, by = api): Promise<Shown> =>
    by.request('POST', `/deposits/${id}/assign`, { intentId });
  const unassign = (id: string, by = api): Promise<Shown> => by.request('POST', `/deposits/${id}/unassign`, {});
  const codeOf = ({ status, body }: Shown): unknown[] => [status, body.error?.code, body.error?.details];
  const historyOf = async (id: string): Promise<readonly string[]> => {
    const { rows } = await cluster.database.sql.query<{ type: string }>(
      'SELECT type FROM ledger.intent_events WHERE intent_id = $1 ORDER BY version',
      [id],
    );
    return rows.map(({ type }) => type);
  };

  it('pays it once, and makes it final', async () => {
    const [{ id, sees }, intentId] = [await receive(), await make()];
    const assigned = await assign(id, intentId);
    expect([assigned.status, assigned.body.deposit]).toMatchObject([200, { id, state: 'assigned', intentId }]);
    expect((await assign(id, intentId)).body).toEqual(assigned.body);
    const paid = await reaches(intentId, 'confirmed');
    expect(paid).toMatchObject({ fulfiller: PAYER, txSignature: assigned.body.deposit.txSignature });

    await sees('finalized');
    await reaches(intentId, 'finalized');
    expect(await historyOf(intentId)).toEqual([
      'intent.created',
      'intent.pending',
      'intent.confirmed',
      'intent.finalized',
    ]);
    expect(await historyOf(id)).toEqual(['deposit.received', 'deposit.assigned', 'deposit.finalized']);
  });

  it('pays it no longer once that is undone, and can pay another', async () => {
    const [{ id }, first, second] = [await receive(), await make(), await make()];
    await assign(id, first);
    await reaches(first, 'confirmed');
    expect(codeOf(await assign(id, second))).toMatchObject([409, 'deposit.invalid_state', { state: 'assigned' }]);
    const open = await unassign(id);
    expect([open.status, open.body.deposit]).toMatchObject([200, { state: 'open', intentId: null }]);
    expect((await unassign(id)).body).toEqual(open.body);
    await reaches(first, 'failed');
    await assign(id, second);
    await reaches(second, 'confirmed');
  });

  it('pays it again where it lands again after a reorg', async () => {
    const [{ id, sees }, intentId] = [await receive(), await make()];
    await assign(id, intentId);
    await reaches(intentId, 'confirmed');
    await sees('lost');
    await sees('confirmed');
    expect((await shown(id)).body.deposit).toMatchObject({ state: 'assigned', intentId });
    await sees('finalized');
    await reaches(intentId, 'finalized');
  });

  it.each([
    ['amount', { amount: '12.51' }],
    ['recipient', { requestor: PAYER }],
    ['token', { token: 'EURC' }],
  ] as const)('is refused where the intent asks for another %s', async (term, change) => {
    const [{ id }, intentId] = [await receive({ from: samples.BOB }), await make(change)];
    expect(codeOf(await assign(id, intentId))).toMatchObject([422, 'deposit.mismatch', { differs: [term] }]);
    expect(await historyOf(id)).toEqual(['deposit.received']);
  });

  it('is refused where it is ignored or lost', async () => {
    const [ignored, lost, intentId] = [await receive(), await receive(), await make()];
    await api.request('POST', `/deposits/${ignored.id}/ignore`, {});
    expect(codeOf(await assign(ignored.id, intentId))).toMatchObject([409, 'deposit.invalid_state', {}]);
    expect(codeOf(await unassign(ignored.id))).toMatchObject([409, 'deposit.invalid_state', { state: 'ignored' }]);
    await lost.sees('lost');
    expect(codeOf(await assign(lost.id, intentId))).toMatchObject([409, 'deposit.invalid_state', { level: 'lost' }]);
  });

  it('is refunded to an address that the payer names', async () => {
    const [{ id }, intentId] = [await receive(), await make()];
    await assign(id, intentId);
    await reaches(intentId, 'confirmed');
    const refund = (body: object) => api.request<{ intent: PublicIntent }>('POST', `/intents/${intentId}/refund`, body);
    const refused = await refund({});
    expect([refused.status, refused.body.error?.code]).toEqual([409, 'intent.invalid_state']);
    expect(refused.body.error?.message).toMatch(/pass it as `to`/);
    for (const to of ['nobody', WALLET]) {
      const { status, body } = await refund({ to });
      expect([status, body.error?.code, body.error?.param]).toEqual([400, 'request.validation_failed', 'to']);
    }
    const to = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
    expect((await refund({ to: to.toLowerCase() })).body.intent).toMatchObject({
      requestor: to,
      fulfiller: WALLET,
      refundOf: intentId,
    });
  });

  it('is refused where its sender is on a sanctions list', async () => {
    const [{ id }, intentId] = [await receive({ from: ON_THE_LIST.address as Arrival['to'] }), await make()];
    const { status, body } = await assign(id, intentId);
    expect([status, body.error?.code, body.error?.param]).toEqual([422, 'address.sanctions_match', 'fulfiller']);
    expect(await historyOf(id)).toEqual(['deposit.received']);
  });

  it('never meets what is of another account, and knows no intent that is none', async () => {
    const [{ id }, own, foreign] = [await receive(), await make(), await make({}, stranger)];
    for (const intentId of [foreign, newIntentId(0), 'pi_none'])
      expect(codeOf(await assign(id, intentId))).toEqual([404, 'intent.not_found', null]);
    expect(codeOf(await assign(id, own, stranger))).toEqual([404, 'deposit.not_found', null]);
    expect(codeOf(await unassign(id, stranger))).toEqual([404, 'deposit.not_found', null]);
    expect(await historyOf(id)).toEqual(['deposit.received']);
  });

  it('is one of each account that names the wallet, and each assigns its own', async () => {
    const hash = `0x${'f'.repeat(64)}` as TransactionHash;
    const [own, theirs] = [await receive({ hash }), await receive({ hash }, strangerId, stranger)];
    const [intentId, foreign] = [await make(), await make({}, stranger)];
    await assign(own.id, intentId);
    expect((await shown(theirs.id, stranger)).body.deposit).toMatchObject({ state: 'open', intentId: null });
    expect((await assign(theirs.id, foreign, stranger)).status).toBe(200);
    await unassign(own.id);
    await reaches(intentId, 'failed');
    expect((await shown(theirs.id, stranger)).body.deposit).toMatchObject({ state: 'assigned', intentId: foreign });
  });

  it('leaves a projection that is the fold of the log', async () => {
    expect((await readSettledLog(cluster, SETTLED_WITHIN_MS)).problems).toEqual([]);
  });
});
