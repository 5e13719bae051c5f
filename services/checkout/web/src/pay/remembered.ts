import * as z from 'zod/mini';

/** A transaction that a wallet has sent by itself, until the service knows it. */
const rememberedSchema = z.object({ hash: z.string(), payer: z.string(), at: z.number() });
export type Remembered = z.infer<typeof rememberedSchema>;

const keyOf = (intentId: string): string => `sent:${intentId}`;
type Kept = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/** Kept on the device: a phone may close the tab while the person is in the wallet. */
export function remember(kept: Kept, intentId: string, sent: Remembered): void {
  kept.setItem(keyOf(intentId), JSON.stringify(sent));
}

export function recall(kept: Kept, intentId: string): Remembered | null {
  const text = kept.getItem(keyOf(intentId));
  if (text === null) return null;
  try {
    return z.parse(rememberedSchema, JSON.parse(text));
  } catch {
    // Whatever it is, it is not ours: the watcher finds the payment by its reference anyway.
    forget(kept, intentId);
    return null;
  }
}

export const forget = (kept: Kept, intentId: string): void => kept.removeItem(keyOf(intentId));
