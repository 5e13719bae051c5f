import { useEffect } from 'react';
import { EVENT_TYPES, hasEnded } from '../format/states.ts';
import type { Place } from './client.ts';
import { queryClient } from './query-client.ts';
import type { Payment, PaymentEvent } from './types.ts';

export const paymentKey = ({ accountId, mode }: Place, id: string): readonly string[] => [
  'payment',
  accountId,
  mode,
  id,
];
export const eventsKey = (place: Place, id: string): readonly string[] => [...paymentKey(place, id), 'events'];

/** Keeps a payment and its events up to date while it can still change. @param active whether it was loaded */
export function usePaymentStream({ accountId, mode }: Place, id: string, active: boolean): void {
  useEffect(() => {
    if (!active) return;
    const place = { accountId, mode };
    const path = `/api/accounts/${encodeURIComponent(accountId)}/${mode}/v1/intents/${encodeURIComponent(id)}/events`;
    const source = new EventSource(path);
    let current: Payment | undefined;
    const show = (payment: Payment): void => {
      current = payment;
      queryClient.setQueryData(paymentKey(place, id), payment);
    };
    source.addEventListener('snapshot', ({ data }: MessageEvent<string>) => {
      show((JSON.parse(data) as { intent: Payment }).intent);
      // What happened before the stream began.
      void queryClient.invalidateQueries({ queryKey: eventsKey(place, id) });
    });
    for (const type of EVENT_TYPES)
      source.addEventListener(type, ({ data }: MessageEvent<string>) => {
        show((JSON.parse(data) as PaymentEvent).data.intent);
        void queryClient.invalidateQueries({ queryKey: eventsKey(place, id) });
      });
    // The server has ended the stream: browsers would connect again for ever.
    source.addEventListener('error', () => {
      if (current && (hasEnded(current.state) || current.state === 'expired')) source.close();
    });
    return () => source.close();
  }, [accountId, mode, id, active]);
}
