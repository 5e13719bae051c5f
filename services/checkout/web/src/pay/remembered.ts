import * as z from 'zod/mini';
import { type Attempt, STAGES } from './money.ts';

const attemptsSchema = z.array(
  z.object({
    id: z.string(),
    at: z.number(),
    payer: z.string(),
    // Kept before the field was there: no wallet is asked again.
    wallet: z._default(z.string(), ''),
    stage: z.enum(STAGES),
    hash: z.nullable(z.string()),
    callsId: z.nullable(z.string()),
  }),
);

const keyOf = (intentId: string): string => `asked:${intentId}`;
export type Kept = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/** Kept on the device: a phone may close the tab while the person is in the wallet, and other tabs read it. */
export function remember(kept: Kept, intentId: string, attempts: readonly Attempt[]): void {
  if (attempts.length === 0) kept.removeItem(keyOf(intentId));
  else kept.setItem(keyOf(intentId), JSON.stringify(attempts));
}

export function recall(kept: Kept, intentId: string): readonly Attempt[] {
  const text = kept.getItem(keyOf(intentId));
  if (text === null) return [];
  try {
    return z.parse(attemptsSchema, JSON.parse(text));
  } catch {
    // Whatever it is, it is not ours: the watcher finds the payment by its reference anyway.
    kept.removeItem(keyOf(intentId));
    return [];
  }
}
