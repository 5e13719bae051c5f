import type { IntentStatus } from '@pf/domain';
import { z } from 'zod';

/**
 * A gateway's own channel: the partitions' owners send it the replies to its commands.
 * @param gatewayId unique to the process
 */
export const replyChannel = (gatewayId: string): string => `pf:replies:${gatewayId}`;

/** The notices of one intent. */
export const intentChannel = (intentId: string): string => `pf:intent:${intentId}`;

/** On an intent's channel: something public may have changed. Only a hint; `version` is the newest. */
export interface Notice {
  readonly intentId: string;
  readonly version: number;
  readonly state: IntentStatus;
}
export const encodeNotice = (notice: Notice): string => JSON.stringify(notice);

/** The webhook services learn here of a delivery that is due now, before their next sweep finds it. */
export const DUE_CHANNEL = 'pf:deliveries-due';

/** A message on `DUE_CHANNEL`. Only a hint: the truth is in Postgres. */
const dueNotice = z.object({
  id: z.string(),
  endpointId: z.string(),
  attemptCount: z.number().int().nonnegative(),
  nextAttemptAt: z.coerce.date(),
});
export type DueNotice = z.infer<typeof dueNotice>;
export const encodeDueNotice = (notice: DueNotice): string => JSON.stringify(notice);
/** @throws SyntaxError or ZodError if the text is not a notice */
export const parseDueNotice = (text: string): DueNotice => dueNotice.parse(JSON.parse(text));
