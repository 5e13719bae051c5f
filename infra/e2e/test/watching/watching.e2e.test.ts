import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { PublicIntent } from '@pf/domain';
import { until } from '@pf/testing';
import { evmWallet, tempoWallet, walletOn } from '@pf/testing/wallets';
import type { Hex } from 'viem';
import { payPlainly, payTogether, sendRaw, spedUp, usedUp } from '../odd-payments.ts';
import { type Name, NAMES } from '../chain-names.ts';
import { type LoggedEvent, UNITS, WatchingHarness } from './harness.ts';

/** Seconds: the shortest lifetime of an intent, and the time left to pay just before it expires. */
const SHORTEST = 60;
const LEFT = 20;
/** Seconds: longer than any transaction on Tempo can land, and by how much a late one outlives its intent. */
const LIFETIME = 400;
const LONGER = 60;
const PAID = ['intent.created', 'intent.pending', 'intent.confirmed', 'intent.finalized'];
const typeIs =
  (expected: string) =>
  ({ type }: LoggedEvent): boolean =>
    type === expected;

let harness: WatchingHarness;
/** Created at the beginning, so that they expire at the end: one is submitted just in time, one is paid afterwards. */
let late: Record<Name, { readonly submitted: PublicIntent; readonly unpaid: PublicIntent }>;

type Run = (name: Name) => Promise<void>;
interface Scenario {
  readonly what: string;
  readonly on: readonly Name[];
  readonly run: Run;
}

