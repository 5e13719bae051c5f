import { z } from 'zod';
import { trace } from './messages.ts';

/**
 * A record of `intent.dead`: why a message could not be handled and where it lies. The message itself stays in its topic
 * (7 days), so nothing of what it holds is repeated here. One message can lead to several letters.
 */
const deadLetter = z.object({
  /** ISO 8601: when it was put aside, by the writer's clock. */
  at: z.iso.datetime({ precision: 3 }),
  reason: z.string(),
  topic: z.enum(['intent.commands', 'chain.observations']),
  partition: z.number().int().nonnegative(),
  /** Decimal text. */
  offset: z.string().regex(/^\d+$/),
  /** What could be read of it; null where not even that. */
  intentId: z.string().nullable(),
  commandId: z.string().nullable(),
  trace: trace.nullable(),
});
export type DeadLetter = Readonly<z.infer<typeof deadLetter>>;

export const encodeDeadLetter = (letter: DeadLetter): string => JSON.stringify(letter);
/** Throws SyntaxError or ZodError. */
export const parseDeadLetter = (text: string): DeadLetter => deadLetter.parse(JSON.parse(text));
