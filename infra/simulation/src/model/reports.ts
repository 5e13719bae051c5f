import type { EventEnvelope } from '@pf/contracts';
import { type Deposit, type IntentId, type Landing, type PaymentIntent, transferKey } from '@pf/domain';
import { InvariantError } from './invariants.ts';

/** What the log says. */
export interface Told {
  readonly intents: Iterable<PaymentIntent>;
  readonly deposits: ReadonlyMap<string, Deposit>;
  readonly events: readonly EventEnvelope[];
}

/** A transfer of which an intent's account was told that its terms are others. */
interface Report {
  readonly intentId: IntentId;
  readonly landing: Landing;
  /** A payer claims that it was to pay the intent: a claim, which no proof withdraws. */
  readonly isClaimed: boolean;
}

/** Not the domain's own: bugs are planted there. */
export const isPaid = ({ status, settlement }: PaymentIntent): boolean =>
  (status === 'confirmed' || status === 'finalized') && settlement?.lost === false;

/** What was told with other terms and not withdrawn; of a deposit as long as it is assigned to that intent. */
export function standingReports({ events, deposits }: Omit<Told, 'intents'>): readonly Report[] {
  const standing = new Map<string, Report>();
  for (const { type, intentId, data } of events) {
    if (type !== 'intent.mismatched_payment' && type !== 'intent.mismatch_withdrawn') continue;
    const { landing, claimed } = data as { readonly landing: Landing; readonly claimed?: true };
    const { depositId } = landing;
    const key = `${intentId} ${transferKey(landing)}`;
    if (type === 'intent.mismatch_withdrawn') standing.delete(key);
    else if (depositId === undefined || deposits.get(depositId)?.intentId === intentId)
      standing.set(key, { intentId, landing, isClaimed: claimed === true });
  }
  return [...standing.values()];
}

/**
 * A transfer settles one intent of an account, and is reported with other terms for none, but by who claims it. Holds
 * in the end: the events of two intents may come in any order.
 * @throws InvariantError
 */
export function checkReports({ intents, deposits, events }: Told): void {
  const accountOf = new Map<IntentId, PaymentIntent['accountId']>();
  const settled = new Map<string, IntentId>();
  for (const intent of intents) {
    const { id, accountId, settlement } = intent;
    accountOf.set(id, accountId);
    if (settlement === null || !isPaid(intent)) continue;
    const key = `${transferKey(settlement)} of ${accountId}`;
    const other = settled.get(key);
    if (other !== undefined)
      throw new InvariantError('a deposit pays one intent', `${transferKey(settlement)} settles ${other} and ${id}`);
    settled.set(key, id);
  }
  for (const { intentId, landing, isClaimed } of standingReports({ deposits, events })) {
    const paid = settled.get(`${transferKey(landing)} of ${accountOf.get(intentId)}`);
    if (paid !== undefined && !isClaimed)
      throw new InvariantError(
        'a proof withdraws the report',
        `${transferKey(landing)} settles ${paid}, and is reported as mismatched for ${intentId}`,
      );
  }
}