/** These run in parallel while blocks are produced. */
const FLOWING: readonly Scenario[] = [
  {
    what: 'is found by its reference without submit, and goes through pending to confirmed',
    on: NAMES,
    async run(name) {
      const payer = harness.wallet(name, 1);
      const intent = await harness.create(name);
      const hash = await harness.pay(name, payer, intent);
      expect(await harness.reach(intent.id, 'finalized')).toMatchObject({
        txSignature: hash,
        fulfiller: payer.address,
        retryRequired: false,
      });
      expect(await harness.types(intent.id)).toEqual(PAID);
    },
  },
  {
    what: 'counts when it is a plain transfer of the token program',
    on: ['solana'],
    async run(name) {
      const payer = harness.wallet(name, 1);
      const { id, reference } = await harness.create(name);
      const hash = await payPlainly(harness.chain(name), payer, harness.usdc(name), {
        to: harness.requestor(name),
        units: UNITS,
        references: [reference],
      });
      expect(await harness.reach(id, 'finalized')).toMatchObject({ txSignature: hash, fulfiller: payer.address });
      expect(await harness.types(id)).toEqual(PAID);
    },
  },
  {
    what: 'is recorded as an extra payment when made twice, and changes nothing else',
    on: NAMES,
    async run(name) {
      const payer = harness.wallet(name, 2);
      const intent = await harness.create(name);
      const first = await harness.pay(name, payer, intent);
      const paid = await harness.reach(intent.id, 'finalized');
      const second = await harness.pay(name, payer, intent);
      await harness.counted(intent.id, 2);
      expect(await harness.shown(intent.id)).toEqual(paid);
      const [types, log] = [await harness.types(intent.id), await harness.log(intent.id)];
      expect([paid.txSignature, types]).toEqual([first, [...PAID, 'intent.extra_payment']]);
      expect(log.at(-1)).toMatchObject({
        type: 'intent.extra_payment',
        data: { landing: { hash: second, transfer: { from: payer.address, amount: UNITS } } },
      });
      // What the shop sees suffices to pay it back.
      expect(await harness.payments(intent.id)).toEqual([
        {
          txSignature: second,
          sender: payer.address,
          recipient: intent.requestor,
          tokenAddress: intent.tokenAddress,
          amount: intent.amount,
          amountBaseUnits: String(UNITS),
          reference: intent.reference,
          differs: [],
          late: null,
        },
      ]);
    },
  },
  {
    what: 'pays nothing with another amount; the intent stays open until the right amount lands',
    on: NAMES,
    async run(name) {
      const payer = harness.wallet(name, 3);
      const intent = await harness.create(name);
      const wrong = [
        await harness.pay(name, payer, intent, UNITS - 1n),
        await harness.pay(name, payer, intent, UNITS + 1n),
      ];
      await harness.counted(intent.id, 2);
      expect(await harness.shown(intent.id)).toEqual(intent);
      const right = await harness.pay(name, payer, intent);
      expect(await harness.reach(intent.id, 'finalized')).toMatchObject({ txSignature: right });
      const [types, log] = [await harness.types(intent.id), await harness.log(intent.id)];
      const seen = ['intent.mismatched_payment', 'intent.mismatched_payment'];
      expect(types).toEqual(['intent.created', ...seen, ...PAID.slice(1)]);
      const payments = await harness.payments(intent.id);
      expect(payments.map(({ amountBaseUnits }) => amountBaseUnits).sort()).toEqual(
        [UNITS - 1n, UNITS + 1n].map(String).sort(),
      );
      for (const { differs, sender } of payments) expect([differs, sender]).toEqual([['amount'], payer.address]);
      const mismatched = log.filter(typeIs('intent.mismatched_payment'));
      expect(mismatched).toMatchObject([{ data: { differs: ['amount'] } }, { data: { differs: ['amount'] } }]);
      expect(mismatched.map(({ data }) => (data as { landing: { hash: string } }).landing.hash).sort()).toEqual(
        wrong.sort(),
      );
    },
  },
  {
    what: 'pays nothing when the requestor pays itself',
    on: NAMES,
    async run(name) {
      const intent = await harness.create(name);
      await harness.pay(name, harness.wallet(name, 0), intent);
      // Nothing has changed hands, so there is nothing to tell. What comes after it counts.
      const hash = await harness.pay(name, harness.wallet(name, name === 'tempo' ? 8 : 4), intent);
      expect(await harness.reach(intent.id, 'finalized')).toMatchObject({ txSignature: hash });
      expect((await harness.stored(intent.id)).transfers.length).toBe(1);
    },
  },
  {
    what: 'counts for no intent when it carries two references',
    on: ['solana'],
    async run(name) {
      const payer = harness.wallet(name, 4);
      const [one, other] = [await harness.create(name), await harness.create(name)];
      await payTogether.solana(harness.chain(name), payer, harness.usdc(name), [
        { to: harness.requestor(name), units: UNITS, references: [one.reference, other.reference] },
      ]);
      await harness.solana.advance();
      // The watcher reads payments in order: when this one is found, the earlier one has been read.
      const hash = await harness.pay(name, payer, one);
      expect(await harness.reach(one.id, 'finalized')).toMatchObject({ txSignature: hash });
      expect([
        (await harness.stored(one.id)).transfers.length,
        (await harness.stored(other.id)).transfers.length,
      ]).toEqual([1, 0]);
      expect(await harness.shown(other.id)).toEqual(other);
    },
  },
  {
    what: 'is recognized beside the payment of another intent in one transaction',
    on: ['solana', 'tempo'],
    async run(name) {
      const payer = harness.wallet(name, 4);
      const intents = [await harness.create(name), await harness.create(name)];
      const payments = intents.map(({ reference }) => ({
        to: harness.requestor(name),
        units: UNITS,
        references: [reference],
      }));
      const hash = await payTogether[name as 'solana' | 'tempo'](
        harness.chain(name),
        payer,
        harness.usdc(name),
        payments,
      );
      for (const { id } of intents) {
        expect(await harness.reach(id, 'finalized')).toMatchObject({ txSignature: hash, fulfiller: payer.address });
        expect(await harness.types(id)).toEqual(PAID);
      }
    },
  },
  {
    what: 'confirms an intent that was cancelled between build and landing',
    on: NAMES,
    async run(name) {
      const payer = harness.wallet(name, 5);
      const { id } = await harness.create(name);
      const blob = await harness.build(id, payer);
      expect((await harness.api.cancel(id)).body.intent.state).toBe('cancelled');
      const wallet = walletOn(harness.chain(name), payer);
      const refused = await harness.api.submit(id, await wallet.sign(blob), payer.address);
      expect([refused.status, refused.body.error?.code]).toEqual([409, 'intent.invalid_state']);
      const hash = await wallet.send(blob);
      expect(await harness.reach(id, 'finalized')).toMatchObject({ txSignature: hash, fulfiller: payer.address });
      const [types, log] = [await harness.types(id), await harness.log(id)];
      expect(types).toEqual([
        'intent.created',
        'intent.cancelled',
        'intent.confirmed',
        'intent.late_payment',
        'intent.finalized',
      ]);
      expect(await harness.payments(id)).toMatchObject([
        { txSignature: hash, sender: payer.address, late: 'cancelled', differs: [] },
      ]);
      expect(log.find(typeIs('intent.confirmed'))).toMatchObject({ data: { late: 'cancelled', landing: { hash } } });
    },
  },
];

