import { z } from 'zod';
import { trace } from './scalars.ts';

/**
 * A record of `intent.dead`: why a message could not be processed, and where it is. One message can cause several dead
 * letters.
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
  /**
   * The whole value of an observation, to process it again: its own topic keeps it for 7 days, this one for 30. Null
   * for a command, which may hold what is secret, and for a value too large for a record. Letters of 1.0 have none.
   */
  payload: z.string().nullable().default(null),
});
export type DeadLetter = Readonly<z.infer<typeof deadLetter>>;

export const encodeDeadLetter = (letter: DeadLetter): string => JSON.stringify(letter);
/** @throws SyntaxError or ZodError */
export const parseDeadLetter = (text: string): DeadLetter => deadLetter.parse(JSON.parse(text));
