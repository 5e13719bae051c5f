import type { Address, IntentId, Observation, PaymentTerms, PreparedTransaction, Transfer } from '@pf/domain';
import type { Differences, Verification, WatchedIntent, WatchSet } from './port.ts';

interface Landed extends Omit<PreparedTransaction, 'sender' | 'nonce'> {
  /** What it pays these intents, as their watcher judges it; null: it is in no block, or cannot be read now. */
  readonly judge: (watch: WatchSet) => Promise<readonly Observation[] | null>;
  /** The other name of the intent on this network, as of `aliasOf`. */
  readonly alias: string | null;
  /** How it differs by its bytes: told where it pays nothing for this intent. */
  readonly differs: Differences;
}

/**
 * Compares what a transaction has paid that a wallet has sent itself, whatever it is: of another type or version,
 * signed by an access key, with further calls. What the watcher counts as a payment of exactly these terms by the
 * fulfiller is one. It is `unseen` until it is in a block.
 */
export async function verifyLanded(
  { judge, alias, differs, ...landed }: Landed,
  fulfiller: Address,
): Promise<Verification> {
  const { terms } = landed;
  const found = await judge(watchOfOne(terms, alias));
  if (found === null) return { kind: 'unseen' };
  const paid = found.flatMap((one) => (one.type === 'landed' ? [one.data.transfer] : []));
  const least = leastDifferences(paid, terms, fulfiller) ?? differs;
  if (Object.keys(least).length > 0) return { kind: 'mismatch', differs: least };
  return { kind: 'verified', transaction: { ...landed, sender: fulfiller, nonce: null }, hasLanded: true };
}

type Paid = Pick<Transfer, 'from' | 'to' | 'tokenAddress' | 'amount' | 'reference'>;

/** How the transfer differs that comes nearest to these terms, paid by the fulfiller; undefined where there is none. */
export const leastDifferences = (
  paid: readonly Paid[],
  terms: PaymentTerms,
  fulfiller: Address,
): Differences | undefined =>
  paid
    .map((one) => differencesOf(one, terms, fulfiller))
    .sort((one, other) => Object.keys(one).length - Object.keys(other).length)[0];

function differencesOf(
  { from, to, tokenAddress, amount, reference }: Paid,
  terms: PaymentTerms,
  fulfiller: Address,
): Differences {
  const compared: Readonly<Record<string, readonly [expected: string, actual: string]>> = {
    sender: [fulfiller, from],
    token: [terms.tokenAddress, tokenAddress],
    recipient: [terms.requestor, to],
    amount: [terms.amount.toString(), amount.toString()],
    reference: [terms.reference, reference],
  };
  return Object.fromEntries(
    Object.entries(compared).flatMap(([name, [expected, actual]]) =>
      expected === actual ? [] : [[name, { expected, actual }] as const],
    ),
  );
}

/** One intent with these terms, as if nothing had paid it yet. */
function watchOfOne(terms: PaymentTerms, alias: string | null): WatchSet {
  const intent: WatchedIntent = {
    id: 'pi_asked' as IntentId,
    status: 'created',
    terms,
    submission: null,
    settlement: null,
    createdAt: 0,
  };
  return {
    size: 1,
    recall: () => Promise.resolve(),
    byReference: (reference) => (reference === terms.reference ? intent : undefined),
    byAlias: (name) => (name === alias ? intent : undefined),
    hasRecipient: (address) => address === terms.requestor,
    recipients: () => [terms.requestor],
    ownersOf: () => [],
    hasDeposits: false,
    depositsOf: () => [],
    openDeposits: () => [],
    awaited: () => [],
    expected: () => [],
    lapsed: () => [],
    submitted: () => [],
    settling: () => [],
  };
}
