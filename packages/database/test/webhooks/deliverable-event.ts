import { newIntentId } from '@pf/contracts';
import type { DeliverableEvent } from '../../src/index.ts';

type Owner = Pick<DeliverableEvent, 'accountId' | 'livemode'>;

/** The event of an intent that nothing else knows. */
export function deliverableEvent(
  { accountId, livemode }: Owner,
  { partition = 0, version = 1 } = {},
): DeliverableEvent {
  const intentId = newIntentId(partition);
  return {
    eventId: `evt_${intentId}`,
    eventType: 'intent.created',
    intentId,
    version,
    accountId,
    livemode,
    traceparent: null,
    requestId: null,
  };
}
