import { z } from 'zod';

/**
 * Redis channel on which the webhook services learn of a delivery that is due now, before their next sweep finds it.
 */
export const DUE_CHANNEL = 'pf:deliveries-due';

/** A message on that channel. Only a hint: the truth is in Postgres. */
const dueNotice = z.object({
  id: z.string(),
  endpointId: z.string(),
  attemptCount: z.number().int().nonnegative(),
  nextAttemptAt: z.coerce.date(),
});
export type DueNotice = z.infer<typeof dueNotice>;

/** @throws SyntaxError or ZodError if the text is not a notice */
export const parseDueNotice = (text: string): DueNotice => dueNotice.parse(JSON.parse(text));
export const encodeDueNotice = (notice: DueNotice): string => JSON.stringify(notice);
