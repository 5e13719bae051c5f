import type { AccountId, Address } from '@pf/domain';
import type { WatchSet } from './port.ts';

/** Of a recipient whose accounts are not known. */
const UNKNOWN: readonly null[] = [null];

/** The accounts whose intents are to be paid to this recipient: those who take turns. */
export function ownersIn(watch: Pick<WatchSet, 'ownersOf'>, recipient: Address): readonly (AccountId | null)[] {
  const owners = watch.ownersOf(recipient);
  return owners.length === 0 ? UNKNOWN : owners;
}
