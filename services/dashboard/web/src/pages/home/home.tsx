import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { dashboard, payments } from '../../api/client.ts';
import { useLive } from '../../api/live.ts';
import type { Of } from '../../api/types.ts';
import { amount } from '../../format/money.ts';
import { networkLabel } from '../../format/networks.ts';
import { duration } from '../../format/time.ts';
import { useHere } from '../../shell/place.ts';
import { Chart } from '../../ui/chart.tsx';
import { Choice } from '../../ui/field.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { List } from '../payments/list.tsx';
import { FirstSteps } from './first-steps.tsx';

type Summary = Of<'getSummary'>['summary'];
type Range = Summary['range'];

const NEWEST = 5;
const RANGES = [
  ['24h', 'Last 24 hours'],
  ['7d', 'Last 7 days'],
  ['30d', 'Last 30 days'],
] as const satisfies readonly (readonly [Range, string])[];

export default function Home() {
  const here = useHere();
  const live = useLive();
  const { accountId, mode } = here;
  const [range, setRange] = useState<Range>('7d');
  const summary = useQuery({
    queryKey: ['summary', accountId, mode, range],
    queryFn: ({ signal }) =>
      dashboard('get', '/accounts/{accountId}/{mode}/summary', {
        params: { accountId, mode },
        query: { range },
        signal,
      }),
    ...live,
    // An older one does not have what was just told: it is read again when a new one is made.
    refetchInterval: (query) => query.state.data?.renewableInMs ?? live.refetchInterval(query),
    placeholderData: (former) => former,
  });
  const newest = useQuery({
    queryKey: ['payments', accountId, mode, 'newest'],
    queryFn: ({ signal }) => payments(here)('get', '/intents', { query: { limit: String(NEWEST) }, signal }),
    ...live,
  });
  const attention = useQuery({
    queryKey: ['attention', accountId, mode, 'count'],
    queryFn: ({ signal }) =>
      dashboard('get', '/accounts/{accountId}/{mode}/attention', { params: { accountId, mode }, signal }),
    ...live,
  });
  const isNew = newest.data?.intents.length === 0;
  return (
    <Page
      title="Home"
      actions={!isNew && <Choice label="Range" hideLabel options={RANGES} value={range} onChange={setRange} />}
    >
      {attention.data && <ToDecide items={attention.data.attention.length} hasMore={attention.data.hasMore} />}
      {isNew ? <FirstSteps /> : <Loaded query={summary}>{(data) => <Numbers summary={data.summary} />}</Loaded>}
      {!isNew && (
        <Section title="Newest payments" actions={<Link href="/payments">All payments</Link>}>
          <Loaded query={newest}>{({ intents }) => <List rows={intents} />}</Loaded>
        </Section>
      )}
    </Page>
  );
}

const ToDecide = ({ items, hasMore }: { readonly items: number; readonly hasMore: boolean }) =>
  items > 0 && (
    <Notice kind="warn" title={`${hasMore ? 'More than ' : ''}${count(items, 'thing')} to decide or to repair`}>
      <Link href="/attention">See what needs attention</Link>, each with what to do.
    </Notice>
  );

function Numbers({ summary }: { readonly summary: Summary }) {
  const { payments: made, volume, timeToConfirm, failures } = summary;
  return (
    <>
      {failures.payments + failures.deliveries > 0 && (
        <Notice kind="warn" title="Something failed in this time">
          {failures.payments > 0 && (
            <p>
              <Link href="/payments?state=failed">{count(failures.payments, 'payment')}</Link> failed.
            </p>
          )}
          {failures.deliveries > 0 && (
            <p>
              <Link href="/developers/deliveries?status=failed">{count(failures.deliveries, 'webhook')}</Link> could not
              be delivered.
            </p>
          )}
        </Notice>
      )}
      <dl className="tiles">
        <div className="card">
          <dt>Received</dt>
          <dd>
            {volume.length === 0 ? (
              <span className="figure">0.00</span>
            ) : (
              volume.map(({ chain, token, received }) => (
                <div key={`${chain} ${token}`}>
                  <span className="figure number">
                    {amount(received.amount)} <small>{token}</small>
                  </span>
                  <span className="muted small">
                    {networkLabel(chain)}, {count(received.payments, 'payment')}
                  </span>
                </div>
              ))
            )}
          </dd>
        </div>
        <div className="card">
          <dt>Success rate</dt>
          <dd>
            <span className="figure number">{made.successRate === null ? '–' : percent(made.successRate)}</span>
            <span className="muted small">of the payments that came to an end</span>
          </dd>
        </div>
        <div className="card">
          <dt>Time to confirm</dt>
          <dd>
            <span className="figure number">{timeToConfirm === null ? '–' : duration(timeToConfirm.p50Ms)}</span>
            <span className="muted small">
              {timeToConfirm === null
                ? 'from submitting to paid, without simulated payments'
                : `half are faster; 95 % within ${duration(timeToConfirm.p95Ms)}`}
            </span>
          </dd>
        </div>
        <div className="card">
          <dt>Payments created</dt>
          <dd>
            <span className="figure number">{made.created.toLocaleString('en')}</span>
            <span className="muted small">
              {((made.states.created ?? 0) + (made.states.pending ?? 0)).toLocaleString('en')} are open
            </span>
          </dd>
        </div>
      </dl>
      <Charts summary={summary} />
      {!summary.complete && (
        <p className="muted small">There are more payments than can be counted: these are the newest.</p>
      )}
    </>
  );
}

/** By number, or by the money of one token. */
function Charts({ summary: { buckets, bucket, volume } }: { readonly summary: Summary }) {
  const [measure, setMeasure] = useState('');
  const keyOf = ({ chain, token }: { readonly chain: string; readonly token: string }): string => `${chain} ${token}`;
  const chosen = volume.find((one) => keyOf(one) === measure);
  const title = chosen ? `Received, ${chosen.token} on ${networkLabel(chosen.chain)}` : 'Paid payments';
  const label = (at: string): string =>
    new Date(at).toLocaleString('en', bucket === 'hour' ? { hour: '2-digit', minute: '2-digit' } : DAY);
  return (
    <Section
      title={title}
      actions={
        volume.length > 0 && (
          <Choice
            label="What the chart shows"
            hideLabel
            value={chosen ? measure : ''}
            onChange={setMeasure}
            options={[
              ['', 'Number of payments'],
              ...volume.map((one) => [keyOf(one), `${one.token} on ${networkLabel(one.chain)}`] as const),
            ]}
          />
        )
      }
    >
      <Chart
        title={title}
        bars={buckets.map(({ at, paid, received }) => {
          if (!chosen) return { label: label(at), value: paid, text: count(paid, 'payment') };
          const money = received.find((one) => keyOf(one) === measure)?.amount ?? '0';
          // A height, not an amount of money: precise enough as a float.
          return { label: label(at), value: Number(money), text: `${amount(money)} ${chosen.token}` };
        })}
      />
    </Section>
  );
}

const DAY = { day: 'numeric', month: 'short', timeZone: 'UTC' } as const;
const count = (n: number, noun: string): string => `${n.toLocaleString('en')} ${noun}${n === 1 ? '' : 's'}`;
const percent = (share: number): string => `${(share * 100).toFixed(share === 1 ? 0 : 1)} %`;
