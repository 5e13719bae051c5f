import type {
  Outcome,
  Input,
  Instant,
  IntentStatus,
  PaymentIntent,
  PreparedTransaction,
  RefusalCode,
} from '@pf/domain';
import { COUNTED_MAX, IDEMPOTENCY_WINDOW_MS, INTENT_STATUSES } from '@pf/domain';
import type { ExpectedEvent } from '../../src/testing/given.ts';
import * as events from '../../src/testing/events.ts';
import { about, gateway } from '../../src/testing/inputs.ts';
import {
  ALICE,
  BASE_SEPOLIA,
  BOB,
  CAROL,
  EURC,
  FIRST,
  INTENT,
  REFERENCE,
  REFUND,
  SECOND,
  SCENARIO_START,
  SUCCESSOR,
  UNKNOWN,
  UNPROVEN,
  USDC,
} from '../../src/testing/samples.ts';

/** One outcome of a cell. Without `then` and `refused` nothing changes. */
export interface Case {
  /** The condition that tells it from the other cases of its cell: the clause after “if”. Absent: otherwise. */
  readonly if?: string;
  /** The events before, where they are not the usual history of the state. */
  readonly given?: readonly ExpectedEvent[];
  /** The input, where it is not the row's. */
  readonly when?: Input | ((intent: PaymentIntent) => Input);
  readonly at?: Instant;
  readonly then?: readonly ExpectedEvent[];
  readonly refused?: RefusalCode;
  readonly outcome?: Partial<Extract<Outcome, { kind: 'accepted' }>>;
}

/** What one input does in each state. */
export interface Row {
  readonly name: string;
  readonly when: Input;
  readonly cells: Readonly<Record<IntentStatus, readonly Case[]>>;
}

/** The usual history of an intent in each state. */
export const HISTORY: Readonly<Record<IntentStatus, readonly ExpectedEvent[]>> = {
  created: [events.created()],
  pending: [events.created(), events.prepared(FIRST), events.pending(FIRST)],
  confirmed: [events.created(), events.prepared(FIRST), events.pending(FIRST), events.confirmed(FIRST)],
  finalized: [
    events.created(),
    events.prepared(FIRST),
    events.pending(FIRST),
    events.confirmed(FIRST),
    events.finalized(FIRST),
  ],
  expired: [events.created(), events.expired()],
  failed: [events.created(), events.prepared(FIRST), events.pending(FIRST), events.failed(FIRST)],
  cancelled: [events.created(), events.cancelled()],
};

/** The same cell in several states. */
const alike = <State extends IntentStatus>(
  states: readonly State[],
  cell: (state: State) => readonly Case[],
): Record<State, readonly Case[]> =>
  Object.fromEntries(states.map((state) => [state, cell(state)])) as Record<State, readonly Case[]>;
const refused = (code: RefusalCode): readonly Case[] => [{ refused: code }];

const PAID = ['pending', 'confirmed', 'finalized'] as const;
const NOT_CREATED = [...PAID, 'expired', 'failed', 'cancelled'] as const;
const live = [events.created(), events.prepared(FIRST)];
const full = Array.from({ length: COUNTED_MAX.mismatched }, (_, n) =>
  events.mismatchedPayment(UNKNOWN, { amount: 1n, index: `${n + 100}` }, 'amount'),
);
const builtOnce = [events.created(), events.built()];
const sentByCarol = [...builtOnce, events.prepared(FIRST, { sender: CAROL })];

const withKey = (state: IntentStatus): readonly ExpectedEvent[] => [
  events.created({ idempotencyKey: 'order 7' }),
  ...HISTORY[state].slice(1),
];
const createAnother = about(SUCCESSOR, gateway.create());
const createAnotherWithKey = about(SUCCESSOR, gateway.create({ idempotencyKey: 'order 7' }));
const create = (state: IntentStatus): readonly Case[] => [
  {
    if: 'the id is new',
    when: createAnother,
    then: [events.of(SUCCESSOR, events.created())],
    outcome: { intentId: SUCCESSOR, replayed: false },
  },
  {
    if: 'the idempotency key was used less than 24 hours ago',
    given: withKey(state),
    when: createAnotherWithKey,
    outcome: { intentId: INTENT, replayed: true },
  },
  {
    if: 'the idempotency key was used 24 hours ago',
    given: withKey(state),
    when: createAnotherWithKey,
    at: SCENARIO_START + IDEMPOTENCY_WINDOW_MS,
    then: [events.of(SUCCESSOR, events.created({ idempotencyKey: 'order 7' }))],
    outcome: { intentId: SUCCESSOR, replayed: false },
  },
];

const patch = (data: Omit<Parameters<typeof gateway.update>[0], 'updatedAt'>) => (intent: PaymentIntent) =>
  gateway.update({ updatedAt: intent.updatedAt, ...data });