const settlesLost = async (id: string): Promise<boolean> => (await harness.stored(id)).settlement?.lost === true;

/** These run one after the other on a chain, since each produces its blocks itself; the chains run in parallel. */
const HELD: readonly Scenario[] = [
  {
    what: 'ends with the transaction that landed when its wallet sped it up; the other is dropped',
    on: ['base', 'tempo'],
    async run(name) {
      const payer = harness.wallet(name, 6);
      const { id } = await harness.create(name);
      const { blob, hash } = await harness.submit(name, id, payer);
      const faster = await sendRaw(
        harness.chain(name),
        await spedUp[name as 'base' | 'tempo'](harness.chain(name), payer, blob),
      );
      expect(faster).not.toBe(hash);
      expect(await harness.passTo(name, id, 'finalized')).toMatchObject({
        txSignature: faster,
        fulfiller: payer.address,
      });
      expect(await harness.types(id)).toEqual(PAID);
      // On Tempo each intent has its own nonce key, and the first transaction expires by time.
      if (name === 'base')
        await harness.passUntil(name, 'the first transaction to be dropped', async () =>
          (await harness.stored(id)).submissions.every(({ status }) => status === 'dropped'),
        );
    },
  },
  {
    what: 'must be signed again when another transaction uses its nonce without paying',
    on: ['tempo'],
    async run(name) {
      const payer = harness.wallet(name, 7);
      const { id } = await harness.create(name);
      const { blob } = await harness.submit(name, id, payer);
      await sendRaw(harness.tempo, await usedUp.tempo(harness.tempo, payer, blob));
      await harness.pass(name);
      await harness.tempo.rpc('evm_increaseTime', LIFETIME);
      expect(await harness.passTo(name, id, 'created')).toMatchObject({ retryRequired: true, txSignature: null });
      await harness.submit(name, id, payer);
      await harness.passTo(name, id, 'finalized');
      expect(await harness.types(id)).toEqual([
        'intent.created',
        'intent.pending',
        'intent.retry_required',
        ...PAID.slice(1),
      ]);
    },
  },
  {
    what: 'fails when a reorg removes it and it never lands again',
    on: ['base', 'solana'],
    async run(name) {
      const payer = harness.wallet(name, 7);
      const { id } = await harness.create(name);
      const { blob, hash } = await harness.submit(name, id, payer);
      await harness.pass(name);
      // No further blocks, or it would be final.
      const confirmed = await harness.reach(id, 'confirmed');
      if (name === 'base') {
        await harness.base.rpc('anvil_reorg', 1, [[await usedUp.base(harness.base, payer, blob), 0]]);
      } else {
        await harness.solana.drop({ payer: payer.address });
        await harness.solana.reorg(2);
        await harness.passUntil(name, 'the service to notice the loss', () => settlesLost(id));
        expect(await harness.shown(id)).toEqual(confirmed);
        await harness.solana.expire();
        await harness.solana.heal();
      }
      expect(await harness.passTo(name, id, 'failed')).toMatchObject({
        txSignature: hash,
        fulfiller: payer.address,
        confirmedAt: confirmed.confirmedAt,
        finalizedAt: null,
      });
      const [types, log] = [await harness.types(id), await harness.log(id)];
      expect(types).toEqual(['intent.created', 'intent.pending', 'intent.confirmed', 'intent.failed']);
      expect(log.slice(-2)).toMatchObject([
        { type: 'confirmation_lost', data: { hash } },
        { type: 'intent.failed', data: { hash } },
      ]);
    },
  },
  {
    what: 'stays confirmed when its wallet sped it up on the new fork after a reorg',
    on: ['base'],
    async run(name) {
      const payer = harness.wallet(name, 8);
      const { id } = await harness.create(name);
      const { blob, hash } = await harness.submit(name, id, payer);
      await harness.pass(name);
      await harness.reach(id, 'confirmed');
      await harness.base.rpc('anvil_reorg', 1, [[await spedUp.base(harness.base, payer, blob), 0]]);
      const { txSignature } = await harness.passTo(name, id, 'finalized');
      expect(txSignature).not.toBe(hash);
      const [types, log] = [await harness.types(id), await harness.log(id)];
      expect(types).toEqual(PAID);
      expect(log.slice(-3)).toMatchObject([
        { type: 'confirmation_lost', data: { hash } },
        { type: 'confirmation_restored', data: { landing: { hash: txSignature } } },
        { type: 'intent.finalized', data: { hash: txSignature } },
      ]);
    },
  },
  {
    what: 'stays confirmed by a second payment when a reorg removes the first for good',
    on: ['base'],
    async run(name) {
      const [payer, second] = [harness.wallet(name, 3), harness.wallet(name, 4)];
      const { id } = await harness.create(name);
      const signed = await evmWallet(harness.base, second).sign(await harness.build(id, second));
      const raw: Hex = `0x${Buffer.from(signed, 'base64').toString('hex')}`;
      const { blob, hash } = await harness.submit(name, id, payer);
      await harness.pass(name);
      await harness.reach(id, 'confirmed');
      const extra = await sendRaw(harness.base, raw);
      await harness.pass(name);
      await harness.counted(id, 2);
      await harness.base.rpc('anvil_reorg', 2, [
        [await usedUp.base(harness.base, payer, blob), 0],
        [raw, 1],
      ]);
      expect(await harness.passTo(name, id, 'finalized')).toMatchObject({
        txSignature: extra,
        fulfiller: second.address,
      });
      const [types, log] = [await harness.types(id), await harness.log(id)];
      expect(types).toEqual([...PAID.slice(0, 3), 'intent.extra_payment', 'intent.finalized']);
      expect(log.slice(-4)).toMatchObject([
        { type: 'intent.extra_payment', data: { landing: { hash: extra } } },
        { type: 'confirmation_lost', data: { hash } },
        { type: 'confirmation_restored', data: { landing: { hash: extra } } },
        { type: 'intent.finalized', data: { hash: extra } },
      ]);
    },
  },
  {
    what: 'stays confirmed when a reorg removes it without submit: it is broadcast from the stored bytes',
    on: ['base', 'solana'],
    async run(name) {
      const payer = harness.wallet(name, 5);
      const intent = await harness.create(name);
      const hash = await harness.pay(name, payer, intent);
      await harness.pass(name);
      await harness.reach(intent.id, 'confirmed');
      await until(
        'its bytes to be kept',
        async () =>
          (await harness.cluster.database.sql.query('SELECT FROM service.signed_transactions WHERE hash = $1', [hash]))
            .rowCount === 1,
        60_000,
      );
      await (name === 'base' ? harness.base.rpc('anvil_reorg', 1, []) : harness.solana.reorg(2));
      expect(await harness.passTo(name, intent.id, 'finalized')).toMatchObject({
        txSignature: hash,
        fulfiller: payer.address,
      });
      const [types, log] = [await harness.types(intent.id), await harness.log(intent.id)];
      expect(types).toEqual(PAID);
      expect(log.slice(-3)).toMatchObject([
        { type: 'confirmation_lost', data: { hash } },
        { type: 'confirmation_restored', data: { landing: { hash } } },
        { type: 'intent.finalized', data: { hash } },
      ]);
    },
  },
  {
    what: 'is confirmed when submitted in time and landed after the expiry',
    on: NAMES,
    async run(name) {
      const payer = harness.wallet(name, 1);
      const { id, createdAt, updatedAt } = late[name].submitted;
      const ttlSeconds = Math.max(SHORTEST, Math.ceil((Date.now() - Date.parse(createdAt)) / 1000) + LEFT);
      const changed = await harness.api.update(id, { updatedAt, ttlSeconds });
      expect([changed.status, changed.body.error]).toEqual([200, undefined]);
      // A transaction built for Tempo expires with the intent; a wallet may choose a longer lifetime.
      const longer = (built: string): Promise<string> =>
        tempoWallet(harness.tempo, payer).sign(built, (transaction) => ({
          ...transaction,
          validBefore: (transaction.validBefore ?? 0) + LONGER,
        }));
      const { hash } =
        name === 'tempo' ? await harness.submit(name, id, payer, longer) : await harness.submit(name, id, payer);
      expect(await harness.reach(id, 'expired')).toMatchObject({ pendingAtExpiry: true, txSignature: hash });
      expect(await harness.passTo(name, id, 'finalized')).toMatchObject({
        pendingAtExpiry: true,
        txSignature: hash,
        fulfiller: payer.address,
      });
      const [types, log] = [await harness.types(id), await harness.log(id)];
      expect(types).toEqual([
        'intent.created',
        'intent.pending',
        'intent.expired',
        'intent.confirmed',
        'intent.late_payment',
        'intent.finalized',
      ]);
      expect(log.find(typeIs('intent.confirmed'))).toMatchObject({ data: { late: 'expired', landing: { hash } } });
    },
  },
  {
    what: 'is confirmed when made after the expiry',
    on: NAMES,
    async run(name) {
      const payer = harness.wallet(name, 2);
      const intent = late[name].unpaid;
      await harness.reach(intent.id, 'expired');
      const hash = await harness.pay(name, payer, intent);
      expect(await harness.passTo(name, intent.id, 'finalized')).toMatchObject({
        txSignature: hash,
        fulfiller: payer.address,
        pendingAtExpiry: false,
      });
      expect(await harness.types(intent.id)).toEqual([
        'intent.created',
        'intent.expired',
        'intent.confirmed',
        'intent.late_payment',
        'intent.finalized',
      ]);
    },
  },
];

