import { type PaymentIntent, type Settlement, type Submission, termsOf, type Transfer } from '@pf/domain';

/** Interns texts that many intents share: networks, tokens, accounts, requestors. */
export class SharedTexts {
  readonly #texts = new Map<string, string>();

  one<Text extends string>(text: Text): Text {
    const known = this.#texts.get(text) as Text | undefined;
    if (known === undefined) this.#texts.set(text, text);
    return known ?? text;
  }
}

const NOTHING: readonly never[] = [];
const UNLIMITED = { kind: 'unlimited' } as const;

/**
 * The intent without what no watcher needs, but with all that evolve() needs, and each text only once: a month of
 * closed intents is kept in memory, and every text that was read from the log or the database is a separate copy.
 */
export function keptOf(intent: PaymentIntent, shared: SharedTexts): PaymentIntent {
  const own = new SharedTexts();
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
