import type {
  Outcome,
  Input,
  Instant,
  IntentStatus,
  PaymentIntent,
  PreparedTransaction,
  RefusalCode,
} from '@pf/domain';
import { IDEMPOTENCY_WINDOW_MS } from '@pf/domain';
import type { ExpectedEvent } from '../../src/testing/given.ts';
import * as happened from '../../src/testing/events.ts';
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
  USDC,
} from '../../src/testing/samples.ts';

/** One thing that can happen in a cell. Without `then` and `refused` nothing happens: the present state is the answer. */
export interface Case {
  /** What tells it from the other cases of its cell, in words. */
  readonly if?: string;
  /** What happened before, where it is not the usual history of the state. */
  readonly given?: readonly ExpectedEvent[];
  /** The input, where it is not the usual one of the row. */
  readonly when?: Input | ((intent: PaymentIntent) => Input);
  readonly at?: Instant;
  readonly then?: readonly ExpectedEvent[];
  readonly refused?: RefusalCode;
  readonly answers?: Partial<Extract<Outcome, { kind: 'accepted' }>>;
}

/** A row of lifecycle.md's table: what one input does in each state. */
export interface Row {
  readonly name: string;
  readonly when: Input;
  readonly cells: Readonly<Record<IntentStatus, readonly Case[]>>;
}

/** How an intent usually comes into each state. */
export const HISTORY: Readonly<Record<IntentStatus, readonly ExpectedEvent[]>> = {
  created: [happened.created()],
  pending: [happened.created(), happened.prepared(FIRST), happened.pending(FIRST)],
  confirmed: [happened.created(), happened.prepared(FIRST), happened.pending(FIRST), happened.confirmed(FIRST)],
  finalized: [
    happened.created(),
    happened.prepared(FIRST),
    happened.pending(FIRST),
    happened.confirmed(FIRST),
    happened.finalized(FIRST),
  ],
  expired: [happened.created(), happened.expired()],
  failed: [happened.created(), happened.prepared(FIRST), happened.pending(FIRST), happened.failed(FIRST)],
  cancelled: [happened.created(), happened.cancelled()],
};

/** The same outcome in several states. */
const alike = <State extends IntentStatus>(
  states: readonly State[],
  cell: (state: State) => readonly Case[],
): Record<State, readonly Case[]> =>
  Object.fromEntries(states.map((state) => [state, cell(state)])) as Record<State, readonly Case[]>;
const refused = (code: RefusalCode): readonly Case[] => [{ refused: code }];

const PAID = ['pending', 'confirmed', 'finalized'] as const;
const NOT_CREATED = [...PAID, 'expired', 'failed', 'cancelled'] as const;
const live = [happened.created(), happened.prepared(FIRST)];
const builtOnce = [happened.created(), happened.built()];
const sentByCarol = [...builtOnce, happened.prepared(FIRST, { sender: CAROL })];

const withKey = (state: IntentStatus): readonly ExpectedEvent[] => [
  happened.created({ idempotencyKey: 'order 7' }),
  ...HISTORY[state].slice(1),
];
const newOne = about(SUCCESSOR, gateway.create());
const newOneWithKey = about(SUCCESSOR, gateway.create({ idempotencyKey: 'order 7' }));
const create = (state: IntentStatus): readonly Case[] => [
  {
    if: 'the id is new',
    when: newOne,
    then: [happened.of(SUCCESSOR, happened.created())],
    answers: { intentId: SUCCESSOR, replayed: false },
  },
  {
    if: 'the key was used within 24 h',
    given: withKey(state),
    when: newOneWithKey,
    answers: { intentId: INTENT, replayed: true },
  },
  {
    if: 'the key was used 24 h ago',
    given: withKey(state),
    when: newOneWithKey,
    at: SCENARIO_START + IDEMPOTENCY_WINDOW_MS,
    then: [happened.of(SUCCESSOR, happened.created({ idempotencyKey: 'order 7' }))],
    answers: { intentId: SUCCESSOR, replayed: false },
  },
];

