import type { PaymentIntent } from '../model/intent.ts';
import type { Draft } from './draft.ts';

/** `erase`: in any state, once. What an event before it holds is no longer readable, so it is needed without any, too. */
export const erase = (intent: PaymentIntent, draft: Draft): void => {
  if (intent.erasedAt === undefined) draft.append(intent.id, 'personal_data_erased', {});
};