const newAmount = { amount: '13.00', amountBaseUnits: 13_000_000n };
const metadataAndStale = (): readonly Case[] => [
  {
    if: 'updatedAt is stale, whatever else it changes',
    when: gateway.update({ updatedAt: SCENARIO_START - 1, metadata: { table: '4' }, ttlSeconds: 1 }),
    refused: 'intent.stale_update',
  },
  {
    if: 'it changes metadata',
    when: patch({ metadata: { table: '4' } }),
    then: [events.updated({ metadata: { table: '4' } })],
  },
];

const until = (validBefore: bigint): Partial<PreparedTransaction> => ({ lifetime: { kind: 'time', validBefore } });
const send = [events.created({ direction: 'send', fulfiller: BOB })];
const sendByCarol = {
  ...HISTORY.created[0],
  data: events.created({ direction: 'send', fulfiller: CAROL }).data,
} as ExpectedEvent;
const wrongTerms = (change: object) =>
  gateway.prepare(FIRST, {
    terms: {
      chain: BASE_SEPOLIA,
      tokenAddress: USDC,
      amount: 12_500_000n,
      requestor: ALICE,
      reference: REFERENCE,
      ...change,
    },
  });

const hashCell = (state: IntentStatus, code: RefusalCode): readonly Case[] => [
  {
    if: 'the hash is known',
    ...(state === 'expired' || state === 'cancelled' ? { given: [...live, HISTORY[state][1] as ExpectedEvent] } : {}),
    when: gateway.prepare(FIRST),
  },
  { if: 'the hash is new', when: gateway.prepare(SECOND), refused: code },
  {
    if: 'a node refused the hash before',
    given: [events.created(), events.prepared(SECOND), events.refused(SECOND), ...HISTORY[state].slice(1)],
    when: gateway.prepare(SECOND),
    refused: code,
  },
];

const refundable = (state: 'confirmed' | 'finalized'): readonly Case[] => [
  { then: [events.refundLinked(REFUND), events.refundCreated(REFUND)], outcome: { intentId: REFUND } },
  {
    if: 'refundedBy is set',
    given: [...HISTORY[state], events.refundLinked(SUCCESSOR)],
    refused: 'intent.already_refunded',
  },
  {
    if: 'a reorg has orphaned the payment',
    given: [...HISTORY[state], events.lost(FIRST)],
    refused: 'intent.invalid_state',
  },
];

