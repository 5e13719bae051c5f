import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { compareProjection, readWholeLog, until } from '@pf/testing';
import { evmWallet, tempoWallet, walletOn } from '@pf/testing/wallets';
import { sendRaw, usedUp } from '../odd-payments.ts';
import { KILLS, type Kill, killGateways, fundPayers } from './kills.ts';
import { type Name, NAMES } from '../chain-names.ts';
import { isBusy, SENDS, type Signed, SubmittingHarness, UNITS } from './harness.ts';

let harness: SubmittingHarness;
let payers: Awaited<ReturnType<typeof fundPayers>>;

interface Scenario {
  readonly what: string;
  readonly on: readonly Name[];
  readonly run: (name: Name) => Promise<void>;
}

/** Seconds: longer than any transaction that is built for Tempo can land. */
const FIVE_MINUTES = 300;
const ACCEPTED = { status: 200, code: undefined };
const CLAIMED = { status: 409, code: 'intent.submission_in_progress' };

/**
 * The first upstream forwards transactions but never responds; the second, tried next, does not respond to anything.
 */
function swallow(name: Name): void {
  const [first, second] = harness.upstreams[name];
  first.faults = [{ kind: 'swallow', methods: SENDS }];
  second.faults = [{ kind: 'hang' }];
}
const heal = (name: Name): void =>
  harness.upstreams[name].forEach((upstream) => {
    upstream.faults = [];
    upstream.respond = () => undefined;
  });

/** Submits while no upstream responds: the intent is claimed, and whether a node has the transaction is unknown. */
async function submitInDoubt(payment: Signed): Promise<void> {
  const response = await until('a claim', async () => {
    const submitted = await harness.submitOnce(harness.shaky, payment);
    // A 503 without a hash has claimed nothing: the service is busy.
    return (submitted.status !== 503 || submitted.txSignature !== undefined) && submitted;
  });
  expect(response).toMatchObject({ status: 503, code: 'rpc.unavailable', txSignature: payment.hash });
}

/** While a signed transaction can land, no other payer may sign one, and its payer gets the same bytes again. */
async function expectClaimed({ id, payer, blob }: Signed, rivalPayment: Signed): Promise<void> {
  expect(await harness.submit(harness.api, rivalPayment)).toMatchObject(CLAIMED);
  const refused = await harness.api.build(id, rivalPayment.payer.address);
  expect([refused.status, refused.body.error?.code]).toEqual([409, 'intent.submission_in_progress']);
  expect((await harness.api.cancel(id)).body.error?.code).toBe('intent.submission_in_progress');
  expect((await harness.api.build(id, payer.address)).body.transaction.blob).toBe(blob);
  expect(await harness.shown(id)).toMatchObject({ state: 'created', retryRequired: false });
  expect(await harness.isKnown(rivalPayment)).toBe(false);
}

/** These run in parallel while blocks are produced. */
const FLOWING: readonly Scenario[] = [
  {
    what: 'accepts one of two payers at two gateways; the other gets a 409 and never reaches the chain',
    on: NAMES,
    async run(name) {
      const intent = await harness.create(name);
      const payments = [
        await harness.sign(intent, harness.walletOf(name, 1)),
        await harness.sign(intent, harness.walletOf(name, 2)),
      ] as const;
      const responses = await Promise.all(
        payments.flatMap((payment) => [harness.api, harness.shaky].map((api) => harness.submit(api, payment))),
      );
      expect(responses.map(({ status }) => status).sort()).toEqual([200, 200, 409, 409]);
      const [winner, loser] = responses[0]?.status === 200 ? payments : [payments[1], payments[0]];
      for (const { code } of responses)
        if (code !== undefined) expect(['intent.submission_in_progress', 'intent.already_fulfilled']).toContain(code);
      expect(new Set(responses.map(({ txSignature }) => txSignature))).toEqual(new Set([winner.hash, undefined]));
      await harness.reach(intent.id, 'finalized');
      await harness.expectPaidOnce(winner);
      expect(await harness.submit(harness.api, loser)).toMatchObject({ status: 409, code: 'intent.already_fulfilled' });
      expect(await harness.isKnown(loser)).toBe(false);
    },
  },
  ...[{}, { idempotencyKey: 'order 7' }].map((more): Scenario => ({
    what:
      'pays once when the same bytes are sent many times at once and later ' +
      `(${'idempotencyKey' in more ? 'with' : 'without'} ` +
      'idempotency keys)',
    on: NAMES,
    async run(name) {
      const key = 'idempotencyKey' in more ? { idempotencyKey: `${more.idempotencyKey} on ${name}` } : {};
      // Submit ignores an idempotency key: the transaction's hash is its key.
      const headers = 'idempotencyKey' in key ? { 'idempotency-key': key.idempotencyKey } : {};
      const payment = await harness.sign(
        await harness.create(name, key),
        harness.walletOf(name, 'idempotencyKey' in key ? 3 : 4),
      );
      const responses = await Promise.all(
        [harness.api, harness.shaky, harness.api, harness.shaky].map((api) =>
          harness.submit(api, payment, payment.bytes, headers),
        ),
      );
      for (const response of responses) expect(response).toMatchObject({ ...ACCEPTED, txSignature: payment.hash });
      await harness.reach(payment.id, 'finalized');
      for (const api of [harness.api, harness.shaky])
        expect(await harness.submit(api, payment, payment.bytes, headers)).toEqual({
          ...ACCEPTED,
          state: 'finalized',
          txSignature: payment.hash,
        });
      await harness.expectPaidOnce(payment);
      expect((await harness.stored(payment.id)).submissions).toHaveLength(1);
    },
  })),
];

