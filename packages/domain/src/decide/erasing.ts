import type { PaymentIntent } from '../model/intent.ts';
import type { Draft } from './draft.ts';

/**
 * `erase`: in any state, once. Events before it may hold what the intent no longer shows, so it is not only for those
 * that show something.
 */
export const erase = (intent: PaymentIntent, draft: Draft): void => {
  if (intent.erasedAt === undefined) draft.append(intent.id, 'personal_data_erased', {});
};
