import { z } from 'zod';

/** Redis: tells the webhook services of a delivery that was made due now, so that it need not wait for the next sweep. */
export const DUE_CHANNEL = 'pf:deliveries-due';

/** What is said there. A hint, never the truth: that lies in Postgres. */
const dueNotice = z.object({
  id: z.string(),
  endpointId: z.string(),
  attemptCount: z.number().int().nonnegative(),
  nextAttemptAt: z.coerce.date(),
});
export type DueNotice = z.infer<typeof dueNotice>;

/** @throws SyntaxError or ZodError on what is no such notice */
export const parseDueNotice = (text: string): DueNotice => dueNotice.parse(JSON.parse(text));
export const encodeDueNotice = (notice: DueNotice): string => JSON.stringify(notice);
