import { useQuery } from '@tanstack/react-query';
import { Radio } from 'lucide-react';
import { useState } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { dashboard } from '../../api/client.ts';
import { useLive } from '../../api/live.ts';
import { queryString } from '../../api/query-string.ts';
import type { PaymentEvent } from '../../api/types.ts';
import { amount, short } from '../../format/money.ts';
import { EVENT_TYPES, EVENTS } from '../../format/states.ts';
import { useHere } from '../../shell/place.ts';
import { Badge } from '../../ui/badge.tsx';
import { Code } from '../../ui/code.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Choice } from '../../ui/field.tsx';
import { Empty, Loaded } from '../../ui/loaded.tsx';
import { Page } from '../../ui/page.tsx';
import { Table } from '../../ui/table.tsx';
import { Moment } from '../../ui/time.tsx';

const LIMIT = 100;

/** What happens to payments, as it happens. */
export default function Events() {
  const { accountId, mode } = useHere();
  const live = useLive();
  const [search] = useSearchParams();
  const [, navigate] = useLocation();
  const [opened, setOpened] = useState<PaymentEvent | null>(null);
  const type = EVENT_TYPES.find((name) => name === search.get('type'));
  const query = useQuery({
    queryKey: ['events', accountId, mode, type],
    queryFn: ({ signal }) =>
      dashboard('get', '/accounts/{accountId}/{mode}/events', {
        params: { accountId, mode },
        query: { limit: String(LIMIT), ...(type && { type }) },
        signal,
      }),
    ...live,
    placeholderData: (former) => former,
  });
  return (
    <Page
      title="Events"
      about="What happens to your newest payments, as it happens. Webhooks carry the same bodies."
      actions={
        <Choice
          label="Type"
          hideLabel
          options={[['', 'Any type'], ...EVENT_TYPES.map((name) => [name, name] as const)]}
          value={type ?? ''}
          onChange={(next) => navigate(`/developers/events${queryString({ type: next })}`, { replace: true })}
        />
      }
    >
      <Loaded query={query}>
        {({ events }) =>
          events.length === 0 ? (
            <Empty title={`No ${mode} events yet`} icon={<Radio size={28} aria-hidden />}>
              Each change of a payment is an event: created, paid, failed. They appear here by themselves.
            </Empty>
          ) : (
            <Table
              label="Events"
              rows={events}
              keyOf={({ eventId }) => eventId}
              columns={[
                {
                  title: 'Event',
                  cell: (event) => (
                    <button type="button" className="row-link" onClick={() => setOpened(event)}>
                      {event.type}
                    </button>
                  ),
                },
                {
                  title: 'Meaning',
                  from: 'tablet',
                  cell: (event) => <Badge tone={EVENTS[event.type].tone}>{EVENTS[event.type].label}</Badge>,
                },
                {
                  title: 'Payment',
                  from: 'phone',
                  cell: ({ data: { intent } }) => (
                    <span className="number nowrap">
                      {amount(intent.amount)} {intent.token} <span className="muted">{short(intent.id)}</span>
                    </span>
                  ),
                },
                { title: 'When', end: true, cell: ({ createdAt }) => <Moment at={createdAt} /> },
              ]}
            />
          )
        }
      </Loaded>
      {opened && (
        <Dialog title={opened.type} wide onClose={() => setOpened(null)}>
          <div className="row">
            <Link href={`/payments/${opened.data.intent.id}`}>Open the payment</Link>
            <Link href={`/developers/deliveries?eventId=${opened.eventId}`}>See its deliveries</Link>
          </div>
          <Code text={JSON.stringify(opened, null, 2)} label="The body" />
        </Dialog>
      )}
    </Page>
  );
}