/** These run one after the other on a chain, since each produces its blocks itself; the chains run in parallel. */
const HELD: readonly Scenario[] = [
  {
    what: 'claims by a wallet’s hash once the node shows it, but not by an unknown hash or another payment',
    on: NAMES,
    async run(name) {
      const [payer, rival] = [harness.walletOf(name, 5), harness.walletOf(name, 6)];
      const wallet = walletOn(harness.chains[name], payer);
      const intent = await harness.create(name);
      const payment = await harness.sign(intent, payer);
      const rivalPayment = await harness.sign(intent, rival);
      const otherPayment = await harness.signedBy(name, payer);
      // Signed, but sent to no node.
      expect(await harness.submit(harness.api, payment, payment.hash)).toMatchObject({
        status: 503,
        code: 'transaction.not_visible',
      });
      expect((await harness.stored(intent.id)).submissions).toEqual([]);

      expect(await wallet.send(payment.blob)).toBe(payment.hash);
      if (name === 'solana') {
        const early = await harness.submit(harness.api, payment, payment.hash);
        // Solana nodes show a transaction once its block is confirmed; until then nothing is claimed.
        expect(early).toMatchObject({ status: 503, code: 'transaction.not_visible' });
        expect((await harness.stored(intent.id)).submissions).toEqual([]);
      } else {
        // That no node has shown it is remembered for some seconds.
        const shown = await until('the hash to be looked for again', async () => {
          const response = await harness.submit(harness.api, payment, payment.hash);
          return response.status !== 503 && response;
        });
        expect(shown).toEqual({ ...ACCEPTED, state: 'pending', txSignature: payment.hash });
        expect(await harness.submit(harness.api, rivalPayment)).toMatchObject({
          status: 409,
          code: 'intent.already_fulfilled',
        });
      }
      await harness.pass(name);
      const landed = await until('the node to show it', async () => {
        const response = await harness.submit(harness.api, payment, payment.hash);
        return response.status !== 503 && response;
      });
      expect(landed).toMatchObject({ ...ACCEPTED, txSignature: payment.hash });

      // The transaction has landed, but it pays another intent, or another wallet signed it.
      for (const [what, differs] of [
        [otherPayment, 'reference'],
        [{ ...otherPayment, payer: rival }, 'sender'],
      ] as const) {
        const { status, body } = await until('the hash to be looked for again', async () => {
          const response = await harness.api.submit(what.id, payment.hash, what.payer.address);
          return response.status !== 503 && response;
        });
        expect([status, body.error?.code, Object.keys(body.error?.details ?? {})]).toEqual([
          422,
          'transaction.mismatch',
          expect.arrayContaining([differs]),
        ]);
      }
      expect((await harness.stored(otherPayment.id)).submissions).toEqual([]);
      await harness.passUntil(name, intent.id, 'finalized');
      await harness.expectPaidOnce(payment);
      expect(await harness.submit(harness.api, payment, payment.hash)).toEqual({
        ...ACCEPTED,
        state: 'finalized',
        txSignature: payment.hash,
      });
      expect(await harness.isKnown(rivalPayment)).toBe(false);
    },
  },
  {
    what: 'follows by its hash what a wallet has made itself, once it is in a block',
    on: ['tempo'],
    async run(name) {
      const payer = harness.walletOf(name, 8);
      const { id, merchant, reference } = await harness.create(name);
      const { tempo } = harness.chains;
      const hash = await tempoWallet(tempo, payer).transfer(
        harness.usdcOn(name),
        merchant.address,
        UNITS,
        reference as `0x${string}`,
      );
      const submit = () => harness.api.submit(id, hash, payer.address);
      expect(await submit()).toMatchObject({ status: 503, body: { error: { code: 'transaction.not_visible' } } });
      expect((await harness.stored(id)).submissions).toEqual([]);
      await harness.pass(name);
      const landed = await until('the hash to be looked for again', async () => {
        const response = await submit();
        return response.status !== 503 && response;
      });
      expect(landed).toMatchObject({ status: 200, body: { txSignature: hash } });
      await harness.passUntil(name, id, 'finalized');
      expect(await submit()).toMatchObject({
        status: 200,
        body: { intent: { state: 'finalized' }, txSignature: hash },
      });
    },
  },
  {
    what: 'asks for no other signature while a transaction without a response can land, and is confirmed',
    on: NAMES,
    async run(name) {
      const [payer, rival] = [harness.walletOf(name, 7), harness.walletOf(name, 6)];
      const intent = await harness.create(name);
      const rivalPayment = await harness.sign(intent, rival);
      const payment = await harness.sign(intent, payer);
      swallow(name);
      await submitInDoubt(payment);
      heal(name);
      expect(await harness.isKnown(payment)).toBe(true);
      await expectClaimed(payment, rivalPayment);
      await harness.passUntil(name, intent.id, 'finalized');
      await harness.expectPaidOnce(payment);
      expect(await harness.isKnown(rivalPayment)).toBe(false);
    },
  },
  {
    what: 'keeps its claim when the node refuses a second signature with the same nonce',
    on: ['base', 'tempo'],
    async run(name) {
      const [payer, rival] = [harness.walletOf(name, 7), harness.walletOf(name, 6)];
      const intent = await harness.create(name);
      const rivalPayment = await harness.sign(intent, rival);
      const first = await harness.sign(intent, payer);
      const cheaper = <T extends { readonly maxFeePerGas?: bigint | undefined }>(transaction: T): T => ({
        ...transaction,
        maxFeePerGas: (transaction.maxFeePerGas ?? 0n) - 1n,
      });
      const signing =
        name === 'base'
          ? evmWallet(harness.chains.base, payer).sign(first.blob, cheaper)
          : tempoWallet(harness.chains.tempo, payer).sign(first.blob, cheaper);
      const second = harness.signedAs(intent, payer, first.blob, await signing);
      expect(second.hash).not.toBe(first.hash);
      swallow(name);
      await submitInDoubt(first);
      heal(name);
      // Base's node refuses it by itself; the local Tempo would keep both and let only one land.
      if (name === 'tempo')
        for (const upstream of harness.upstreams[name])
          upstream.faults = [{ kind: 'refuse', methods: SENDS, reason: 'replacement transaction underpriced' }];
      await submitInDoubt(second);
      heal(name);
      await expectClaimed(first, rivalPayment);
      await harness.passUntil(name, intent.id, 'finalized');
      await harness.expectPaidOnce(first);
      expect([await harness.isKnown(second), await harness.isKnown(rivalPayment)]).toEqual([false, false]);
    },
  },
  {
    what: 'releases its claim when every upstream refuses it as too late, and another payer pays',
    on: ['solana', 'tempo'],
    async run(name) {
      const [payer, rival] = [harness.walletOf(name, 5), harness.walletOf(name, 6)];
      const invalidate = async (): Promise<void> => {
        if (name === 'solana') await harness.chains.solana.expire();
        else await harness.chains.tempo.rpc('evm_increaseTime', FIVE_MINUTES);
        await harness.pass(name);
      };
      // An upstream that is too slow on a busy machine has refused nothing: then again, with another intent.
      const { intent, payment, status, body } = await until('every upstream to respond in time', async () => {
        const intent = await harness.create(name);
        const payment = await harness.sign(intent, payer);
        // Between the claim and the broadcast.
        let invalidated: Promise<void> | undefined;
        const isClaimed = async (): Promise<boolean> => (await harness.stored(intent.id)).submissions.length > 0;
        for (const upstream of harness.upstreams[name])
          upstream.respond = async ({ method }) => {
            if (SENDS.includes(method) || (method === 'isBlockhashValid' && (await isClaimed())))
              await (invalidated ??= invalidate());
            return undefined;
          };
        const response = await harness.shaky.submit(intent.id, payment.bytes, payer.address);
        heal(name);
        if (isBusy(response)) return false;
        expect(invalidated).toBeDefined();
        return { intent, payment, ...response };
      });
      expect([status, body.error?.code, body.error?.details?.['intent_id']]).toEqual([
        422,
        'transaction.rejected',
        intent.id,
      ]);
      expect(await harness.isKnown(payment)).toBe(false);
      expect((await harness.stored(intent.id)).submissions).toMatchObject([
        { hash: payment.hash, status: 'released', attempts: 1 },
      ]);
      const rivalPayment = await harness.sign(intent, rival);
      expect(await harness.submit(harness.api, rivalPayment)).toEqual({
        ...ACCEPTED,
        state: 'pending',
        txSignature: rivalPayment.hash,
      });
      await harness.passUntil(name, intent.id, 'finalized');
      await harness.expectPaidOnce(rivalPayment);
    },
  },
  {
    what: 'keeps its claim while a used nonce may be its own, until a safe block proves that it is not',
    on: ['base'],
    async run(name) {
      const [payer, rival] = [harness.walletOf(name, 5), harness.walletOf(name, 6)];
      const intent = await harness.create(name);
      const rivalPayment = await harness.sign(intent, rival);
      const payment = await harness.sign(intent, payer);
      const { base } = harness.chains;
      // Between the claim and the broadcast: the node says “nonce too low”, as it would if this payment had landed.
      let used: Promise<unknown> | undefined;
      const useNonce = async (): Promise<void> => {
        await sendRaw(base, await usedUp.base(base, payer, payment.blob));
        await harness.pass(name);
      };
      for (const upstream of harness.upstreams[name])
        upstream.respond = async ({ method }) => {
          if (SENDS.includes(method)) await (used ??= useNonce());
          return undefined;
        };
      await submitInDoubt(payment);
      heal(name);
      expect(used).toBeDefined();
      expect(await harness.isKnown(payment)).toBe(false);
      expect(await harness.submit(harness.api, rivalPayment)).toMatchObject(CLAIMED);
      const paid = await until('the claim to end', async () => {
        await harness.pass(name);
        const response = await harness.submit(harness.api, rivalPayment);
        return response.status !== CLAIMED.status && response;
      });
      expect(paid).toEqual({ ...ACCEPTED, state: 'pending', txSignature: rivalPayment.hash });
      expect((await harness.stored(intent.id)).submissions).toMatchObject([
        { hash: payment.hash, status: 'dropped', attempts: 1 },
        { hash: rivalPayment.hash },
      ]);
      await harness.passUntil(name, intent.id, 'finalized');
      await harness.expectPaidOnce(rivalPayment);
    },
  },
];

