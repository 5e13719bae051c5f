import type { IntentStatus } from '@pf/domain';

/**
 * A gateway's own channel: the partitions' owners send it the replies to its commands.
 * @param gatewayId unique to the process
 */
export const replyChannel = (gatewayId: string): string => `pf:replies:${gatewayId}`;

/** The notices of one intent. */
export const intentChannel = (intentId: string): string => `pf:intent:${intentId}`;

/** Messages without content: something of an account has changed in one mode. */
const accountChannel = ({ accountId, livemode }: AccountMode): string =>
  `pf:account:${accountId}:${livemode ? 'live' : 'test'}`;

/** The channels of these accounts, each once. */
export const accountChannels = (accounts: readonly AccountMode[]): readonly string[] => [
  ...new Set(accounts.map(accountChannel)),
];

/** An account in one of its modes. */
export interface AccountMode {
  readonly accountId: string;
  readonly livemode: boolean;
}

/** On an intent's channel: something public may have changed. Only a hint; `version` is the newest. */
export interface Notice {
  readonly intentId: string;
  readonly version: number;
  readonly state: IntentStatus;
}
export const encodeNotice = (notice: Notice): string => JSON.stringify(notice);
