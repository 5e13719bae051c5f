import { useInfiniteQuery } from '@tanstack/react-query';
import { Send } from 'lucide-react';
import { useLocation, useSearchParams } from 'wouter';
import { payments } from '../../api/client.ts';
import { useLive } from '../../api/live.ts';
import { BY_CURSOR } from '../../api/pages.ts';
import { queryString } from '../../api/query-string.ts';
import type { DeliveryFilters } from '../../api/types.ts';
import { DELIVERED_TYPES } from '../../format/deliveries.ts';
import { useHere } from '../../shell/place.ts';
import { Chips } from '../../ui/chips.tsx';
import { Choice } from '../../ui/field.tsx';
import { Empty, Loaded, More } from '../../ui/loaded.tsx';
import { Page } from '../../ui/page.tsx';
import { DeliveryList } from './delivery-list.tsx';
import { WebhookTabs } from './webhook-tabs.tsx';

const STATUSES = [
  ['', 'Any status'],
  ['pending', 'Pending'],
  ['delivered', 'Delivered'],
  ['failed', 'Failed'],
] as const;

/** The filters in the query of the page. */
function filtersIn(search: URLSearchParams): DeliveryFilters {
  const [eventId, intentId] = [search.get('eventId'), search.get('intentId')];
  const status = STATUSES.map(([name]) => name).find((name) => name !== '' && name === search.get('status'));
  const type = DELIVERED_TYPES.find((name) => name === search.get('type'));
  return {
    ...(eventId && { eventId }),
    ...(intentId && { intentId }),
    ...(status && { status }),
    ...(type && { type }),
  };
}

export default function Deliveries() {
  const here = useHere();
  const live = useLive();
  const { accountId, mode } = here;
  const [search] = useSearchParams();
  const [, navigate] = useLocation();
  const filters = filtersIn(search);
  const { eventId, intentId, ...others } = filters;
  const show = (next: object): void => navigate(`/developers/deliveries${queryString(next)}`, { replace: true });
  const query = useInfiniteQuery({
    queryKey: ['deliveries', accountId, mode, filters],
    queryFn: ({ pageParam, signal }) =>
      payments(here)('get', '/webhooks', {
        query: { ...filters, ...(pageParam !== null && { cursor: pageParam }) },
        signal,
      }),
    ...BY_CURSOR,
    placeholderData: (former) => former,
    ...live,
  });
  const rows = query.data?.pages.flatMap(({ deliveries }) => deliveries) ?? [];
  const chips = [
    ...(eventId === undefined
      ? []
      : [{ label: `Event: ${eventId}`, remove: () => show({ ...others, ...(intentId && { intentId }) }) }]),
    ...(intentId === undefined
      ? []
      : [{ label: `Payment: ${intentId}`, remove: () => show({ ...others, ...(eventId && { eventId }) }) }]),
  ];
  return (
    <Page title="Webhooks" about="What was sent to your endpoints in the last 30 days, and what they responded.">
      <WebhookTabs />
      <div className="row">
        <Choice
          label="Status"
          hideLabel
          options={STATUSES}
          value={filters.status ?? ''}
          onChange={(status) => show({ ...filters, status })}
        />
        <Choice
          label="Type"
          hideLabel
          options={[['', 'Any type'], ...DELIVERED_TYPES.map((type) => [type, type] as const)]}
          value={filters.type ?? ''}
          onChange={(type) => show({ ...filters, type })}
        />
      </div>
      <Chips chips={chips} />
      <Loaded query={query}>
        {() =>
          rows.length === 0 ? (
            <Empty title="No deliveries" icon={<Send size={28} aria-hidden />}>
              {Object.keys(filters).length > 0
                ? 'None matches these filters.'
                : 'Each event of a payment is delivered to each of your endpoints, and listed here.'}
            </Empty>
          ) : (
            <DeliveryList rows={rows} onChanged={() => void query.refetch()} />
          )
        }
      </Loaded>
      <More query={query} />
    </Page>
  );
}