/** The rows of the commands but `simulate`, in the document's order. */
export const COMMAND_ROWS: readonly Row[] = [
  { name: 'create', when: createAnother, cells: alike(['created', ...NOT_CREATED], create) },
  {
    name: 'update',
    when: gateway.update({ updatedAt: SCENARIO_START }),
    cells: {
      created: [
        ...metadataAndStale(),
        {
          if: 'it changes amount before the first build or submission',
          when: patch(newAmount),
          then: [events.updated(newAmount)],
        },
        {
          if: 'it changes ttlSeconds before the first build or submission',
          when: patch({ ttlSeconds: 600 }),
          then: [events.updated({ ttlSeconds: 600 })],
        },
        {
          if: 'it changes amount after a build',
          given: builtOnce,
          when: patch(newAmount),
          refused: 'intent.invalid_state',
        },
        {
          if: 'it changes ttlSeconds after a build',
          given: builtOnce,
          when: patch({ ttlSeconds: 600 }),
          refused: 'intent.invalid_state',
        },
        {
          if: 'it changes amount after a submission',
          given: [...live, events.refused(FIRST)],
          when: patch(newAmount),
          refused: 'intent.invalid_state',
        },
        {
          if: 'ttlSeconds ends in the past',
          when: patch({ ttlSeconds: 60 }),
          at: SCENARIO_START + 60_000,
          refused: 'request.validation_failed',
        },
      ],
      ...alike(NOT_CREATED, () => [
        ...metadataAndStale(),
        { if: 'it changes amount', when: patch(newAmount), refused: 'intent.invalid_state' },
        { if: 'it changes ttlSeconds', when: patch({ ttlSeconds: 600 }), refused: 'intent.invalid_state' },
      ]),
    },
  },
  {
    name: 'detect',
    when: gateway.detect(),
    cells: {
      created: [
        { then: [events.detected()] },
        { if: 'the intent was detected before', given: [events.created(), events.detected()] },
      ],
      ...alike([...PAID, 'failed', 'cancelled'], () => refused('intent.invalid_state')),
      expired: refused('intent.expired'),
    },
  },
  {
    name: 'record_build',
    when: gateway.recordBuild(),
    cells: {
      created: [
        { if: 'the intent has no build', then: [events.built()] },
        {
          if: 'it replaces the current build',
          given: builtOnce,
          when: gateway.recordBuild({ replaces: 2, blob: 'second' }),
          then: [events.built({ blob: 'second' })],
        },
        {
          if: 'it replaces the build for another fulfiller',
          given: builtOnce,
          when: gateway.recordBuild({ replaces: 2, fulfiller: CAROL }),
          then: [events.built({ fulfiller: CAROL })],
        },
        {
          if: 'a build for the same fulfiller was recorded first',
          given: builtOnce,
          when: gateway.recordBuild({ blob: 'second' }),
        },
        {
          if: 'a build for another fulfiller was recorded first',
          given: builtOnce,
          when: gateway.recordBuild({ fulfiller: CAROL }),
          refused: 'build.superseded',
        },
        {
          if: 'it is for the sender of the live submission',
          given: [...builtOnce, events.prepared(FIRST)],
          when: gateway.recordBuild({ replaces: 2, blob: 'second' }),
        },
        {
          if: 'it is not for the sender of the live submission',
          given: [...builtOnce, events.prepared(FIRST)],
          when: gateway.recordBuild({ replaces: 2, fulfiller: CAROL }),
          refused: 'intent.submission_in_progress',
        },
        {
          if: 'the build is for this fulfiller, the live submission for another',
          given: sentByCarol,
          refused: 'intent.submission_in_progress',
        },
        {
          if: 'it is for the sender of the live submission, the build for another',
          given: sentByCarol,
          when: gateway.recordBuild({ fulfiller: CAROL, replaces: 2 }),
          refused: 'intent.submission_in_progress',
        },
        {
          if: 'the sender of the live submission never built',
          given: live,
          refused: 'intent.submission_in_progress',
        },
        {
          if: 'direction is send and the fulfiller is not the one it names',
          given: send,
          when: gateway.recordBuild({ fulfiller: CAROL }),
          refused: 'request.validation_failed',
        },
      ],
      ...alike(PAID, () => refused('intent.already_fulfilled')),
      expired: refused('intent.expired'),
      ...alike(['failed', 'cancelled'], () => refused('intent.invalid_state')),
    },
  },
  {
    name: 'prepare_submission',
    when: gateway.prepare(FIRST),
    cells: {
      created: [
        {
          if: 'the transaction is for another chain',
          when: wrongTerms({ chain: 'eip155:8453' }),
          refused: 'transaction.mismatch',
        },
        {
          if: 'the transaction pays another token',
          when: wrongTerms({ tokenAddress: EURC }),
          refused: 'transaction.mismatch',
        },
        {
          if: 'the transaction pays another amount',
          when: wrongTerms({ amount: 12_500_001n }),
          refused: 'transaction.mismatch',
        },
        {
          if: 'the transaction pays the amount from before an update',
          given: [events.created(), events.updated(newAmount)],
          refused: 'transaction.mismatch',
        },
        {
          if: 'the transaction pays another recipient',
          when: wrongTerms({ requestor: CAROL }),
          refused: 'transaction.mismatch',
        },
        {
          if: 'the transaction carries another reference',
          when: wrongTerms({ reference: '0x99' }),
          refused: 'transaction.mismatch',
        },
        {
          if: 'direction is send and the sender is not the fulfiller it names',
          given: [sendByCarol],
          refused: 'transaction.mismatch',
        },
        { if: 'no submission is live', then: [events.prepared(FIRST)], outcome: { attempts: 1 } },
        { if: 'the same hash is live', given: live, then: [events.prepared(FIRST, {}, 2)], outcome: { attempts: 2 } },
        {
          if: 'a node refused the same hash',
          given: [...live, events.refused(FIRST)],
          then: [events.prepared(FIRST, {}, 1, 2)],
          outcome: { attempts: 1 },
        },
        { if: 'the same hash was dropped', given: [...live, events.dropped(FIRST)] },
        {
          if: 'another hash with the same sender and nonce is live',
          given: live,
          when: gateway.prepare(SECOND),
          then: [events.prepared(SECOND, {}, 2, 1)],
          outcome: { attempts: 2 },
        },
        {
          if: 'another hash, same sender and nonce, is live and can land for longer',
          given: [events.created(), events.prepared(FIRST, until(200n))],
          when: gateway.prepare(SECOND, until(100n)),
          refused: 'intent.submission_in_progress',
        },
        {
          if: 'another hash with the same sender and another nonce is live',
          given: live,
          when: gateway.prepare(SECOND, { nonce: '8' }),
          refused: 'intent.submission_in_progress',
        },
        {
          if: 'another hash with the same sender is live, without a nonce',
          given: [events.created(), events.prepared(FIRST, { nonce: null })],
          when: gateway.prepare(SECOND, { nonce: null }),
          refused: 'intent.submission_in_progress',
        },
        {
          if: 'another hash with another sender is live',
          given: live,
          when: gateway.prepare(SECOND, { sender: CAROL }),
          refused: 'intent.submission_in_progress',
        },
      ],
      ...alike(PAID, (state) => hashCell(state, 'intent.already_fulfilled')),
      expired: hashCell('expired', 'intent.expired'),
      ...alike(['failed', 'cancelled'], (state) => hashCell(state, 'intent.invalid_state')),
    },
  },
  {
    name: 'record_broadcast',
    when: gateway.recordBroadcast(FIRST),
    cells: {
      created: [
        { if: 'the submission is live', given: live, then: [events.pending(FIRST)] },
        {
          if: 'the submission is live, after another was dropped',
          given: [...live, events.pending(FIRST), events.retryRequired(FIRST), events.prepared(SECOND)],
          when: gateway.recordBroadcast(SECOND),
          then: [events.pending(SECOND)],
        },
        {
          if: 'the submission was released and none is live',
          given: [...live, events.refused(FIRST)],
          then: [events.pending(FIRST)],
        },
        {
          if: 'the submission was released and another is live',
          given: [...live, events.refused(FIRST), events.prepared(SECOND, { sender: CAROL })],
        },
        { if: 'the submission was replaced', given: [...live, events.prepared(SECOND)] },
        { if: 'the submission was dropped', given: [...live, events.dropped(FIRST)] },
        { if: 'the transaction was never prepared' },
      ],
      ...alike(PAID, () => [{}]),
      expired: [
        { if: 'the submission is live', given: [...live, events.expired(true)] },
        { if: 'the transaction was never prepared' },
      ],
      failed: [{}],
      cancelled: [
        { if: 'the submission was released', given: [...live, events.refused(FIRST), events.cancelled()] },
        { if: 'the transaction was never prepared' },
      ],
    },
  },
  {
    name: 'release_submission',
    when: gateway.release(FIRST),
    cells: {
      created: [
        { if: 'the submission was prepared once, less than 7 seconds ago', given: live, then: [events.refused(FIRST)] },
        { if: 'the submission was prepared 7 seconds ago', given: live, at: SCENARIO_START + 1_000 + 7_000 },
        { if: 'the submission was prepared more than once', given: [...live, events.prepared(FIRST, {}, 2)] },
        { if: 'the submission was replaced', given: [...live, events.prepared(SECOND)] },
        { if: 'the transaction was never prepared' },
      ],
      ...alike(PAID, () => [{}]),
      expired: [
        { if: 'the submission is live', given: [...live, events.expired(true)] },
        { if: 'the transaction was never prepared' },
      ],
      ...alike(['failed', 'cancelled'], () => [{}]),
    },
  },
  {
    name: 'report_transfer',
    when: gateway.report(UNKNOWN, UNPROVEN),
    cells: alike(INTENT_STATUSES, (state) => [
      {
        if: 'it was told before',
        given: [...HISTORY[state], events.mismatchedPayment(UNKNOWN, UNPROVEN, 'reference')],
      },
      { if: "it has the intent's reference", when: gateway.report(UNKNOWN, {}) },
      {
        if: 'it was told before, and is claimed for another intent, too',
        given: [...HISTORY[state], events.claimedPayment(UNKNOWN, UNPROVEN)],
        when: gateway.report(UNKNOWN, UNPROVEN, REFUND),
        then: [events.paymentClaimed(UNKNOWN, REFUND)],
      },
      {
        if: 'it is claimed for another intent, and was never told',
        when: gateway.report(UNKNOWN, UNPROVEN, REFUND),
      },
      ...(state === 'created'
        ? [{ if: 'it is of the live submission', given: live, when: gateway.report(FIRST, UNPROVEN) }]
        : []),
      {
        if: 'as many payments with other terms were told as an intent may have',
        given: [...HISTORY[state], ...full],
        refused: 'intent.limit_reached',
      },
      { then: [events.claimedPayment(UNKNOWN, UNPROVEN)] },
    ]),
  },
  {
    name: 'cancel',
    when: gateway.cancel(),
    cells: {
      created: [
        { then: [events.cancelled()] },
        { if: 'a submission is live', given: live, refused: 'intent.submission_in_progress' },
        { if: 'the only submission was released', given: [...live, events.refused(FIRST)], then: [events.cancelled()] },
        {
          if: 'the only submission was dropped',
          given: [...HISTORY.pending, events.retryRequired(FIRST)],
          then: [events.cancelled()],
        },
      ],
      ...alike(PAID, () => refused('intent.already_fulfilled')),
      expired: refused('intent.expired'),
      ...alike(['failed', 'cancelled'], () => refused('intent.invalid_state')),
    },
  },
  {
    name: 'refund',
    when: gateway.refund(),
    cells: {
      ...alike(['confirmed', 'finalized'], refundable),
      ...alike(['created', 'pending', 'expired', 'failed', 'cancelled'], () => refused('intent.invalid_state')),
    },
  },
];
