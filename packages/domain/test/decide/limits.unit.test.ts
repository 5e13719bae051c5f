import { describe, expect, it } from '@jest/globals';
import {
  type Address,
  CLAIMS_MAX,
  COUNTED_MAX,
  decide,
  EVENTS_MAX,
  type Input,
  type IntentId,
  Ledger,
  type PaymentIntent,
  RECORDED_BUILDS,
  REMEMBERED_MAX,
  type TransactionHash,
} from '@pf/domain';
import fc from 'fast-check';
import { type ExpectedEvent, given, type Scenario } from '../../src/testing/given.ts';
import {
  built,
  confirmed,
  created,
  expired,
  extraPayment,
  failed,
  lost,
  mismatchDisproved,
  mismatchedPayment,
  pending,
  prepared,
  refused,
  restored,
  updated,
} from '../../src/testing/events.ts';
import { about, gateway, owner, watcher } from '../../src/testing/inputs.ts';
import {
  ALICE,
  BOB,
  CAROL,
  FIRST,
  INTENT,
  REFUND,
  referenceOf,
  SECOND,
  SCENARIO_START,
  UNKNOWN,
  UNPROVEN,
} from '../../src/testing/samples.ts';

const hashOf = (n: number): TransactionHash => `0x${n.toString(16).padStart(64, '0')}` as TransactionHash;
const walletOf = (n: number): Address => `0x${(n + 1).toString(16).padStart(40, '0')}` as Address;
const times = <T>(count: number, make: (index: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const dust = (n: number) => watcher.landed(hashOf(n), { amount: 1n });
const dusted = (count: number): readonly ExpectedEvent[] =>
  times(count, (n) => mismatchedPayment(hashOf(n), { amount: 1n }, 'amount'));
const paid = [created(), prepared(FIRST), pending(FIRST), confirmed(FIRST)];
/** A history of an open intent with this many events. */
const long = (events: number): readonly ExpectedEvent[] => [
  created(),
  ...times(events - 1, (n) => updated({ metadata: { note: `${n}` } })),
];
/** A history of a paid intent with this many events. */
const longPaid = (events: number): readonly ExpectedEvent[] => [...paid, ...long(events - paid.length + 1).slice(1)];

/** A submission is prepared, broadcast and dropped. */
const EVENTS_OF_A_CLAIM = 3;

describe('a request that would append to an intent at its limit', () => {
  const update = ({ updatedAt }: PaymentIntent): Input => gateway.update({ updatedAt, metadata: { note: 'one more' } });

  it.each([
    ['an update', EVENTS_MAX.change, long, update],
    ['a simulation', EVENTS_MAX.change, long, () => gateway.simulate('pending')],
    ['a refund', EVENTS_MAX.refund, longPaid, () => gateway.refund()],
  ] as const)('is refused with the limit if it is %s', (_name, max, history, input) => {
    const before = given(...history(max - 1));
    expect(before.when(input(before.ledger.intent(INTENT) as PaymentIntent)).decision.outcome.kind).toBe('accepted');
    const at = given(...history(max));
    at.when(input(at.ledger.intent(INTENT) as PaymentIntent))
      .thenRefused('intent.limit_reached')
      .withOutcome({ details: { limit: 'events', max } });
  });

  it('is accepted where it changes nothing', () => {
    given(...long(EVENTS_MAX.change))
      .when(gateway.simulate('created'))
      .thenNothing();
  });

  it('leaves the account what payers can use up: changes beyond all that they can repeat, then refunds', () => {
    const ofPayers = RECORDED_BUILDS.other + EVENTS_OF_A_CLAIM * CLAIMS_MAX.intent + COUNTED_MAX.extra;
    expect(ofPayers).toBeLessThan(EVENTS_MAX.change);
    expect(EVENTS_MAX.change).toBeLessThan(EVENTS_MAX.refund);
  });

  it('is accepted if it is a submission: only submissions are counted for it', () => {
    given(...long(EVENTS_MAX.refund))
      .when(gateway.prepare(FIRST))
      .then(prepared(FIRST));
  });

  it('can still be ended, paid and expired', () => {
    const full = long(EVENTS_MAX.refund);
    expect(
      given(...full)
        .when(gateway.cancel())
        .intent().status,
    ).toBe('cancelled');
    expect(
      given(...full)
        .when(watcher.landedFinal(UNKNOWN))
        .intent().status,
    ).toBe('finalized');
    given(...full)
      .when(owner.expire(), SCENARIO_START + 1e9)
      .then(expired());
  });
});

describe('a build', () => {
  const buildOf = (fulfiller: Address, replaces: number | null = null) =>
    gateway.recordBuild({ fulfiller, replaces, blob: `for ${fulfiller}` });
  const ofBob = (events: number) => given(...long(events - 1), built({ fulfiller: BOB }));

  it('is recorded for another fulfiller however often one payer has built', () => {
    let scenario: Scenario = given(created());
    for (let n = 0; n < EVENTS_MAX.refund; n++)
      scenario = scenario.when(buildOf(BOB, scenario.ledger.intent(INTENT)?.build?.version));
    const { version } = scenario.ledger.intent(INTENT) as PaymentIntent;
    expect(version).toBe(RECORDED_BUILDS.again);
    scenario.when(buildOf(CAROL, version)).showing({ fulfiller: CAROL });
  });

  it('is returned without being recorded beyond the limit, so that anyone can still pay', () => {
    for (const [fulfiller, events] of [
      [BOB, RECORDED_BUILDS.again],
      [CAROL, RECORDED_BUILDS.other],
    ] as const) {
      expect(ofBob(events - 1).when(buildOf(fulfiller, events - 1)).decision.transitions).toHaveLength(1);
      const { decision } = ofBob(events).when(buildOf(fulfiller, events)).thenNothing();
      expect(decision.outcome).toMatchObject({
        kind: 'accepted',
        build: { fulfiller, transaction: { blob: `for ${fulfiller}` } },
      });
    }
  });
});

describe('submissions of one intent', () => {
  /** What a wallet tries again and again, and no node takes. */
  const tried = (sender: Address, count: number, hashes = count): readonly ExpectedEvent[] =>
    times(count, (n) => {
      const hash = hashOf(Number.parseInt(sender.slice(-6), 16) * 1_000 + (n % hashes));
      const claims = Math.floor(n / hashes) + 1;
      return [prepared(hash, { sender }, 1, claims === 1 ? undefined : claims), refused(hash)];
    }).flat();
  const byWallets = (count: number, each: number): readonly ExpectedEvent[] =>
    times(count, (n) => tried(walletOf(n), each)).flat();
  const wallets = CLAIMS_MAX.crowded.from / CLAIMS_MAX.wallet;
  const crowded = [created(), ...byWallets(wallets, CLAIMS_MAX.wallet)];
  const others = (CLAIMS_MAX.intent - CLAIMS_MAX.crowded.from) / CLAIMS_MAX.crowded.wallet;
  const full = [...crowded, ...times(others, (n) => tried(walletOf(wallets + n), CLAIMS_MAX.crowded.wallet)).flat()];

  it.each([
    ['different transactions', CLAIMS_MAX.wallet],
    ['one transaction', 1],
  ])('are limited for a wallet that submits %s, and not for others', (_what, hashes) => {
    given(created(), ...tried(BOB, CLAIMS_MAX.wallet, hashes))
      .when(gateway.prepare(FIRST, { sender: BOB }))
      .thenRefused('intent.limit_reached')
      .withOutcome({ details: { limit: 'submissions', max: CLAIMS_MAX.wallet } })
      .when(gateway.prepare(SECOND, { sender: CAROL }))
      .then(prepared(SECOND, { sender: CAROL }));
  });

  it('are counted when a released transaction is submitted again, and when it replaces another', () => {
    given(created(), prepared(FIRST), refused(FIRST))
      .when(gateway.prepare(FIRST))
      .then(prepared(FIRST, {}, 1, 2))
      .when(gateway.prepare(SECOND))
      .then(prepared(SECOND, {}, 2, 1))
      .when(gateway.prepare(SECOND))
      .then(prepared(SECOND, {}, 3, 2));
  });

  it('are counted by attempts where an earlier version has not counted them', () => {
    const before = times(CLAIMS_MAX.wallet, (n) => prepared(FIRST, {}, n + 1));
    given(created(), ...before, refused(FIRST))
      .when(gateway.prepare(SECOND))
      .thenRefused('intent.limit_reached');
  });

  it('leave a wallet some room however often a few others have submitted', () => {
    let scenario: Scenario = given(...crowded);
    for (let n = 0; n < CLAIMS_MAX.crowded.wallet; n++)
      scenario = scenario
        .when(gateway.prepare(hashOf(n), { sender: CAROL }))
        .then(prepared(hashOf(n), { sender: CAROL }))
        .when(gateway.release(hashOf(n)))
        .then(refused(hashOf(n)));
    scenario
      .when(gateway.prepare(FIRST, { sender: CAROL }))
      .thenRefused('intent.limit_reached')
      .withOutcome({ details: { limit: 'submissions', max: CLAIMS_MAX.crowded.wallet } });
  });

  it('are limited for all wallets together, and a payment is recorded beyond', () => {
    given(...full)
      .when(gateway.prepare(FIRST, { sender: CAROL }))
      .thenRefused('intent.limit_reached')
      .withOutcome({ details: { limit: 'submissions', max: CLAIMS_MAX.intent } })
      .when(watcher.landed(FIRST, { from: CAROL }))
      .then(pending(FIRST, { fulfiller: CAROL }), confirmed(FIRST, { from: CAROL }));
  });

  it('are accepted beyond the limit if they submit the live transaction again, which then cannot be released', () => {
    given(created(), ...tried(BOB, CLAIMS_MAX.wallet - 1), prepared(FIRST))
      .when(gateway.prepare(FIRST))
      .thenNothing()
      .withOutcome({ attempts: 2 });
  });

  it('are refused as in progress, not at the limit, if they would replace the live transaction', () => {
    given(created(), ...tried(BOB, CLAIMS_MAX.wallet - 1), prepared(FIRST, { nonce: '7' }))
      .when(gateway.prepare(SECOND, { nonce: '7' }))
      .thenRefused('intent.submission_in_progress');
  });
});

describe('unexpected transfers', () => {
  it.each([
    ['dust', COUNTED_MAX.dust, 124_999n],
    ['real amounts', COUNTED_MAX.mismatched, 125_000n],
  ])('are recorded once each, and passed over beyond the limit of %s', (_what, max, amount) => {
    const other = (n: number) => watcher.landed(hashOf(n), { amount });
    given(created(), ...dusted(max - 1))
      .when(other(max))
      .then(mismatchedPayment(hashOf(max), { amount }, 'amount'))
      .when(other(max))
      .thenNothing()
      .when(other(max + 1))
      .thenNothing();
  });

  it('are told of however much went to others with the reference before', () => {
    let scenario: Scenario = given(created());
    for (let n = 0; n < 200; n++)
      scenario = scenario.when(watcher.landed(hashOf(n), { to: CAROL, amount: 12_400_000n }));
    scenario
      .when(watcher.landed(FIRST, { amount: 12_490_000n }))
      .then(mismatchedPayment(FIRST, { amount: 12_490_000n }, 'amount'));
  });

  it('are told of however much dust came before', () => {
    let scenario: Scenario = given(created());
    for (let n = 0; n < 1_000; n++) scenario = scenario.when(dust(n));
    scenario
      .when(watcher.landed(FIRST, { amount: 12_490_000n }))
      .then(mismatchedPayment(FIRST, { amount: 12_490_000n }, 'amount'));
  });

  it('do not keep a payment from settling, nor an extra payment from being recorded', () => {
    given(created(), ...dusted(COUNTED_MAX.mismatched))
      .when(watcher.landed(FIRST))
      .then(pending(FIRST), confirmed(FIRST))
      .when(watcher.landed(SECOND))
      .then(extraPayment(SECOND))
      .when(watcher.landed(SECOND))
      .thenNothing();
  });

  it('end a live submission beyond the limit too', () => {
    given(created(), ...dusted(COUNTED_MAX.mismatched), prepared(FIRST), pending(FIRST))
      .when(watcher.landed(FIRST, { amount: 1n }))
      .then(
        mismatchedPayment(FIRST, { amount: 1n }, 'amount'),
        failed(FIRST, 'The transaction landed with another amount.'),
      );
  });

  it('restore a lost payment if they have its terms, although they were passed over before', () => {
    const extras = times(COUNTED_MAX.extra - 1, (n) => extraPayment(hashOf(n), { block: 200n }));
    given(...paid, ...extras)
      .when(watcher.landed(SECOND, { block: 200n }))
      .thenNothing()
      .when(watcher.lost(FIRST))
      .then(lost(FIRST))
      .when(watcher.landed(SECOND, { block: 200n }))
      .then(restored(SECOND, { block: 200n }));
  });

  it('use up room where their reports were withdrawn as they carry another reference', () => {
    const others = { reference: referenceOf(REFUND) };
    const withdrawn = times(COUNTED_MAX.mismatched, (n) => [
      mismatchedPayment(hashOf(n), UNPROVEN, 'reference'),
      mismatchDisproved(hashOf(n), others),
    ]).flat();
    given(created(), ...withdrawn)
      .when(watcher.landed(UNKNOWN, UNPROVEN))
      .thenNothing()
      .when(watcher.landed(UNKNOWN))
      .then(pending(UNKNOWN), confirmed(UNKNOWN));
  });

  it('are remembered up to a bound, the newest ones, where reorgs have undone them', () => {
    const each = COUNTED_MAX.extra;
    const extras = (round: number) => times(each, (n) => extraPayment(hashOf(round * each + n), { block: 200n }));
    const rounds = REMEMBERED_MAX / each;
    const undone = times(rounds, (round) => [...extras(round), lost(FIRST), restored(FIRST)]).flat();
    given(...paid, ...undone, ...extras(rounds))
      .when(watcher.lost(FIRST))
      .then(lost(FIRST))
      .knowing({ undoneExtras: times(REMEMBERED_MAX, (n) => hashOf(each + n)) });
  });

  it('fold in linear time and bounded space where an older version recorded 20,000 of them', () => {
    const began = performance.now();
    const intent = given(created(), ...dusted(20_000)).ledger.intent(INTENT);
    expect(intent?.version).toBe(20_001);
    expect(intent?.transfers).toHaveLength(REMEMBERED_MAX);
    // 40 s before there was a limit; well under a second on an idle machine.
    expect(performance.now() - began).toBeLessThan(20_000);
  });
});

/** One input of a round, with what distinguishes it: the round's number makes hashes and payers fresh. */
type Move = (intent: PaymentIntent, fresh: number) => Input;
const right = ({ tokenAddress, requestor, amountBaseUnits, reference, direction }: PaymentIntent) => ({
  tokenAddress,
  from: direction === 'send' ? ALICE : BOB,
  to: requestor,
  amount: amountBaseUnits,
  reference,
});
const liveHash = ({ submissions, txSignature }: PaymentIntent): TransactionHash =>
  submissions.find(({ status }) => status === 'live')?.hash ?? txSignature ?? FIRST;
const claim = (
  intent: PaymentIntent,
  hash: TransactionHash,
  nonce: string | null,
  sender: Address = right(intent).from,
): Input =>
  gateway.prepare(hash, {
    sender,
    nonce,
    terms: {
      chain: intent.chain,
      tokenAddress: intent.tokenAddress,
      amount: intent.amountBaseUnits,
      requestor: intent.requestor,
      reference: intent.reference,
    },
  });
const MOVES: Readonly<Record<string, Move>> = {
  update: ({ updatedAt }, fresh) =>
    gateway.update({ updatedAt, metadata: { [`key${fresh % 20}`]: `${'é'.repeat(499)}${fresh % 7}` } }),
  detect: () => gateway.detect(),
  build: (intent, fresh) =>
    gateway.recordBuild({
      fulfiller: intent.direction === 'send' ? ALICE : ([BOB, CAROL][fresh % 2] as Address),
      replaces: intent.build?.version ?? null,
      blob: 'b'.repeat(2_000),
    }),
  prepare: (intent, fresh) => claim(intent, hashOf(fresh), null),
  prepareByAnother: (intent, fresh) => claim(intent, hashOf(fresh), null, walletOf(fresh)),
  replace: (intent, fresh) => claim(intent, hashOf(fresh), '7'),
  repeat: (intent) => claim(intent, liveHash(intent), '7'),
  broadcast: (intent) => gateway.recordBroadcast(liveHash(intent)),
  release: (intent) => gateway.release(liveHash(intent)),
  cancel: () => gateway.cancel(),
  refund: (_intent, fresh) => gateway.refund(`pi_refund${fresh}` as IntentId),
  toPending: () => gateway.simulate('pending'),
  toCreated: () => gateway.simulate('created'),
  land: (intent) => watcher.landed(liveHash(intent), right(intent)),
  landFresh: (intent, fresh) => watcher.landed(hashOf(fresh), right(intent)),
  landUnproven: (intent, fresh) => watcher.landed(hashOf(fresh), { ...right(intent), ...UNPROVEN }),
  prove: (intent, fresh) => watcher.landed(hashOf(fresh - 1), right(intent)),
  landFinal: (intent, fresh) => watcher.landedFinal(hashOf(fresh), right(intent)),
  dust: (intent, fresh) => watcher.landed(hashOf(fresh), { ...right(intent), amount: 1n }),
  dustBatch: (intent, fresh) => watcher.landed(hashOf(7), { ...right(intent), amount: 1n, index: `${fresh}` }),
  revert: (intent) => watcher.reverted(liveHash(intent)),
  drop: (intent) => watcher.dropped(liveHash(intent)),
  lose: (intent) => watcher.lost(intent.settlement?.hash ?? FIRST),
  dropLost: (intent) => watcher.dropped(intent.settlement?.hash ?? FIRST),
};

/** No client and no stranger can make an intent larger: only reorganizations of its payment add events beyond this. */
const MOST_EVENTS =
  EVENTS_MAX.refund + COUNTED_MAX.extra + COUNTED_MAX.mismatched + EVENTS_OF_A_CLAIM * CLAIMS_MAX.intent;
const MOST_EVENTS_A_REORG = 8;
const MOST_BYTES = 512 * 1024;
const sizeOf = (intent: PaymentIntent): number =>
  Buffer.byteLength(
    JSON.stringify(intent, (_key, value: unknown) => (typeof value === 'bigint' ? value.toString() : value)),
  );

/** Cycles that grew without end before there were limits. `intent`: 0 is the first, 1 the newest, 2 both in turn. */
const GROWTHS = [
  [{ moves: ['update'], intent: 0 }],
  [{ moves: ['build'], intent: 0 }],
  [{ moves: ['prepare', 'release'], intent: 0 }],
  [{ moves: ['prepareByAnother', 'release'], intent: 0 }],
  [{ moves: ['prepareByAnother', 'broadcast', 'drop'], intent: 0 }],
  [{ moves: ['replace'], intent: 0 }],
  [{ moves: ['replace', 'repeat', 'repeat'], intent: 0 }],
  [{ moves: ['prepare', 'broadcast', 'drop'], intent: 0 }],
  [{ moves: ['toPending', 'toCreated'], intent: 0 }],
  [
    { moves: ['landFresh'], intent: 0 },
    { moves: ['refund', 'cancel'], intent: 2 },
  ],
  [{ moves: ['dust'], intent: 0 }],
  [{ moves: ['dustBatch'], intent: 0 }],
  [{ moves: ['landFresh'], intent: 0 }],
  [{ moves: ['toPending', 'landFresh'], intent: 0 }],
  [{ moves: ['land', 'lose', 'dropLost'], intent: 0 }],
];

describe('an intent', () => {
  it('stays within its bounds, whatever is repeated in whatever order', () => {
    const names = Object.keys(MOVES);
    const rounds = fc.array(
      fc.record({ moves: fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 6 }), intent: fc.nat(2) }),
      { minLength: 1, maxLength: 3 },
    );
    let largest = 0;
    fc.assert(
      fc.property(rounds, (plan) => {
        const ledger = new Ledger();
        const events = new Map<IntentId, number>();
        const reorgs = new Map<IntentId, number>();
        let now = SCENARIO_START;
        let fresh = 1_000;
        const run = (input: Input): void => {
          for (const { event } of decide(input, now, ledger).transitions) {
            ledger.apply(event);
            const count = (of: Map<IntentId, number>) => of.set(event.intentId, (of.get(event.intentId) ?? 0) + 1);
            count(events);
            if (event.type === 'confirmation_lost') count(reorgs);
          }
        };
        run(gateway.create());
        for (const { moves, intent: choice } of plan) {
          // A cycle that grows without end has passed every limit after so many inputs.
          for (let input = 0; input < 3_000; input++) {
            now += 1;
            fresh += 1;
            const intents = [...ledger.intents()];
            const last = choice === 0 ? 0 : intents.length - 1;
            const intent = choice === 2 && input % 2 === 0 ? intents[0] : intents[last];
            const move = MOVES[moves[input % moves.length] ?? ''];
            if (intent !== undefined && move !== undefined) run(about(intent.id, move(intent, fresh)));
          }
        }
        for (const intent of ledger.intents()) {
          const of = reorgs.get(intent.id) ?? 0;
          // A reorganization of a refund also moves its original.
          const ofItsRefund = ([id, count]: [IntentId, number]): number =>
            ledger.intent(id)?.refundOf === intent.id ? count : 0;
          const beside = [...reorgs].reduce((sum, entry) => sum + ofItsRefund(entry), 0);
          expect(events.get(intent.id)).toBe(intent.version);
          expect(intent.version).toBeLessThanOrEqual(MOST_EVENTS + MOST_EVENTS_A_REORG * (of + beside));
          largest = Math.max(largest, sizeOf(intent));
        }
        expect(largest).toBeLessThanOrEqual(MOST_BYTES);
      }),
      { numRuns: 40, examples: GROWTHS.map((plan) => [plan]) },
    );
  });
});
