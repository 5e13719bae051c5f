import {
  COMMAND_DEADLINE_MS,
  depositEventOf,
  type EventEnvelope,
  eventOf,
  hasDeadline,
  isDepositEvent,
  isForeignDeposit,
  type LoggedDepositEvent,
  parseEvent,
  readRecord,
} from '@pf/contracts';
import {
  type Address,
  type CommandType,
  type Deposit,
  type DepositEvent,
  type DepositId,
  evolve,
  evolveDeposit,
  type IntentEvent,
  type IntentId,
  liveSubmission,
  type PaymentIntent,
  type PreparedTransaction,
  termsOf,
  transferKey,
  type TransactionHash,
} from '@pf/domain';
import { isDeepStrictEqual } from 'node:util';
import type { LogRecord } from '@pf/event-log';
import { isCounting } from './books.ts';
import { InvariantError } from './invariants.ts';

/** How far the clock of a process may be from true time (docs/internals/architecture.md), and time in flight. */
const CLOCK_SLACK_MS = 5_000;

/** Folds the log as it grows, and checks what must hold of every log. */
export class LogFold {
  readonly intents = new Map<IntentId, PaymentIntent>();
  readonly events: EventEnvelope[] = [];
  readonly deposits = new Map<DepositId, Deposit>();
  readonly depositEvents: LoggedDepositEvent[] = [];
  /** Deposits and intents to which they were assigned at some time. */
  readonly assigned = new Set<string>();
  /** The wallets that `send` intents name. */
  readonly named = new Map<IntentId, Address>();
  /** `hash:index` of the transfers that an intent's account was told as mismatched, without those withdrawn. */
  readonly #mismatched = new Map<IntentId, Set<string>>();
  /** `commandId type intentId` of every event: an event of a command is there once. */
  readonly #decided = new Set<string>();
  readonly #createdAt = new Map<IntentId, number>();
  /** Hashes for which an intent was claimed at some time. */
  readonly claimed = new Set<string>();
  /** Transactions whose claim was released because the nodes refused them. */
  readonly released = new Set<TransactionHash>();
  readonly blobs = new Set<string>();
  /** When commands that have a deadline reached the log. */
  readonly #sentAt = new Map<string, number>();
  readonly #lastAt = new Map<number, number>();

  /** A record of intent.commands. */
  sent({ value, timestamp }: LogRecord): void {
    const { commandId, type } = JSON.parse(value ?? '{}') as { commandId: string; type: CommandType };
    // A repeated record begins no new time.
    if (hasDeadline(type)) this.#sentAt.set(commandId, timestamp);
  }