const patch = (data: Omit<Parameters<typeof gateway.update>[0], 'updatedAt'>) => (intent: PaymentIntent) =>
  gateway.update({ updatedAt: intent.updatedAt, ...data });
const newAmount = { amount: '13.00', amountBaseUnits: 13_000_000n };
const metadataAndStale = (): readonly Case[] => [
  {
    if: 'a stale updatedAt, whatever else',
    when: gateway.update({ updatedAt: SCENARIO_START - 1, metadata: { table: '4' }, ttlSeconds: 1 }),
    refused: 'intent.stale_update',
  },
  { if: 'metadata', when: patch({ metadata: { table: '4' } }), then: [happened.updated({ metadata: { table: '4' } })] },
];

const until = (validBefore: bigint): Partial<PreparedTransaction> => ({ lifetime: { kind: 'time', validBefore } });
const send = [happened.created({ direction: 'send', fulfiller: BOB })];
const bySend = {
  ...HISTORY.created[0],
  data: happened.created({ direction: 'send', fulfiller: CAROL }).data,
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

const cellOfSame = (state: IntentStatus, code: RefusalCode): readonly Case[] => [
  {
    if: 'the same hash',
    ...(state === 'expired' || state === 'cancelled' ? { given: [...live, HISTORY[state][1] as ExpectedEvent] } : {}),
    when: gateway.prepare(FIRST),
  },
  { if: 'another hash', when: gateway.prepare(SECOND), refused: code },
  {
    if: 'a hash that the node had refused',
    given: [happened.created(), happened.prepared(SECOND), happened.refused(SECOND), ...HISTORY[state].slice(1)],
    when: gateway.prepare(SECOND),
    refused: code,
  },
];

const refundable = (state: 'confirmed' | 'finalized'): readonly Case[] => [
  { then: [happened.refundLinked(REFUND), happened.refundCreated(REFUND)], answers: { intentId: REFUND } },
  {
    if: 'refundedBy is set',
    given: [...HISTORY[state], happened.refundLinked(SUCCESSOR)],
    refused: 'intent.already_refunded',
  },
  { if: 'the confirmation is lost', given: [...HISTORY[state], happened.lost(FIRST)], refused: 'intent.invalid_state' },
];

/** The rows of the commands, in the document's order. */
export const COMMAND_ROWS: readonly Row[] = [
  { name: 'create', when: newOne, cells: alike(['created', ...NOT_CREATED], create) },
  {
    name: 'update',
    when: gateway.update({ updatedAt: SCENARIO_START }),
    cells: {
      created: [
        ...metadataAndStale(),
        {
          if: 'amount, before the first build or submission',
          when: patch(newAmount),
          then: [happened.updated(newAmount)],
        },
        {
          if: 'ttl, before the first build or submission',
          when: patch({ ttlSeconds: 600 }),
          then: [happened.updated({ ttlSeconds: 600 })],
        },
        { if: 'amount, after a build', given: builtOnce, when: patch(newAmount), refused: 'intent.invalid_state' },
        {
          if: 'ttl, after a build',
          given: builtOnce,
          when: patch({ ttlSeconds: 600 }),
          refused: 'intent.invalid_state',
        },
        {
          if: 'amount, after a submission',
          given: [...live, happened.refused(FIRST)],
          when: patch(newAmount),
          refused: 'intent.invalid_state',
        },
        {
          if: 'a ttl that ends in the past',
          when: patch({ ttlSeconds: 60 }),
          at: SCENARIO_START + 60_000,
          refused: 'request.validation_failed',
        },
      ],
      ...alike(NOT_CREATED, () => [
        ...metadataAndStale(),
        { if: 'amount', when: patch(newAmount), refused: 'intent.invalid_state' },
        { if: 'ttl', when: patch({ ttlSeconds: 600 }), refused: 'intent.invalid_state' },
      ]),
    },
  },
  {
    name: 'detect',
    when: gateway.detect(),
    cells: {
      created: [{ then: [happened.detected()] }, { if: 'again', given: [happened.created(), happened.detected()] }],
      ...alike([...PAID, 'failed', 'cancelled'], () => refused('intent.invalid_state')),
      expired: refused('intent.expired'),
    },
  },
  {
    name: 'record_build',
    when: gateway.recordBuild(),
    cells: {
      created: [
        { if: 'there is no build', then: [happened.built()] },
        {
          if: 'it replaces the current build',
          given: builtOnce,
          when: gateway.recordBuild({ replaces: 2, blob: 'second' }),
          then: [happened.built({ blob: 'second' })],
        },
        {
          if: 'it replaces the build for another fulfiller',
          given: builtOnce,
          when: gateway.recordBuild({ replaces: 2, fulfiller: CAROL }),
          then: [happened.built({ fulfiller: CAROL })],
        },
        {
          if: 'another was first, for the same fulfiller',
          given: builtOnce,
          when: gateway.recordBuild({ blob: 'second' }),
        },
        {
          if: 'another was first, for another fulfiller',
          given: builtOnce,
          when: gateway.recordBuild({ fulfiller: CAROL }),
          refused: 'build.superseded',
        },
        {
          if: 'a submission is live, for its sender',
          given: [...builtOnce, happened.prepared(FIRST)],
          when: gateway.recordBuild({ replaces: 2, blob: 'second' }),
        },
        {
          if: 'a submission is live, for another',
          given: [...builtOnce, happened.prepared(FIRST)],
          when: gateway.recordBuild({ replaces: 2, fulfiller: CAROL }),
          refused: 'intent.submission_in_progress',
        },
        {
          if: 'a submission is live, of another, and the build is for this one',
          given: sentByCarol,
          refused: 'intent.submission_in_progress',
        },
        {
          if: 'a submission is live, for its sender, and the build is for another',
          given: sentByCarol,
          when: gateway.recordBuild({ fulfiller: CAROL, replaces: 2 }),
          refused: 'intent.submission_in_progress',
        },
        {
          if: 'a submission is live, and its sender never built',
          given: live,
          refused: 'intent.submission_in_progress',
        },
        {
          if: 'another fulfiller, with direction send',
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
        { if: 'another chain', when: wrongTerms({ chain: 'eip155:8453' }), refused: 'transaction.mismatch' },
        { if: 'another token', when: wrongTerms({ tokenAddress: EURC }), refused: 'transaction.mismatch' },
        { if: 'another amount', when: wrongTerms({ amount: 12_500_001n }), refused: 'transaction.mismatch' },
        {
          if: 'another amount since it was changed',
          given: [happened.created(), happened.updated(newAmount)],
          refused: 'transaction.mismatch',
        },
        { if: 'another recipient', when: wrongTerms({ requestor: CAROL }), refused: 'transaction.mismatch' },
        { if: 'another reference', when: wrongTerms({ reference: '0x99' }), refused: 'transaction.mismatch' },
        { if: 'another sender, with direction send', given: [bySend], refused: 'transaction.mismatch' },
        { if: 'none is live', then: [happened.prepared(FIRST)], answers: { attempts: 1 } },
        { if: 'the same hash is live', given: live, then: [happened.prepared(FIRST, {}, 2)], answers: { attempts: 2 } },
        {
          if: 'the same hash was refused by the node',
          given: [...live, happened.refused(FIRST)],
          then: [happened.prepared(FIRST)],
          answers: { attempts: 1 },
        },
        { if: 'the same hash was dropped', given: [...live, happened.dropped(FIRST)] },
        {
          if: 'another is live, of the same sender and nonce',
          given: live,
          when: gateway.prepare(SECOND),
          then: [happened.prepared(SECOND, {}, 2)],
          answers: { attempts: 2 },
        },
        {
          if: 'another is live, of the same sender and nonce, that lives longer',
          given: [happened.created(), happened.prepared(FIRST, until(200n))],
          when: gateway.prepare(SECOND, until(100n)),
          refused: 'intent.submission_in_progress',
        },
        {
          if: 'another is live, of the same sender and another nonce',
          given: live,
          when: gateway.prepare(SECOND, { nonce: '8' }),
          refused: 'intent.submission_in_progress',
        },
        {
          if: 'another is live, of the same sender, where no nonce can be used up',
          given: [happened.created(), happened.prepared(FIRST, { nonce: null })],
          when: gateway.prepare(SECOND, { nonce: null }),
          refused: 'intent.submission_in_progress',
        },
        {
          if: 'another is live, of another sender',
          given: live,
          when: gateway.prepare(SECOND, { sender: CAROL }),
          refused: 'intent.submission_in_progress',
        },
      ],
      ...alike(PAID, (state) => cellOfSame(state, 'intent.already_fulfilled')),
      expired: cellOfSame('expired', 'intent.expired'),
      ...alike(['failed', 'cancelled'], (state) => cellOfSame(state, 'intent.invalid_state')),
    },
  },
  {
    name: 'record_broadcast',
    when: gateway.recordBroadcast(FIRST),
    cells: {
      created: [
        { if: 'of the prepared one', given: live, then: [happened.pending(FIRST)] },
        {
          if: 'of the prepared one, after a drop',
          given: [...live, happened.pending(FIRST), happened.retryRequired(FIRST), happened.prepared(SECOND)],
          when: gateway.recordBroadcast(SECOND),
          then: [happened.pending(SECOND)],
        },
        {
          if: 'of a released one while none is live',
          given: [...live, happened.refused(FIRST)],
          then: [happened.pending(FIRST)],
        },
        {
          if: 'of a released one while another is live',
          given: [...live, happened.refused(FIRST), happened.prepared(SECOND, { sender: CAROL })],
        },
        { if: 'of a replaced one', given: [...live, happened.prepared(SECOND)] },
        { if: 'of a dropped one', given: [...live, happened.dropped(FIRST)] },
        { if: 'of one that was never prepared' },
      ],
      ...alike(PAID, () => [{}]),
      expired: [{ if: 'of the prepared one', given: [...live, happened.expired(true)] }, { if: 'of another' }],
      failed: [{}],
      cancelled: [
        { if: 'of a released one', given: [...live, happened.refused(FIRST), happened.cancelled()] },
        { if: 'of another' },
      ],
    },
  },
  {
    name: 'release_submission',
    when: gateway.release(FIRST),
    cells: {
      created: [
        { if: 'of the prepared one, prepared once', given: live, then: [happened.refused(FIRST)] },
        { if: 'of the prepared one, prepared seven seconds ago', given: live, at: SCENARIO_START + 1_000 + 7_000 },
        { if: 'of the prepared one, prepared more than once', given: [...live, happened.prepared(FIRST, {}, 2)] },
        { if: 'of a replaced one', given: [...live, happened.prepared(SECOND)] },
        { if: 'of one that was never prepared' },
      ],
      ...alike(PAID, () => [{}]),
      expired: [{ if: 'of the prepared one', given: [...live, happened.expired(true)] }, { if: 'of another' }],
      ...alike(['failed', 'cancelled'], () => [{}]),
    },
  },
  {
    name: 'cancel',
    when: gateway.cancel(),
    cells: {
      created: [
        { then: [happened.cancelled()] },
        { if: 'a submission is live', given: live, refused: 'intent.submission_in_progress' },
        { if: 'a submission was released', given: [...live, happened.refused(FIRST)], then: [happened.cancelled()] },
        {
          if: 'the transaction was dropped',
          given: [...HISTORY.pending, happened.retryRequired(FIRST)],
          then: [happened.cancelled()],
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
