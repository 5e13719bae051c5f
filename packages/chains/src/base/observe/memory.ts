import type { Address, DepositId, IntentId, Reference, TransactionHash } from '@pf/domain';
import { boundedCache } from '@pf/runtime';
import type { CallingTransaction } from '../../evm/calls.ts';
import { LogWindow } from '../../evm/observe/log-window.ts';
import { ReceiptSchedule } from '../../evm/observe/receipt-schedule.ts';
import { sendsAuthorization } from '../authorization/eip3009.ts';
import type { PaymentCall } from '../calldata.ts';
import { decodePayment } from '../calldata.ts';
import { Unshown } from '../../unshown.ts';
import { Fetches } from './fetches.ts';
import { Room } from './room.ts';

/** What the observer needs of a transaction. */
export interface TransactionSummary {
  /** The upstream that showed it. */
  readonly shownBy: string;
  readonly from: Address;
  readonly nonce: bigint;
  /** The contract that it called. */
  readonly to: Address | null;
  /** Null where its calldata is not a payment with a reference. */
  readonly payment: PaymentCall | null;
  /** Its calldata is that of an authorization. */
  readonly isAuthorized: boolean;
}

/** A payment that was made through another contract. */
export interface NestedPayment {
  /** Of the intent that it names. */
  readonly reference: Reference;
  /** False where the intent's bytes are in the transaction, but nothing shows that they made this transfer. */
  readonly isProven: boolean;
  /** Made by an authorization whose nonce is the reference. */
  readonly isAuthorized: boolean;
  /** What its recipient has gained by it, in base units (paid.ts). */
  readonly worth: bigint;
  /** Of a proven one: what it may have been reported for while nothing showed its reference. Absent: nothing. */
  readonly mistakenFor?: readonly Reference[];
}
/** By the index of the transfer's log. */
export type NestedPayments = ReadonlyMap<bigint, NestedPayment>;

const SUMMARIES_MAX = 20_000;
/** A final transfer is observed again when the ledger does not have it after this time. */
const REPEAT_MS = 30_000;

/** Between two questions to a second upstream for one settlement. */
const UNSHOWN_MIN_MS = 2_000;
const UNSHOWN_MAX_MS = 600_000;
/** While none responds: what has waited is final soon after one does. */
const AWAY_MAX_MS = 60_000;

/** Saves the observer work between steps. All of it can be lost. */
export class Memory {
  readonly #summaries = new Map<TransactionHash, TransactionSummary>();
  readonly #finalized = new Map<string, number>();
  /** By transaction and block: in another block its logs have other places. */
  readonly #nested = boundedCache<string, NestedPayments>(SUMMARIES_MAX);
  /** When a second upstream is asked again for what it has not shown. */
  readonly #secondDue = boundedCache<string, { readonly pauseMs: number; readonly until: number }>(SUMMARIES_MAX);
  readonly receipts = new ReceiptSchedule();
  /** Of the nonces of authorizations. */
  readonly states = new ReceiptSchedule();
  /** Whether a transaction in a safe block has used an authorization, by the hashes of both. */
  readonly usedBy = boundedCache<string, boolean>(SUMMARIES_MAX);
  readonly logs = new LogWindow();
  /** A payment is under way: the next steps may see it. */
  isAwaiting = false;
  /** When the logs of all recipients were last read up to the head, and when a second time, by our clock. */
  wholeAt = -Infinity;
  rescannedAt = -Infinity;
  readonly fetches = new Fetches();
  /** When `safe` and `finalized` were last read, by our clock. */
  tagsAskedAt = 0;

  /** For traces in this step. */
  room = new Room();

  /** A step begins: forgets what one that failed midway has asked for. */
  begin(): void {
    this.room = new Room();
    this.receipts.begin();
    this.states.begin();
  }
  /** A step has come to its end. */
  commit(): void {
    this.receipts.commit();
    this.states.commit();
  }

  look(hash: TransactionHash): TransactionSummary | undefined {
    return this.#summaries.get(hash);
  }

  /** Evicts the oldest summary when there are too many. */
  remember({ hash, from, nonce, to, input }: CallingTransaction, shownBy: string): TransactionSummary {
    const [payment, isAuthorized] = [decodePayment(input), sendsAuthorization(input)];
    const summary = { shownBy, from, nonce, to, payment, isAuthorized };
    this.#summaries.set(hash, summary);
    const oldest = this.#summaries.keys().next();
    if (this.#summaries.size > SUMMARIES_MAX && oldest.done !== true) this.#summaries.delete(oldest.value);
    return summary;
  }

  nested(hash: TransactionHash, blockHash: string): NestedPayments | undefined {
    return this.#nested.get(`${hash} ${blockHash}`);
  }
  rememberNested(hash: TransactionHash, blockHash: string, payments: NestedPayments): void {
    this.#nested.set(`${hash} ${blockHash}`, payments);
  }

  /** Settlements that were told of as the payments of others, by name. */
  readonly disproved = boundedCache<string, true>(SUMMARIES_MAX);

  /** Settlements and deposits that no second upstream has shown yet: by transaction or id, and block. */
  readonly unshown = new Unshown();

  /** Whether a second upstream is asked for this settlement or deposit now. */
  isSecondDue(name: string, now: number): boolean {
    return (this.#secondDue.get(name)?.until ?? now) <= now;
  }
  /** It did not show it, or none responds. @returns ms until it is asked again */
  secondLacked(name: string, now: number, isAway: boolean): number {
    this.unshown.lacked(name, now);
    const most = isAway ? AWAY_MAX_MS : UNSHOWN_MAX_MS;
    const pauseMs = Math.min(2 * (this.#secondDue.get(name)?.pauseMs ?? UNSHOWN_MIN_MS / 2), most);
    this.#secondDue.set(name, { pauseMs, until: now + pauseMs });
    return pauseMs;
  }

  /** One transaction can settle several intents. */
  wasFinalizedLately(id: IntentId | DepositId, hash: TransactionHash, now: number): boolean {
    return now - (this.#finalized.get(`${id} ${hash}`) ?? -Infinity) < REPEAT_MS;
  }
  finalized(id: IntentId | DepositId, hash: TransactionHash, now: number): void {
    for (const [old, at] of this.#finalized) if (now - at >= REPEAT_MS) this.#finalized.delete(old);
    this.#finalized.set(`${id} ${hash}`, now);
  }
}
