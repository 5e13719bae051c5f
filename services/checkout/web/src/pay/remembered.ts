import * as z from 'zod/mini';
import { type Attempt, STAGES } from './money.ts';

const attemptSchema = z.object({
  id: z.string(),
  at: z.number(),
  payer: z.string(),
  // Kept before the field was there: no wallet is asked again.
  wallet: z._default(z.string(), ''),
  // Of a newer page, in another tab or before it was taken back: nothing is known of the money.
  stage: z.catch(z.enum(STAGES), 'unknown'),
  isPartly: z.optional(z.boolean()),
  hash: z.nullable(z.string()),
  callsId: z.nullable(z.string()),
});

const keyOf = (intentId: string): string => `asked:${intentId}`;
export type Kept = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/** Kept on the device: a phone may close the tab while the person is in the wallet, and other tabs read it. */
export function remember(kept: Kept, intentId: string, attempts: readonly Attempt[]): void {
  if (attempts.length === 0) kept.removeItem(keyOf(intentId));
  else kept.setItem(keyOf(intentId), JSON.stringify(attempts.map(keptOf)));
}

export function recall(kept: Kept, intentId: string): readonly Attempt[] {
  const text = kept.getItem(keyOf(intentId));
  if (text === null) return [];
  // What cannot be read is left: another version of this page may have written it.
  const all = parsed(text);
  return (Array.isArray(all) ? all : []).flatMap((one: unknown) => {
    const { success, data } = z.safeParse(attemptSchema, one);
    if (!success) return [];
    const { isPartly, ...attempt } = data;
    return [isPartly === true ? { ...attempt, stage: 'partly' as const } : attempt];
  });
}

/** Pages before the stage `partly` read it as `unknown`; they would forget all where they cannot read one. */
const keptOf = (attempt: Attempt) =>
  attempt.stage === 'partly' ? { ...attempt, stage: 'unknown', isPartly: true } : attempt;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
