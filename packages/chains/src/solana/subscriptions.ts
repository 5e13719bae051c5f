import type { Subscription } from '@pf/rpc';
import type { WatchSet } from '../port.ts';

/** Of one socket: providers allow some hundred. With more under way the poll alone tells. */
const SUBSCRIPTIONS_MAX = 100;

/** The submitted transactions by their signature, and announced payments by the reference that they carry. */
export function subscriptionsOf(watch: Pick<WatchSet, 'submitted' | 'expected'>): readonly Subscription[] {
  const all: Subscription[] = [];
  const config = { commitment: 'confirmed' };
  for (const { submission } of watch.submitted())
    all.push({ method: 'signatureSubscribe', params: [submission.hash, config] });
  for (const { terms } of watch.expected())
    all.push({ method: 'logsSubscribe', params: [{ mentions: [terms.reference] }, config] });
  return all.length > SUBSCRIPTIONS_MAX ? [] : all;
}
