import { useInfiniteQuery } from '@tanstack/react-query';
import { Activity } from 'lucide-react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { dashboard } from '../../api/client.ts';
import { BY_CURSOR, isFirstPage } from '../../api/pages.ts';
import { queryString } from '../../api/query-string.ts';
import { short } from '../../format/money.ts';
import { duration } from '../../format/time.ts';
import { useHere } from '../../shell/place.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Chips } from '../../ui/chips.tsx';
import { Choice } from '../../ui/field.tsx';
import { Empty, Loaded, More } from '../../ui/loaded.tsx';
import { Page } from '../../ui/page.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

const REFRESH_MS = 5_000;
const CLASSES = [
  ['', 'Any status'],
  ['2xx', '2xx: succeeded'],
  ['4xx', '4xx: refused'],
  ['5xx', '5xx: failed'],
] as const;
type Class = (typeof CLASSES)[number][0];

const toneOf = (status: number): Tone => (status >= 500 ? 'bad' : status >= 400 ? 'warn' : 'good');

/** What programs and people have asked of the payment API. */
export default function Requests() {
  const { accountId, mode } = useHere();
  const [search] = useSearchParams();
  const [, navigate] = useLocation();
  const [keyId, intentId] = [search.get('keyId'), search.get('intentId')];
  const status = CLASSES.map(([name]) => name).find((name) => name === search.get('status')) ?? '';
  const filters = {
    ...(status !== '' && { status }),
    ...(keyId !== null && { keyId }),
    ...(intentId !== null && { intentId }),
  };
  const show = (changes: object): void =>
    navigate(`/developers/requests${queryString({ ...filters, ...changes })}`, { replace: true });
  const query = useInfiniteQuery({
    queryKey: ['requests', accountId, mode, filters],
    queryFn: ({ pageParam, signal }) =>
      dashboard('get', '/accounts/{accountId}/{mode}/requests', {
        params: { accountId, mode },
        query: { ...filters, ...(pageParam !== null && { cursor: pageParam }) },
        signal,
      }),
    ...BY_CURSOR,
    placeholderData: (former) => former,
    refetchInterval: (query) => isFirstPage(query) && REFRESH_MS,
  });
  return (
    <Page title="Requests" about="The requests to the payment API in the last 7 days, and their responses.">
      <div className="row">
        <Choice<Class>
          label="Status"
          hideLabel
          options={CLASSES}
          value={status}
          onChange={(next) => show({ status: next })}
        />
      </div>
      <Chips
        chips={[
          ...(keyId === null ? [] : [{ label: `Key: ${short(keyId)}`, remove: () => show({ keyId: '' }) }]),
          ...(intentId === null
            ? []
            : [{ label: `Payment: ${short(intentId)}`, remove: () => show({ intentId: '' }) }]),
        ]}
      />
      <Loaded query={query}>
        {({ pages }) => {
          const rows = pages.flatMap(({ requests }) => requests);
          return rows.length === 0 ? (
            <Empty title="No requests" icon={<Activity size={28} aria-hidden />}>
              {Object.keys(filters).length > 0
                ? 'None matches these filters.'
                : 'Each request with one of your keys is listed here, with the reason where it was refused.'}
            </Empty>
          ) : (
            <Table
              label="Requests"
              rows={rows}
              keyOf={({ id }) => id}
              columns={[
                {
                  title: 'Request',
                  cell: ({ method, route, path, errorCode, requestId, omitted }) => (
                    <div title={requestId}>
                      <code className="wrap">
                        {method} {path ?? route}
                      </code>
                      {path !== null && path !== route && <div className="small muted wrap">{route}</div>}
                      {errorCode !== null && <div className="small muted wrap">{errorCode}</div>}
                      {omitted > 0 && (
                        <div className="small muted wrap">
                          {omitted.toLocaleString('en')} requests before it are not listed: too many at a time
                        </div>
                      )}
                    </div>
                  ),
                },
                { title: 'Status', cell: ({ status: code }) => <Badge tone={toneOf(code)}>{code}</Badge> },
                {
                  title: 'By',
                  from: 'phone',
                  cell: ({ key, person }) =>
                    person ? (
                      <span className="clipped">{person.name ?? 'A former member'}</span>
                    ) : key ? (
                      <Link href={`/developers/requests?keyId=${key.id}`} className="clipped">
                        {key.name ?? key.hint ?? key.id}
                      </Link>
                    ) : (
                      <span className="muted">A payer</span>
                    ),
                },
                {
                  title: 'Payment',
                  from: 'tablet',
                  cell: ({ intentId: id }) => id !== null && <Link href={`/payments/${id}`}>{short(id)}</Link>,
                },
                { title: 'Took', from: 'tablet', end: true, cell: ({ durationMs }) => duration(durationMs) },
                { title: 'When', end: true, cell: ({ at }) => <Time at={at} /> },
              ]}
            />
          );
        }}
      </Loaded>
      <More query={query} />
    </Page>
  );
}
