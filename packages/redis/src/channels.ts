import type { IntentStatus } from '@pf/domain';

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
