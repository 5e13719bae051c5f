import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newAccountId } from '@pf/contracts';
import {
  type Attention,
  ATTENTION_ADVICE,
  type AttentionKind,
  CLAIMED_ADVICE,
  type Role,
} from '@pf/contracts/dashboard';
import { UnscreenedPayments } from '@pf/database';
import { type AccountId, type Deposit, depositView, type IntentId, type TransactionHash } from '@pf/domain';
import { deposits, events, samples } from '@pf/domain/testing';
import { type Cluster, type Instance, startCluster, until } from '@pf/testing';
import { seedOwner } from '../../src/seed.ts';
import { memberOf, Person } from '../person.ts';
import { addDeposit, addIntent } from './payments.ts';

describe('GET /accounts/{accountId}/{mode}/attention', () => {
  let cluster: Cluster;
  let dashboard: Instance;
  let owner: Person;
  const now = Date.now();
  const minutesAgo = (minutes: number): number => now - minutes * 60_000;

  beforeAll(async () => {
    cluster = await startCluster();
    dashboard = await cluster.start('dashboard');
    const email = 'olivia@shop.example';
    const { accountId, database } = cluster;
    const password = await seedOwner(database, { accountId, name: 'Olivia', email });
    owner = await new Person(dashboard.url).signIn(email, password);
  });
  afterAll(() => cluster.close());

  async function page(
    accountId: string,
    query: Readonly<Record<string, string>> = {},
  ): Promise<{ attention: Attention[]; hasMore: boolean; nextCursor: string | null }> {
    const { body, status } = await owner.ask('listAttention', { params: { accountId, mode: 'test' }, query });
    expect(status).toBe(200);
    return body;
  }
  /** An account of the same owner. */
  async function newAccount(): Promise<string> {
    const { body } = await owner.ask('createAccount', { body: { name: 'Another shop' } });
    return body.account.id;
  }
  const unexpected = (
    accountId: string,
    minutes: number,
    ...of: Parameters<typeof events.of>[1][]
  ): Promise<IntentId> =>
    addIntent(cluster.database, {
      accountId,
      events: [events.created(), ...of].map((event, index) => [minutesAgo(minutes) + index * 1_000, event]),
    });

  it('lists nothing for an account that has nothing to look at', async () => {
    const accountId = await newAccount();
    await unexpected(accountId, 5, events.confirmed(samples.FIRST));
    expect(await page(accountId)).toEqual({ attention: [], hasMore: false, nextCursor: null });
  });

  it('lists unexpected payments, with their intent, transaction, amount and advice', async () => {
    const accountId = await newAccount();
    const mismatched = await unexpected(
      accountId,
      30,
      events.mismatchedPayment(samples.FIRST, { amount: 2_500_000n }, 'amount'),
    );
    const extra = await unexpected(
      accountId,
      20,
      events.confirmed(samples.FIRST),
      events.extraPayment(samples.SECOND, { from: samples.CAROL }),
    );
    const late = await unexpected(
      accountId,
      10,
      events.expired(),
      ...events.confirmedLate(samples.SECOND, {}, 'expired'),
    );
    await unexpected(newAccountId(), 1, events.mismatchedPayment(samples.FIRST, { amount: 1n }, 'amount'));
    const { attention } = await page(accountId);
    const payment = {
      chain: samples.BASE_SEPOLIA,
      token: 'USDC',
      tokenAddress: samples.USDC,
      sender: samples.BOB,
      recipient: samples.ALICE,
      differs: [],
      late: null,
      claimed: false,
    };
    const none = { endpoint: null, delivery: null, reason: null };
    expect(attention).toMatchObject([
      {
        kind: 'late_payment',
        intentId: late,
        payment: { ...payment, txSignature: samples.SECOND, amount: '12.50', late: 'expired' },
        advice: ATTENTION_ADVICE.late_payment,
        ...none,
      },
      {
        kind: 'extra_payment',
        intentId: extra,
        payment: { ...payment, txSignature: samples.SECOND, sender: samples.CAROL },
        ...none,
      },
      {
        kind: 'mismatched_payment',
        intentId: mismatched,
        payment: { ...payment, txSignature: samples.FIRST, amount: '2.5', differs: ['amount'] },
        ...none,
      },
    ]);
    expect(attention.map(({ at }) => Date.parse(at))).toEqual([
      minutesAgo(10) + 3_000,
      minutesAgo(20) + 2_000,
      minutesAgo(30) + 1_000,
    ]);
    expect((await page(accountId, { kind: 'extra_payment' })).attention.map(({ intentId }) => intentId)).toEqual([
      extra,
    ]);
  });

  it('lists what was paid beyond the amount, and takes it off the list once it is done', async () => {
    const accountId = await newAccount();
    const more = { amount: samples.AMOUNT + 500_000n };
    const intentId = await addIntent(cluster.database, {
      accountId,
      events: [
        events.created({ accept: 'at_least' }),
        events.confirmed(samples.FIRST, more),
        events.finalized(samples.FIRST, more),
        events.overpaid(samples.FIRST, 500_000n),
      ].map((event, index) => [minutesAgo(5) + index * 1_000, event]),
    });
    const { attention } = await page(accountId);
    expect(attention).toMatchObject([
      {
        kind: 'overpaid',
        intentId,
        payment: {
          chain: samples.BASE_SEPOLIA,
          token: 'USDC',
          tokenAddress: samples.USDC,
          txSignature: samples.FIRST,
          sender: samples.BOB,
          recipient: samples.ALICE,
          amount: '0.5',
        },
        advice: ATTENTION_ADVICE.overpaid,
        done: null,
      },
    ]);
    const params = { accountId, mode: 'test', itemId: attention[0]?.id ?? '' };
    expect(await owner.ask('markAttentionDone', { params })).toMatchObject({ status: 200 });
    expect((await page(accountId)).attention).toEqual([]);
    expect((await page(accountId, { state: 'done' })).attention).toMatchObject([{ kind: 'overpaid', intentId }]);
  });

  it('says of a payment that only its payer connects with the intent that it may be a deposit as well', async () => {
    const accountId = await newAccount();
    await unexpected(accountId, 5, events.claimedPayment(samples.FIRST, samples.UNPROVEN));
    const { attention } = await page(accountId);
    expect(attention).toMatchObject([
      { kind: 'mismatched_payment', payment: { claimed: true, differs: ['reference'] }, advice: CLAIMED_ADVICE },
    ]);
  });

  it('lists no payment that was proven to match after it was reported', async () => {
    const accountId = await newAccount();
    const reported = (hash: TransactionHash) => events.mismatchedPayment(hash, samples.UNPROVEN, 'reference');
    const intentId = await unexpected(
      accountId,
      5,
      reported(samples.FIRST),
      reported(samples.SECOND),
      events.mismatchWithdrawn(samples.SECOND),
      events.pending(samples.SECOND),
      events.confirmed(samples.SECOND),
    );
    const { attention } = await page(accountId);
    expect(attention.map((item) => [item.intentId, item.kind, item.payment?.txSignature])).toEqual([
      [intentId, 'mismatched_payment', samples.FIRST],
    ]);
  });

  it('lists no payment that turned out to be of another intent, and to be worth something else', async () => {
    const accountId = await newAccount();
    const reported = (hash: TransactionHash, amount: bigint) =>
      events.mismatchedPayment(hash, { ...samples.UNPROVEN, amount }, 'reference');
    const intentId = await unexpected(
      accountId,
      5,
      reported(samples.FIRST, 60n),
      reported(samples.SECOND, 60n),
      reported(samples.SECOND, 70n),
      events.mismatchDisproved(samples.FIRST, { amount: 100n }),
      events.mismatchDisproved(samples.SECOND, { amount: 70n }),
    );
    const { attention } = await page(accountId);
    expect(attention.map(({ intentId: of, payment }) => [of, payment?.txSignature, payment?.amount])).toEqual([
      [intentId, samples.SECOND, '0.00006'],
    ]);
  });

  it('names the token of a payment in another one, and its amount, where the registry has it', async () => {
    const accountId = await newAccount();
    const other = { tokenAddress: samples.EURC, amount: 1_250_000n };
    await unexpected(accountId, 2, events.mismatchedPayment(samples.FIRST, other, 'token', 'amount'));
    const unknown = { tokenAddress: '0x00000000000000000000000000000000000000ff' as never, amount: 7n };
    await unexpected(accountId, 1, events.mismatchedPayment(samples.FIRST, unknown, 'token', 'amount'));
    expect((await page(accountId)).attention.map(({ payment }) => [payment?.token, payment?.amount])).toEqual([
      [null, null],
      ['EURC', '1.25'],
    ]);
  });

  it('lists payments from sanctioned senders, without what a list says of them', async () => {
    const accountId = await newAccount();
    const paid = await unexpected(accountId, 5, events.confirmed(samples.UNKNOWN));
    const payments = new UnscreenedPayments(cluster.database);
    const of = { chain: samples.BASE_SEPOLIA, hash: samples.UNKNOWN, sender: samples.BOB };
    const noted = { ...of, intentId: paid, accountId: accountId as AccountId, livemode: false };
    // One that waits, and one that is not in the intent.
    await payments.note([noted, { ...noted, hash: samples.FIRST }, { ...noted, hash: samples.SECOND }]);
    await payments.flag({ ...noted, hash: samples.SECOND }, { name: 'JANE DOE' });
    await payments.flag(noted, { name: 'JANE DOE' });
    const { attention } = await page(accountId);
    // Both may be of one millisecond, which leaves their order open.
    expect(attention.map(({ kind, intentId }) => [kind, intentId])).toEqual(Array(2).fill(['sanctioned_sender', paid]));
    expect(new Map(attention.map(({ payment }) => [payment?.txSignature, payment?.amount]))).toEqual(
      new Map([
        [samples.UNKNOWN, '12.5'],
        [samples.SECOND, null],
      ]),
    );
    expect(JSON.stringify(attention)).not.toContain('JANE');
  });

  it('lists deposits that are open and count, each as the payment API shows it, page by page', async () => {
    const accountId = await newAccount();
    let number = 0;
    const deposit = (of: Partial<Deposit>, owner: { accountId: string; livemode?: boolean } = { accountId }) => {
      const hash = `0x${(++number).toString(16).padStart(64, '0')}` as TransactionHash;
      const { level, state, reason, arrival } = of;
      return addDeposit(cluster.database, {
        at: minutesAgo(30 - number),
        ...(level && { level }),
        ...(state && { state }),
        received: {
          ...owner,
          accountId: owner.accountId as AccountId,
          ...(reason && { reason }),
          arrival: deposits.arrival({ ...arrival, hash }),
        },
      });
    };
    const confirmed = await deposit({});
    const minted = await deposit({
      level: 'finalized',
      reason: 'unknown_reference',
      arrival: deposits.arrival({ from: null, token: null }),
    });
    for (const gone of ['lost', 'withdrawn'] as const) await deposit({ level: gone });
    await deposit({ state: 'ignored' });
    await deposit({}, { accountId, livemode: true });
    await deposit({}, { accountId: newAccountId() });
    const mismatched = await unexpected(
      accountId,
      1,
      events.mismatchedPayment(samples.FIRST, { amount: 1n }, 'amount'),
    );
    const { attention } = await page(accountId);
    expect(attention.map(({ kind, intentId }) => [kind, intentId])).toEqual([
      ['mismatched_payment', mismatched],
      ['deposit', null],
      ['deposit', null],
    ]);
    expect(attention.slice(1)).toEqual(
      [minted, confirmed].map((shown) => ({
        kind: 'deposit',
        id: shown.id,
        at: new Date(shown.createdAt).toISOString(),
        intentId: null,
        payment: null,
        deposit: depositView(shown),
        likelyIntents: [],
        endpoint: null,
        delivery: null,
        reason: null,
        advice: ATTENTION_ADVICE.deposit,
        done: null,
      })),
    );
    expect(attention[1]?.deposit).toMatchObject({ sender: null, amount: null, reason: 'unknown_reference' });
    const first = await page(accountId, { kind: 'deposit', limit: '1' });
    expect([first.hasMore, first.attention]).toEqual([true, [attention[1]]]);
    const rest = { kind: 'deposit', limit: '1', cursor: first.nextCursor ?? '' };
    expect(await page(accountId, rest)).toMatchObject({ hasMore: false, attention: [attention[2]] });
    const params = { accountId, mode: 'test', itemId: confirmed.id };
    expect((await owner.ask('markAttentionDone', { params })).code).toBe('attention.not_found');
  });

  it('shows with a deposit the unpaid intents that it may have been meant for, the likeliest first', async () => {
    const accountId = await newAccount();
    const amount = 10_000_000n;
    const intent = (
      days: number,
      terms: Parameters<typeof events.created>[0] = {},
      ...then: Parameters<typeof events.of>[1][]
    ): Promise<IntentId> =>
      addIntent(cluster.database, {
        accountId,
        events: [events.created({ amountBaseUnits: amount, ...terms }), ...then].map((event, index) => [
          minutesAgo(days * 24 * 60) + index,
          event,
        ]),
      });
    const [older, equal, ended, smaller] = [
      await intent(6),
      await intent(1),
      await intent(6.5, {}, events.expired()),
      await intent(1, { amountBaseUnits: amount - 1n }),
    ];
    // Made afterwards, paid, too much, of another token, to another wallet, ended too long ago.
    await intent(1 / (24 * 60));
    await intent(0.4, {}, events.confirmed(samples.FIRST));
    await intent(0.3, { amountBaseUnits: 12_000_000n });
    await intent(0.1, { tokenAddress: samples.EURC });
    await intent(0.1, { requestor: samples.CAROL });
    await intent(8, {}, events.expired());
    const reference = samples.referenceOf(samples.REFUND);
    const named = await intent(300, { reference, amountBaseUnits: 10_500_000n }, events.expired());
    const whole = deposits.arrival({ amount });
    for (const arrival of [
      whole,
      { ...whole, amount: 9_900_000n, hash: samples.SECOND },
      { ...whole, amount: 9_500_000n, hash: samples.UNKNOWN, reference },
    ])
      await addDeposit(cluster.database, {
        at: minutesAgo(5),
        received: { accountId: accountId as AccountId, arrival },
      });
    const { attention } = await page(accountId, { kind: 'deposit' });
    const likelyOf = (sum: string) =>
      attention
        .find(({ deposit }) => deposit?.amount === sum)
        ?.likelyIntents.map(({ id, status, missing }) => [id, status, missing]);
    expect(likelyOf('10')).toEqual([
      [equal, 'created', null],
      [older, 'created', null],
      [ended, 'expired', null],
    ]);
    expect(likelyOf('9.9')).toEqual([
      [smaller, 'created', '0.099999'],
      [equal, 'created', '0.1'],
      [older, 'created', '0.1'],
    ]);
    // Its reference says which one, however long that has ended.
    expect(likelyOf('9.5')).toEqual([
      [named, 'expired', '1'],
      [smaller, 'created', '0.499999'],
      [equal, 'created', '0.5'],
    ]);
  });

  describe('a payment that is marked as done', () => {
    const mark = (by: Person, id: 'markAttentionDone' | 'reopenAttention', accountId: string, itemId: string) =>
      by.ask(id, { params: { accountId, mode: 'test', itemId } });
    const member = (accountId: string, role: Role) =>
      memberOf(cluster.database, dashboard.url, {
        name: `${role}-${accountId.slice(-6).toLowerCase()}`,
        role,
        accountId,
      });

    it('leaves the list, is listed with who has marked it, the newest mark first, and comes back', async () => {
      const accountId = await newAccount();
      const support = await member(accountId, 'support');
      for (const minutes of [3, 2, 1])
        await unexpected(accountId, minutes, events.mismatchedPayment(samples.FIRST, { amount: 1n }, 'amount'));
      const { attention } = await page(accountId);
      const [newest, middle, oldest] = attention.map(({ id }) => id);
      expect(attention.map(({ done }) => done)).toEqual([null, null, null]);
      const { body, status } = await mark(support, 'markAttentionDone', accountId, newest ?? '');
      expect(status).toBe(200);
      const { user } = (await support.ask('getSession')).body;
      expect(body.item).toEqual({
        ...attention[0],
        done: { at: body.item.done?.at, by: { id: user.id, name: user.name } },
      });
      expect(Math.abs(Date.now() - Date.parse(body.item.done?.at ?? ''))).toBeLessThan(60_000);
      // Another mark changes nothing, by whomever it is.
      expect((await mark(owner, 'markAttentionDone', accountId, newest ?? '')).body).toEqual(body);
      await until('another millisecond', () => Date.now() > Date.parse(body.item.done?.at ?? ''));
      await mark(owner, 'markAttentionDone', accountId, oldest ?? '');
      const ids = async (query = {}) => (await page(accountId, query)).attention.map(({ id }) => id);
      expect(await ids()).toEqual([middle]);
      expect(await ids({ state: 'done' })).toEqual([oldest, newest]);
      expect(await ids({ state: 'done', kind: 'extra_payment' })).toEqual([]);
      expect(await ids({ state: 'done', kind: 'failed_delivery' })).toEqual([]);
      const first = await page(accountId, { state: 'done', limit: '1' });
      expect([first.hasMore, first.attention.map(({ id }) => id)]).toEqual([true, [oldest]]);
      expect(await ids({ state: 'done', limit: '1', cursor: first.nextCursor ?? '' })).toEqual([newest]);

      expect((await mark(owner, 'reopenAttention', accountId, newest ?? '')).body.item).toEqual(attention[0]);
      expect((await mark(owner, 'reopenAttention', accountId, newest ?? '')).status).toBe(200);
      expect(await ids()).toEqual([newest, middle]);
      const { body: audit } = await owner.ask('listAudit', { params: { accountId } });
      const change = {
        subject: attention[0]?.intentId,
        mode: 'test',
        after: { kind: 'mismatched_payment', item: newest },
      };
      expect(audit.entries.filter(({ action }) => action.startsWith('attention.'))).toMatchObject([
        { action: 'attention.reopened', actor: { name: 'olivia@shop.example' }, ...change },
        { action: 'attention.done', after: { item: oldest } },
        { action: 'attention.done', actor: { id: user.id }, ...change },
      ]);
    });

    it('belongs to its account and mode, and is no endpoint or delivery', async () => {
      const accountId = await newAccount();
      await unexpected(accountId, 1, events.mismatchedPayment(samples.FIRST, { amount: 1n }, 'amount'));
      await cluster.database.sql.query(
        `INSERT INTO service.webhook_endpoints (id, account_id, livemode, url, paused_at)
         VALUES ('whe_marked', $1, false, 'https://shop.example/marked', now())`,
        [accountId],
      );
      const [, item] = (await page(accountId)).attention;
      const other = await newAccount();
      for (const [of, mode, itemId] of [
        [other, 'test', item?.id],
        [accountId, 'live', item?.id],
        [accountId, 'test', 'whe_marked'],
        [accountId, 'test', 'evt_none'],
      ] as const)
        expect([
          itemId,
          (await owner.ask('markAttentionDone', { params: { accountId: of, mode, itemId: itemId ?? '' } })).code,
        ]).toEqual([itemId, 'attention.not_found']);
      expect((await page(accountId)).attention).toHaveLength(2);
    });

    it('is marked by owners only where its sender is sanctioned', async () => {
      const accountId = await newAccount();
      const paid = await unexpected(accountId, 5, events.confirmed(samples.UNKNOWN));
      const payments = new UnscreenedPayments(cluster.database);
      const of = { chain: samples.BASE_SEPOLIA, hash: samples.UNKNOWN, sender: samples.BOB };
      const noted = { ...of, intentId: paid, accountId: accountId as AccountId, livemode: false };
      await payments.note([noted]);
      await payments.flag(noted, { name: 'JANE DOE' });
      const [item] = (await page(accountId)).attention;
      for (const role of ['support', 'developer'] as const) {
        const person = await member(accountId, role);
        for (const id of ['markAttentionDone', 'reopenAttention'] as const)
          expect(await mark(person, id, accountId, item?.id ?? '')).toMatchObject({
            code: 'role.insufficient',
            error: { details: { roles: ['owner'] } },
          });
      }
      expect((await mark(owner, 'markAttentionDone', accountId, item?.id ?? '')).status).toBe(200);
      expect((await page(accountId)).attention).toEqual([]);
      expect((await page(accountId, { state: 'done' })).attention).toMatchObject([
        { kind: 'sanctioned_sender', id: item?.id, done: { by: { name: 'Olivia' } } },
      ]);
    });
  });

  describe('of webhooks', () => {
    const endpoint = (accountId: string, id: string, change: Readonly<Record<string, string | null>>) => {
      const columns = Object.keys(change);
      return cluster.database.sql.query(
        `INSERT INTO service.webhook_endpoints (id, account_id, livemode, url, ${columns.join(', ')})
         VALUES ($1, $2, false, 'https://shop.example/' || $1, ${columns.map((_, n) => `$${n + 3}`).join(', ')})`,
        [id, accountId, ...Object.values(change)],
      );
    };
    const failed = (accountId: string, endpointId: string, id: string, at: number, eventType = 'intent.created') =>
      cluster.database.sql.query(
        `INSERT INTO service.deliveries (id, endpoint_id, account_id, livemode, event_id, event_type, intent_id, url,
                                         status, error, failed_at)
         VALUES ($1, $2, $3, false, $1, $4, 'pi_1', 'https://shop.example', 'failed', 'HTTP 500', $5)`,
        [id, endpointId, accountId, eventType, new Date(at)],
      );
    const iso = (minutes: number): string => new Date(minutesAgo(minutes)).toISOString();

    it('lists paused and disabled endpoints and failed deliveries, not those of removed ones', async () => {
      const accountId = await newAccount();
      await endpoint(accountId, 'whe_paused', { paused_at: iso(3) });
      await endpoint(accountId, 'whe_failing', { disabled_at: iso(2), disabled_by: 'failing' });
      await endpoint(accountId, 'whe_removed', { disabled_at: iso(1), disabled_by: 'account', paused_at: iso(1) });
      await failed(accountId, 'whe_failing', 'whd_1', minutesAgo(4));
      await failed(accountId, 'whe_failing', 'whd_2', minutesAgo(4), 'webhook_endpoint.test');
      await failed(accountId, 'whe_removed', 'whd_3', minutesAgo(4));
      expect((await page(accountId)).attention).toMatchObject([
        { kind: 'endpoint_disabled', endpoint: { id: 'whe_failing' }, reason: 'failing', payment: null },
        { kind: 'endpoint_paused', endpoint: { id: 'whe_paused' }, reason: null },
        {
          kind: 'failed_delivery',
          intentId: 'pi_1',
          endpoint: { id: 'whe_failing', url: 'https://shop.example' },
          delivery: { id: 'whd_1', eventType: 'intent.created' },
          reason: 'HTTP 500',
        },
      ]);
    });

    it('are paged together with the payments, each once, newest first', async () => {
      const accountId = await newAccount();
      await endpoint(accountId, 'whe_a', { paused_at: iso(2) });
      await endpoint(accountId, 'whe_b', { disabled_at: iso(2), disabled_by: 'gone' });
      // Several at the same time.
      for (let n = 0; n < 9; n++) await failed(accountId, 'whe_a', `whd_a${n}`, minutesAgo(2 + (n % 3)));
      for (let n = 0; n < 4; n++) await failed(accountId, 'whe_b', `whd_b${n}`, minutesAgo(3));
      for (let n = 0; n < 3; n++)
        await unexpected(accountId, 3, events.mismatchedPayment(samples.FIRST, { amount: 1n }, 'amount'));
      const { attention: all } = await page(accountId);
      expect(all).toHaveLength(18);
      expect(all.map(({ at }) => at)).toEqual(
        all
          .map(({ at }) => at)
          .sort()
          .reverse(),
      );
      const seen: Attention[] = [];
      for (let cursor: string | null = null, pages = 0; pages === 0 || cursor !== null; pages++) {
        const next = await page(accountId, { limit: '4', ...(cursor !== null && { cursor }) });
        expect(next.hasMore).toBe(pages < 4);
        seen.push(...next.attention);
        cursor = next.nextCursor;
      }
      expect(seen).toEqual(all);
    });
  });

  it('refuses an unknown kind and an invalid cursor', async () => {
    const params = { accountId: cluster.accountId, mode: 'test' };
    for (const [param, query] of Object.entries({ kind: { kind: 'none' }, cursor: { cursor: 'x' } }))
      expect(await owner.ask('listAttention', { params, query })).toMatchObject({ status: 400, error: { param } });
  });

  it('has advice for every kind', () => {
    for (const kind of Object.keys(ATTENTION_ADVICE) as AttentionKind[])
      expect(ATTENTION_ADVICE[kind]).toMatch(/^[A-Z].+\.$/);
  });
});
