import type { Address } from '@pf/domain';
import type { Subscription } from '@pf/rpc';
import { topicOf } from './log-window.ts';

/** Recipients in the filter of a subscription. With more that are paid soon, the poll alone finds their payments. */
const RECIPIENTS_MAX = 200;

/** The logs of these contracts and events that pay one of these recipients. */
export const logSubscription = (
  contracts: readonly string[],
  events: readonly string[],
  recipients: readonly Address[],
): readonly Subscription[] =>
  recipients.length === 0 || recipients.length > RECIPIENTS_MAX
    ? []
    : [
        {
          method: 'eth_subscribe',
          params: ['logs', { address: contracts, topics: [events, null, recipients.map(topicOf)] }],
        },
      ];
