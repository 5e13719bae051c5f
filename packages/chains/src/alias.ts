import type { PaymentTerms } from '@pf/domain';
import { networkOf } from './networks.ts';
import { mppNameOf } from './tempo/mpp.ts';

/** The other name of an intent in payments on its network, for watch sets; null where there is only the reference. */
export const aliasOf = (terms: Pick<PaymentTerms, 'chain' | 'reference'>): string | null =>
  networkOf(terms.chain).family === 'tempo' ? mppNameOf(terms) : null;