/** The result of each scenario by name and chain: null, or its error. */
const ended = new Map<string, Promise<unknown>>();
const nameOf = (what: string, name: Name): string => `${what} on ${name}`;
const settled = (work: Promise<void>): Promise<unknown> =>
  work.then(
    () => null,
    (error: unknown) => error,
  );
const each = (scenarios: readonly Pick<Scenario, 'what' | 'on'>[]): { what: string; name: Name }[] =>
  scenarios.flatMap(({ what, on }) => on.map((name) => ({ what, name })));

beforeAll(async () => {
  harness = await SubmittingHarness.open();
  for (const name of NAMES) harness.flows[name].start();
  for (const { what, on, run } of FLOWING) for (const name of on) ended.set(nameOf(what, name), settled(run(name)));
  payers = await fundPayers(harness);
}, 120_000);
afterAll(() => harness.close());

describe('a submit', () => {
  it.each(each(FLOWING))('$what ($name)', async ({ what, name }) => {
    expect(await ended.get(nameOf(what, name))).toBeNull();
  });
});

describe('a submit while the chain clock is paused', () => {
  beforeAll(async () => {
    await Promise.all(ended.values());
    for (const name of NAMES) {
      await harness.flows[name].hold();
      let before: Promise<unknown> = Promise.resolve();
      for (const { what, on, run } of HELD) {
        if (!on.includes(name)) continue;
        before = before.then(() => settled(run(name))).finally(() => heal(name));
        ended.set(nameOf(what, name), before);
      }
    }
  });

  it.each(each(HELD))('$what ($name)', async ({ what, name }) => {
    expect(await ended.get(nameOf(what, name))).toBeNull();
  });
});