  /** @returns its event; null: of a deposit */
  add(record: LogRecord): IntentEvent | null {
    const logged = readRecord(record.value ?? '');
    if (isDepositEvent(logged)) {
      this.#addDeposit(logged);
      return null;
    }
    const envelope = parseEvent(record.value ?? '');
    const event = eventOf(envelope);
    const before = this.intents.get(event.intentId);
    const what = `${event.type}, version ${event.version} of ${event.intentId}`;
    if (event.version !== (before?.version ?? 0) + 1)
      throw new InvariantError(
        'a version is in the log once',
        `${what} follows version ${before?.version ?? 0}, at offset ${record.offset} of partition ${record.partition}`,
      );
    if (envelope.commandId !== null) {
      const key = `${envelope.commandId} ${event.type} ${event.intentId}`;
      if (this.#decided.has(key))
        throw new InvariantError('a command is decided once', `the command ${envelope.commandId} made ${what} again`);
      this.#decided.add(key);
    }
    if (event.at > record.timestamp + CLOCK_SLACK_MS)
      throw new InvariantError(
        'time in the log is true',
        `${what} says ${event.at - record.timestamp} ms after the broker's time`,
      );
    const lastAt = this.#lastAt.get(record.partition) ?? 0;
    if (event.at < lastAt)
      throw new InvariantError('time in the log is true', `${what} is ${lastAt - event.at} ms before its predecessor`);
    this.#lastAt.set(record.partition, event.at);
    const late = event.at - (this.#sentAt.get(envelope.commandId ?? '') ?? Infinity) - COMMAND_DEADLINE_MS;
    if (late > CLOCK_SLACK_MS)
      throw new InvariantError('no command is decided late', `${what} was decided ${late} ms after its deadline`);
    const after = evolve(before, event);
    if (event.type === 'intent.created')
      // Its life begins when it is decided; the broker may take it up later.
      this.#createdAt.set(event.intentId, Math.min(event.at, record.timestamp));
    if (event.type === 'intent.created' && after.direction === 'send' && after.fulfiller !== null)
      this.named.set(after.id, after.fulfiller);
    this.#checkPayer(event, what);
    this.#checkReport(event, what);
    if (event.type === 'intent.expired') {
      const life = record.timestamp - (this.#createdAt.get(event.intentId) ?? 0);
      if (life < after.ttlSeconds * 1_000 - CLOCK_SLACK_MS)
        throw new InvariantError('no intent expires early', `${event.intentId} expired after ${life} ms`);
    }
    if (event.type === 'transaction_built') {
      this.blobs.add(`${event.intentId} ${event.data.transaction.blob}`);
      this.#refuseUndone(before, what);
    }
    if (event.type === 'submission_prepared') {
      this.#checkClaim(before, event.data.transaction, what);
      this.claimed.add(`${event.intentId} ${event.data.transaction.hash}`);
      this.released.delete(event.data.transaction.hash);
      this.#refuseUndone(before, what);
    }
    if (event.type === 'submission_released' && event.data.outcome === 'refused') this.released.add(event.data.hash);
    this.intents.set(event.intentId, after);
    this.events.push(envelope);
    return event;
  }

  #addDeposit(logged: LoggedDepositEvent): void {
    const { depositId, version, type } = logged;
    const before = this.deposits.get(depositId);
    if (isForeignDeposit(logged) || version !== (before?.version ?? 0) + 1)
      throw new InvariantError(
        'a version is in the log once',
        `${type}, version ${version} of ${depositId} follows version ${before?.version ?? 0}`,
      );
    const event = depositEventOf(logged);
    this.#checkAssignment(before, event);
    this.deposits.set(depositId, evolveDeposit(before, event));
    this.depositEvents.push(logged);
  }

  /** It is assigned while it counts and pays nothing else. */
  #checkAssignment(before: Deposit | undefined, event: DepositEvent): void {
    if (event.type !== 'deposit.assigned' || before === undefined) return;
    this.assigned.add(`${event.depositId} ${event.data.intentId}`);
    if (before.state !== 'assigned' && isCounting(before)) return;
    throw new InvariantError(
      'a deposit pays one intent',
      `${event.depositId} is assigned to ${event.data.intentId}, and was ${before.level} and ${before.state}` +
        (before.intentId === null ? '' : `, of ${before.intentId}`),
    );
  }

  #checkPayer(event: IntentEvent, what: string): void {
    const named = this.named.get(event.intentId);
    if (event.type !== 'intent.confirmed' || named === undefined || event.data.fulfiller === named) return;
    throw new InvariantError(
      'a send intent is paid by its wallet',
      `${what} counts a payment by ${event.data.fulfiller}, and ${named} was to pay it`,
    );
  }

  /** A transfer that settles an intent is not also reported to its account as one with other terms. */
  #checkReport(event: IntentEvent, what: string): void {
    const told = this.#mismatched.get(event.intentId) ?? new Set();
    this.#mismatched.set(event.intentId, told);
    if (event.type === 'intent.mismatched_payment') told.add(transferKey(event.data.landing));
    if (event.type === 'intent.mismatch_withdrawn') told.delete(transferKey(event.data.landing));
    if (event.type !== 'intent.confirmed' || event.data.landing === null) return;
    const key = transferKey(event.data.landing);
    if (told.has(key))
      throw new InvariantError(
        'a proof withdraws the report',
        `${what} counts ${key}, which is reported as mismatched`,
      );
  }

  #checkClaim(before: PaymentIntent | undefined, transaction: PreparedTransaction, what: string): void {
    const live = before && liveSubmission(before);
    const { hash, sender, nonce, terms } = transaction;
    // Two of one sender and nonce are one claim: at most one of them can land.
    if (live && live.hash !== hash && (live.sender !== sender || live.nonce !== nonce))
      throw new InvariantError('one claim lives at a time', `${what} claims for ${hash}, and ${live.hash} lives`);
    if (before && !isDeepStrictEqual(terms, termsOf(before)))
      throw new InvariantError('a claim pays the terms of its intent', `${what} pays other terms than its intent's`);
  }

  /** A refund may not be built or claimed for while its original payment is undone. */
  #refuseUndone(refund: PaymentIntent | undefined, what: string): void {
    if (refund === undefined || refund.refundOf === null) return;
    const original = this.intents.get(refund.refundOf);
    if (original === undefined) return;
    const isPaid = original.status === 'confirmed' || original.status === 'finalized';
    if (!isPaid || original.settlement?.lost === true)
      throw new InvariantError(
        'an undone payment is not refunded',
        `${what} refunds ${original.id}, which is ${original.status}${original.settlement?.lost ? ' and lost' : ''}`,
      );
  }
}