async function begin(): Promise<void> {
  harness = await WatchingHarness.start();
  const both = async (name: Name) => ({
    submitted: await harness.create(name),
    unpaid: await harness.create(name, { ttlSeconds: SHORTEST }),
  });
  late = { base: await both('base'), solana: await both('solana'), tempo: await both('tempo') };
}

/** The result of each scenario by name and chain: null, or its error. */
const ended = new Map<string, Promise<unknown>>();
const nameOf = (what: string, name: Name): string => `${what} on ${name}`;
const end = ({ run }: Scenario, name: Name): Promise<unknown> =>
  run(name).then(
    () => null,
    (error: unknown) => error,
  );

beforeAll(async () => {
  await begin();
  for (const name of NAMES) harness.flows[name].start();
  for (const scenario of FLOWING)
    for (const name of scenario.on) ended.set(nameOf(scenario.what, name), end(scenario, name));
});
afterAll(async () => {
  await harness.close();
});

const each = (scenarios: readonly Scenario[]): { what: string; name: Name }[] =>
  scenarios.flatMap(({ what, on }) => on.map((name) => ({ what, name })));

describe('a payment', () => {
  it.each(each(FLOWING))('$what ($name)', async ({ what, name }) => {
    expect(await ended.get(nameOf(what, name))).toBeNull();
  });
});

describe('a payment while the chain clock is paused', () => {
  beforeAll(async () => {
    await Promise.all(ended.values());
    for (const name of NAMES) {
      await harness.flows[name].hold();
      let before: Promise<unknown> = Promise.resolve();
      for (const scenario of HELD.filter(({ on }) => on.includes(name))) {
        before = before.then(() => end(scenario, name));
        ended.set(nameOf(scenario.what, name), before);
      }
    }
  });

  it.each(each(HELD))('$what ($name)', async ({ what, name }) => {
    expect(await ended.get(nameOf(what, name))).toBeNull();
  });
});
