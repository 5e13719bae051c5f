import { useInfiniteQuery } from '@tanstack/react-query';
import { ListFilter, Plus, Wallet } from 'lucide-react';
import { useState } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { payments } from '../../api/client.ts';
import { useLive } from '../../api/live.ts';
import { BY_CURSOR } from '../../api/pages.ts';
import { queryString } from '../../api/query-string.ts';
import type { PaymentFilters, State } from '../../api/types.ts';
import { chipsOf, filtersOf } from '../../format/filters.ts';
import { fullTime } from '../../format/time.ts';
import { DEVELOPERS, hasRole, useHere } from '../../shell/place.ts';
import { RoleNote } from '../../shell/roles.tsx';
import { Button } from '../../ui/button.tsx';
import { Chips } from '../../ui/chips.tsx';
import { Empty, Loaded, More } from '../../ui/loaded.tsx';
import { Page } from '../../ui/page.tsx';
import { Export } from './export.tsx';
import { Filters } from './filters.tsx';
import { List } from './list.tsx';
import { NewPayment } from './new-payment.tsx';

const PAGE = 25;

const TABS: readonly { readonly label: string; readonly state: readonly State[] }[] = [
  { label: 'All', state: [] },
  { label: 'Open', state: ['created', 'pending'] },
  { label: 'Paid', state: ['confirmed', 'finalized'] },
  { label: 'Unpaid', state: ['failed', 'expired', 'cancelled'] },
];

export default function Payments() {
  const here = useHere();
  const live = useLive();
  const { accountId, mode } = here;
  const [search] = useSearchParams();
  const [, navigate] = useLocation();
  const [dialog, setDialog] = useState<'new' | 'filters' | 'export' | null>(() => (search.has('new') ? 'new' : null));
  const filters = filtersOf(search);
  const chips = chipsOf(filters);
  const show = (next: PaymentFilters): void => navigate(`/payments${queryString(next)}`, { replace: true });
  const query = useInfiniteQuery({
    queryKey: ['payments', accountId, mode, filters],
    queryFn: ({ pageParam, signal }) =>
      payments(here)('get', '/intents', {
        query: { ...filters, limit: String(PAGE), ...(pageParam !== null && { cursor: pageParam }) },
        signal,
      }),
    ...BY_CURSOR,
    placeholderData: (former) => former,
    ...live,
  });
  const endsAt = query.data?.pages.at(-1)?.endsAt;
  const canCreate = hasRole(here, DEVELOPERS);
  const create = canCreate && (
    <Button look="main" icon={<Plus size={16} aria-hidden />} onPress={() => setDialog('new')}>
      New payment
    </Button>
  );

  return (
    <Page
      title="Payments"
      actions={
        <>
          <Button onPress={() => setDialog('export')}>Export</Button>
          {create}
        </>
      }
    >
      <RoleNote roles={DEVELOPERS} can="create payments" />
      <div className="row apart">
        <ul className="tabs">
          {TABS.map(({ label, state }) => {
            const isShown = String(filters.state ?? []) === String(state);
            const { state: _, ...others } = filters;
            return (
              <li key={label}>
                <Link
                  href={`/payments${queryString({ ...others, state })}`}
                  aria-current={isShown ? 'true' : undefined}
                  replace
                >
                  {label}
                </Link>
              </li>
            );
          })}
        </ul>
        <Button icon={<ListFilter size={16} aria-hidden />} onPress={() => setDialog('filters')}>
          Filter
        </Button>
      </div>
      <Chips chips={chips.map(({ label, without }) => ({ label, remove: () => show(without) }))} />
      <Loaded query={query}>
        {({ pages }) => {
          const rows = pages.flatMap(({ intents }) => intents);
          if (rows.length > 0) return <List rows={rows} />;
          return chips.length > 0 ? (
            <Empty title="No payment matches">
              Remove a filter, or look in {mode === 'test' ? 'live' : 'test'} mode: the two never mix.
            </Empty>
          ) : (
            <Empty
              title={`No ${mode} payments yet`}
              icon={<Wallet size={28} aria-hidden />}
              actions={create || undefined}
            >
              A payment begins as a request: an amount, a token and the wallet that is to receive it.{' '}
              {mode === 'test' && canCreate
                ? 'Create one here and simulate how it is paid.'
                : 'Your programs create them by the API.'}
            </Empty>
          );
        }}
      </Loaded>
      <More query={query} />
      {endsAt !== undefined && (
        <p className="muted small centered">
          Payments that ended long ago are archived: of those created up to {fullTime(endsAt)} some are not listed.
          Search finds each by its id.
        </p>
      )}
      {dialog === 'new' && canCreate && (
        <NewPayment
          onClose={() => {
            setDialog(null);
            // Without `new`: a reload is not to open it again.
            show(filters);
          }}
        />
      )}
      {dialog === 'filters' && <Filters filters={filters} onChange={show} onClose={() => setDialog(null)} />}
      {dialog === 'export' && <Export filters={filters} onClose={() => setDialog(null)} />}
    </Page>
  );
}
