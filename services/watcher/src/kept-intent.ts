import { type PaymentIntent, type Settlement, type Submission, termsOf, type Transfer } from '@pf/domain';
import { boundedCache } from '@pf/runtime';
import type { LRUCache } from 'lru-cache';

/** Interns texts: a text that was read from the log or the database is a copy of its own. */
export class Texts {
  readonly #texts: Pick<LRUCache<string, string> | Map<string, string>, 'get' | 'set' | 'size'>;

  constructor(texts: Pick<LRUCache<string, string> | Map<string, string>, 'get' | 'set' | 'size'>) {
    this.#texts = texts;
  }

  get size(): number {
    return this.#texts.size;
  }

  one<Text extends string>(text: Text): Text {
    const known = this.#texts.get(text) as Text | undefined;
    if (known === undefined) this.#texts.set(text, text);
    return known ?? text;
  }
}

/** Texts that are remembered at once. With more requestors some intents have a copy of their own. */
const SHARED_MAX = 50_000;

/** For what many intents share: networks, tokens, accounts, requestors. Forgets what was used longest ago. */
export const sharedTexts = (): Texts => new Texts(boundedCache<string, string>(SHARED_MAX));

const NOTHING: readonly never[] = [];
const UNLIMITED = { kind: 'unlimited' } as const;

/**
 * The intent without what no watcher needs, but with all that evolve() needs, and each text only once: a month of
 * closed intents is kept in memory.
 */
export function keptOf(intent: PaymentIntent, shared: Texts): PaymentIntent {
  const own = new Texts(new Map());
  const { settlement, fulfiller, txSignature, reference } = intent;
  own.one(reference);
  const slim: PaymentIntent = {
    ...intent,
    accountId: shared.one(intent.accountId),
    chain: shared.one(intent.chain),
    token: shared.one(intent.token),
    tokenAddress: shared.one(intent.tokenAddress),
    amount: '',
    requestor: shared.one(intent.requestor),
    fulfiller: fulfiller === null ? null : own.one(fulfiller),
    txSignature: txSignature === null ? null : own.one(txSignature),
    direction: shared.one(intent.direction),
    status: shared.one(intent.status),
    idempotencyKey: null,
    updatedAt: intent.createdAt,
    ataRentLamports: null,
    metadata: null,
    build: null,
    transfers: NOTHING,
    extraPayments: NOTHING,
    otherRefunds: intent.otherRefunds.length === 0 ? NOTHING : intent.otherRefunds,
  };
  const terms = termsOf(slim);
  const submitted = (submission: Submission): Submission => ({
    ...submission,
    hash: own.one(submission.hash),
    sender: own.one(submission.sender),
    status: shared.one(submission.status),
    terms,
    ...(submission.lifetime.kind === 'unlimited' && { lifetime: UNLIMITED }),
  });
  const transferred = (transfer: Transfer): Transfer => ({
    ...transfer,
    tokenAddress: shared.one(transfer.tokenAddress),
    from: own.one(transfer.from),
    to: shared.one(transfer.to),
    reference: own.one(transfer.reference),
  });
  const settled = ({ hash, transfer, ...rest }: Settlement): Settlement => ({
    ...rest,
    hash: own.one(hash),
    transfer: transferred(transfer),
  });
  return {
    ...slim,
    submissions: slim.submissions.length === 0 ? NOTHING : slim.submissions.map(submitted),
    settlement: settlement && settled(settlement),
  };
}
