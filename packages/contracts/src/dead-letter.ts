import { z } from 'zod';
import { trace } from './messages.ts';

/**
 * A record of `intent.dead`: why a message could not be processed, and where it is. The message stays in its topic for
 * 7 days, so its content is not repeated here. One message can cause several dead letters.
 */
const deadLetter = z.object({
  /** ISO 8601: when it was dead-lettered, by the writer's clock. */
  at: z.iso.datetime({ precision: 3 }),
  reason: z.string(),
  topic: z.enum(['intent.commands', 'chain.observations']),
  partition: z.number().int().nonnegative(),
  /** A decimal string. */
  offset: z.string().regex(/^\d+$/),
  /** As far as the message could be parsed; else null. */
  intentId: z.string().nullable(),
  commandId: z.string().nullable(),
  trace: trace.nullable(),
});
export type DeadLetter = Readonly<z.infer<typeof deadLetter>>;

export const encodeDeadLetter = (letter: DeadLetter): string => JSON.stringify(letter);
/** @throws SyntaxError or ZodError */
export const parseDeadLetter = (text: string): DeadLetter => deadLetter.parse(JSON.parse(text));
