import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { depositIdOf, partitionOf } from '@pf/contracts';
import {
  type AccountId,
  type Arrival,
  BLOCKS_BEHIND_MS,
  type PublicDeposit,
  type PublicIntent,
  type Received,
  type TransactionHash,
} from '@pf/domain';
import { deposits, samples } from '@pf/domain/testing';
import type { Publisher } from '@pf/event-log';
import { type ApiClient, apiClient, type ApiResponse, type Cluster, LISTED, startCluster, until } from '@pf/testing';

const [ON_THE_LIST] = LISTED;
const TRACE = { traceparent: null, requestId: null };
/** Checksummed, as the API takes them. */
const PAYER = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC' as Arrival['to'];

type Created = ApiResponse<{ readonly intent: PublicIntent; readonly replayed?: true; readonly differs?: object }>;

describe('An intent that is paid by its amount', () => {
  let cluster: Cluster;
  let publisher: Publisher;
  let api: ApiClient;
  let off: ApiClient;
  let count = 0;

  beforeAll(async () => {
    cluster = await startCluster();
    const [gateway, without] = await Promise.all([
      cluster.start('gateway', { env: { PAY_BY_AMOUNT: 'true' } }),
      cluster.start('gateway'),
      cluster.start('intent'),
      cluster.start('webhook'),
    ]);
    const client = (url: string): ApiClient => apiClient(`${url}/v1`, cluster.apiKeys.test);
    [api, off] = [client(gateway.url), client(without.url)];
    publisher = await cluster.log.publisher();
  });
  afterAll(async () => {
    await publisher.close();
    await cluster.close();
  });

  /** A wallet that no other test has. */
  const wallet = (): Arrival['to'] => `0x${(++count + 0xa000).toString(16).padStart(40, '0')}` as Arrival['to'];
  const create = (requestor: string, change: object = {}, by = api): Promise<Created> =>
    by.request('POST', '/intents', {
      chain: samples.BASE_SEPOLIA,
      token: 'USDC',
      amount: '12.50',
      requestor,
      attribution: 'amount',
      ...change,
    });
  const make = async (requestor: string, change: object = {}): Promise<PublicIntent> => {
    const { status, body } = await create(requestor, change);
    expect([status, body.error]).toEqual([201, undefined]);
    return body.intent;
  };
  /** What a watcher sees of a transfer to the wallet of the intent. */
  async function arrive(
    intent: Pick<PublicIntent, 'requestor' | 'amountBaseUnits'>,
    change: Partial<Arrival> = {},
    more: Partial<Received> = {},
  ): Promise<{ readonly id: PublicDeposit['id']; readonly sees: (level: PublicDeposit['level']) => Promise<void> }> {
    const hash = `0x${(++count).toString(16).padStart(64, '0')}` as TransactionHash;
    const to = intent.requestor as Arrival['to'];
    const amount = BigInt(intent.amountBaseUnits);
    const arrival = deposits.arrival({ hash, from: PAYER, to, amount, at: Date.now(), ...change });
    const accountId = cluster.accountId as AccountId;
    const id = depositIdOf(accountId, samples.BASE_SEPOLIA, arrival, cluster.log.partitions);
    const sees = async (level: PublicDeposit['level']): Promise<void> => {
      if (level === 'withdrawn') throw new Error('no watcher of this test withdraws one');
      const observation =
        level === 'lost'
          ? deposits.depositLost(arrival, id)
          : deposits.depositLanded({ accountId, arrival, level, ...more }, id);
      await publisher.publish('chain.observations', {
        partition: partitionOf(id),
        key: id,
        value: cluster.asWatcher({ ...observation, trace: TRACE }),
      });
      await until(`${id} to be ${level}`, async () => (await shown(id))?.level === level);
    };
    await sees('confirmed');
    return { id, sees };
  }
  const shown = async (id: string): Promise<PublicDeposit | undefined> =>
    (await api.request<{ deposit?: PublicDeposit }>('GET', `/deposits/${id}`)).body.deposit;
  const reaches = ({ id }: PublicIntent, state: string): Promise<PublicIntent> =>
    until(`${id} to be ${state}`, async () => {
      const { body } = await api.get(id);
      return body.intent.state === state ? body.intent : null;
    });
  const isAssigned = (id: string, { id: intentId }: PublicIntent): Promise<unknown> =>
    until(`${id} to be assigned`, async () => {
      const deposit = await shown(id);
      return deposit?.state === 'assigned' && deposit.intentId === intentId;
    });
  /** What comes later has paid its intent, so what came before it was looked at. */
  async function areLookedAt(): Promise<void> {
    const later = await make(wallet());
    await arrive(later);
    await reaches(later, 'confirmed');
  }
  const historyOf = async (id: string): Promise<readonly string[]> => {
    const { rows } = await cluster.database.sql.query<{ type: string }>(
      'SELECT type FROM ledger.intent_events WHERE intent_id = $1 ORDER BY version',
      [id],
    );
    return rows.map(({ type }) => type);
  };

  it('has an amount of its own, and is confirmed and final with a plain transfer of that', async () => {
    const recipient = wallet();
    const [first, second] = [await make(recipient), await make(recipient)];
    expect([first, second]).toMatchObject([
      { amount: '12.500001', amountBaseUnits: '12500001', attribution: 'amount' },
      { amount: '12.500002', attribution: 'amount' },
    ]);
    const { id, sees } = await arrive(second);
    expect(await reaches(second, 'confirmed')).toMatchObject({ fulfiller: PAYER });
    await isAssigned(id, second);
    await sees('finalized');
    await reaches(second, 'finalized');
    expect(await historyOf(id)).toEqual(['deposit.received', 'deposit.assigned', 'deposit.finalized']);
    expect((await reaches(first, 'created')).txSignature).toBeNull();
  });

  it('keeps its amount in a repeat of the create, which says what it asks for otherwise', async () => {
    const [recipient, idempotencyKey] = [wallet(), `order-${++count}`];
    const { id } = await make(recipient, { idempotencyKey });
    const same = await create(recipient, { idempotencyKey });
    expect([same.status, same.body]).toMatchObject([200, { intent: { id, amount: '12.500001' }, replayed: true }]);
    expect(same.body.differs).toBeUndefined();
    const other = await create(recipient, { idempotencyKey, amount: '12.51', attribution: 'reference' });
    expect(other.body.differs).toMatchObject({
      amount: { existing: '12.500001', requested: '12.51' },
      attribution: { existing: 'amount', requested: 'reference' },
    });
    // Neither has taken an amount.
    expect((await make(recipient)).amount).toBe('12.500002');
  });

  it('gives concurrent creates with one key one amount, and takes no second', async () => {
    const [recipient, idempotencyKey] = [wallet(), `order-${++count}`];
    const made = await Promise.all(Array.from({ length: 4 }, () => create(recipient, { idempotencyKey })));
    expect(new Set(made.map(({ body }) => body.intent.id)).size).toBe(1);
    const { rows } = await cluster.database.sql.query(
      'SELECT intent_id FROM service.reserved_amounts WHERE recipient ILIKE $1',
      [recipient],
    );
    expect(rows).toEqual([{ intent_id: made[0]?.body.intent.id }]);
  });

  it('is paid by one of two transfers of its amount: the other stays a deposit', async () => {
    const intent = await make(wallet());
    const { id } = await arrive(intent);
    await isAssigned(id, intent);
    const { id: second } = await arrive(intent);
    await areLookedAt();
    expect(await shown(second)).toMatchObject({ state: 'open', intentId: null });
    expect(await historyOf(intent.id)).toEqual(['intent.created', 'intent.pending', 'intent.confirmed']);
  });

  it('is not paid by dust, by another amount, or by what came before it', async () => {
    const intent = await make(wallet());
    const units = BigInt(intent.amountBaseUnits);
    const early = Date.parse(intent.createdAt) - BLOCKS_BEHIND_MS - 2_000;
    const left = [
      await arrive(intent, { amount: 1n }),
      await arrive(intent, { amount: units - 1n }),
      await arrive(intent, { amount: units + 1n }),
      await arrive(intent, { at: early }),
      await arrive(intent, { at: null }),
    ];
    await areLookedAt();
    for (const { id } of left) expect(await shown(id)).toMatchObject({ state: 'open', intentId: null });
    const { id } = await arrive(intent);
    await isAssigned(id, intent);
  });

  it('is not paid by a transfer that carries a reference', async () => {
    const intent = await make(wallet());
    for (const reason of ['unknown_reference', 'two_references', 'unproven'] as const) {
      const { id } = await arrive(intent, {}, { reason });
      await areLookedAt();
      expect(await shown(id)).toMatchObject({ state: 'open' });
    }
    await reaches(intent, 'created');
  });

  it('is not paid by a listed sender or by the wallet itself, and is by the next', async () => {
    const [intent, other] = [await make(wallet()), await make(wallet())];
    const listed = await arrive(intent, { from: ON_THE_LIST.address as Arrival['to'] });
    const itself = await arrive(other, { from: other.requestor as Arrival['to'] });
    await areLookedAt();
    for (const { id } of [listed, itself]) expect(await shown(id)).toMatchObject({ state: 'open' });
    const [clean, minted] = [await arrive(intent), await arrive(other, { from: null })];
    await isAssigned(clean.id, intent);
    await isAssigned(minted.id, other);
  });

  it('is paid late where it was cancelled, and not by itself once a person has undone that', async () => {
    const intent = await make(wallet());
    await api.request('POST', `/intents/${intent.id}/cancel`, {});
    const { id, sees } = await arrive(intent);
    await isAssigned(id, intent);
    await reaches(intent, 'confirmed');
    expect(await historyOf(intent.id)).toContain('intent.late_payment');
    await api.request('POST', `/deposits/${id}/unassign`, {});
    await sees('lost');
    await sees('confirmed');
    await areLookedAt();
    expect(await shown(id)).toMatchObject({ state: 'open', intentId: null });
  });

  it.each(['before', 'after'] as const)(
    'is paid again by the same transfer, which lands elsewhere %s a reorg is seen',
    async (when) => {
      const intent = await make(wallet());
      const hash = `0x${(++count).toString(16).padStart(64, 'e')}` as TransactionHash;
      const first = await arrive(intent, { hash, index: '7' });
      await isAssigned(first.id, intent);
      await reaches(intent, 'confirmed');
      if (when === 'after') await first.sees('lost');
      // As its log has another place in the block, it is another deposit.
      const second = await arrive(intent, { hash, index: '9' });
      if (when === 'before') await first.sees('lost');
      await isAssigned(second.id, intent);
      await second.sees('finalized');
      await reaches(intent, 'finalized');
      expect(await historyOf(intent.id)).not.toContain('intent.extra_payment');
    },
  );

  it('is not paid by itself after a person has undone that, though a reorg has moved the transfer', async () => {
    const intent = await make(wallet());
    const hash = `0x${(++count).toString(16).padStart(64, 'e')}` as TransactionHash;
    const first = await arrive(intent, { hash, index: '7' });
    await isAssigned(first.id, intent);
    await api.request('POST', `/deposits/${first.id}/unassign`, {});
    await reaches(intent, 'failed');
    await first.sees('lost');
    const second = await arrive(intent, { hash, index: '9' });
    await areLookedAt();
    expect(await shown(second.id)).toMatchObject({ state: 'open', intentId: null });
  });

  it('is paid once: what has its amount after another payment stays a deposit', async () => {
    const intent = await make(wallet());
    const { id: byHand } = await arrive(intent, {}, { reason: 'unknown_reference' });
    expect((await api.request('POST', `/deposits/${byHand}/assign`, { intentId: intent.id })).status).toBe(200);
    await reaches(intent, 'confirmed');
    const { id } = await arrive(intent);
    await areLookedAt();
    expect(await shown(id)).toMatchObject({ state: 'open', intentId: null });
  });

  it('is left to people where another intent of the wallet asks for the same', async () => {
    const recipient = wallet();
    const intent = await make(recipient);
    await make(recipient, { attribution: 'reference', amount: intent.amount });
    const { id } = await arrive(intent);
    await areLookedAt();
    expect(await shown(id)).toMatchObject({ state: 'open', intentId: null });
  });

  it('pays the account that has reserved its amount first', async () => {
    for (const [after, isPaid] of [
      ['1 minute', true],
      ['-1 minute', false],
    ] as const) {
      const intent = await make(wallet());
      await cluster.database.sql.query(
        `INSERT INTO service.reserved_amounts
           (intent_id, account_id, livemode, chain, token_address, recipient, amount_base_units, reserved_at, until)
         SELECT 'other ' || intent_id, 'acct_other', livemode, chain, token_address, recipient, amount_base_units,
                reserved_at + $2::interval, until
           FROM service.reserved_amounts WHERE intent_id = $1`,
        [intent.id, after],
      );
      const { id } = await arrive(intent);
      if (isPaid) await isAssigned(id, intent);
      else await areLookedAt();
      expect(await shown(id)).toMatchObject({ state: isPaid ? 'assigned' : 'open' });
    }
  });

  it('keeps its amount and its time', async () => {
    const { id, updatedAt } = await make(wallet());
    for (const change of [{ amount: '13' }, { ttlSeconds: 600 }]) {
      const { status, body } = await api.request('PATCH', `/intents/${id}`, { updatedAt, ...change });
      expect([status, body.error?.code]).toEqual([409, 'intent.invalid_state']);
    }
    const named = await api.request('PATCH', `/intents/${id}`, { updatedAt, metadata: { order: '1' } });
    expect(named.status).toBe(200);
  });

  it('is refused where all amounts are reserved, and another amount is not', async () => {
    const recipient = wallet();
    const { requestor, tokenAddress } = await make(recipient);
    await cluster.database.sql.query(
      `INSERT INTO service.reserved_amounts
         (intent_id, account_id, livemode, chain, token_address, recipient, amount_base_units, reserved_at, until)
       SELECT 'taken ' || n, $1, false, $2, $3, $4, n, now(), now() + interval '1 day'
         FROM generate_series(12500002, 12509999) AS n`,
      [cluster.accountId, samples.BASE_SEPOLIA, tokenAddress, requestor],
    );
    const { status, body } = await create(recipient);
    expect([status, body.error?.code, body.error?.param, body.error?.details]).toEqual([
      409,
      'amount.all_reserved',
      'amount',
      { max: 9_999 },
    ]);
    expect((await make(recipient, { amount: '12.51' })).amount).toBe('12.510001');
  });

  it.each([
    ['the direction is "send"', { direction: 'send', fulfiller: PAYER }, 'attribution'],
    ['nothing can be added to the amount', { amount: '18446744073709.551615' }, 'amount'],
  ])('is refused where %s', async (_, change, param) => {
    const { status, body } = await create(wallet(), change);
    expect([status, body.error?.code, body.error?.param]).toEqual([400, 'request.validation_failed', param]);
  });

  it('is refused by a gateway that has it switched off', async () => {
    const { status, body } = await create(wallet(), {}, off);
    expect([status, body.error?.param]).toEqual([400, 'attribution']);
    expect((await create(wallet(), { attribution: 'reference' }, off)).body.intent).not.toHaveProperty('attribution');
  });
});