describe('a submit whose gateway is killed', () => {
  let kills: ReadonlyMap<
    Kill,
    { readonly reached: Promise<unknown>; readonly results: ReadonlyMap<string, Promise<unknown>> }
  >;
  beforeAll(async () => {
    await Promise.all(ended.values());
    for (const name of NAMES) harness.flows[name].start();
    kills = await killGateways(harness, payers);
  });

  it.each(
    KILLS.flatMap((kill) =>
      each([{ what: kill.what, on: NAMES }]).flatMap(({ name }) =>
        [true, false].map((again) => ({
          kill,
          what: kill.what,
          name,
          then: again ? 'its client submits again elsewhere' : 'no client submits again',
          key: `${name} ${String(again)}`,
        })),
      ),
    ),
  )('ends in the state of the chain $what, and $then ($name)', async ({ kill, key }) => {
    expect(await kills.get(kill)?.reached).toBeNull();
    expect(await kills.get(kill)?.results.get(key)).toBeNull();
  });
});

describe('all submits together', () => {
  it('leave a consistent log, whose fold equals the projection', async () => {
    const problems = await until('the projection to follow', async () => {
      const contents = await readWholeLog(harness.cluster);
      expect(await compareProjection(harness.cluster.database, contents.intents)).toEqual([]);
      return contents.problems;
    });
    expect(problems).toEqual([]);
  });
});
