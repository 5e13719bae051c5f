import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Download, FileClock } from 'lucide-react';
import { useState } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import { dashboard } from '../../api/client.ts';
import { BY_CURSOR } from '../../api/pages.ts';
import { queryString } from '../../api/query-string.ts';
import { ACTION_NAMES, ACTIONS, changesOf } from '../../format/audit.ts';
import { short } from '../../format/money.ts';
import { useHere } from '../../shell/place.ts';
import { Badge } from '../../ui/badge.tsx';
import { Chips } from '../../ui/chips.tsx';
import { Choice } from '../../ui/field.tsx';
import { Empty, Loaded, More } from '../../ui/loaded.tsx';
import { Page } from '../../ui/page.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { programOf } from '../profile/program.ts';

const DAYS = [
  ['', 'Any time'],
  ['1', 'Last 24 hours'],
  ['7', 'Last 7 days'],
  ['30', 'Last 30 days'],
  ['365', 'Last year'],
] as const;
const DAY_MS = 86_400_000;

/** Who changed what, when and from where. */
export default function Audit() {
  const { accountId } = useHere();
  const [search] = useSearchParams();
  const [, navigate] = useLocation();
  const [opened] = useState(() => Date.now());
  const days = DAYS.map(([name]) => name).find((name) => name === search.get('days')) ?? '';
  const action = ACTION_NAMES.find((name) => name === search.get('action'));
  const [actor, subject] = [search.get('actor'), search.get('subject')];
  const filters = {
    ...(days !== '' && { since: new Date(opened - Number(days) * DAY_MS).toISOString() }),
    ...(action && { action }),
    ...(actor !== null && { actor }),
    ...(subject !== null && { subject }),
  };
  const show = (changes: object): void =>
    navigate(`/audit${queryString({ days, action, actor, subject, ...changes })}`, { replace: true });
  const query = useInfiniteQuery({
    queryKey: ['audit', accountId, filters],
    queryFn: ({ pageParam, signal }) =>
      dashboard('get', '/accounts/{accountId}/audit', {
        params: { accountId },
        query: { ...filters, ...(pageParam !== null && { cursor: pageParam }) },
        signal,
      }),
    ...BY_CURSOR,
    placeholderData: (former) => former,
  });
  const members = useQuery({
    queryKey: ['members', accountId],
    queryFn: ({ signal }) => dashboard('get', '/accounts/{accountId}/members', { params: { accountId }, signal }),
  });
  return (
    <Page
      title="Audit log"
      about="Who changed what, when and from where. It is written with each change, and no role can alter it."
      actions={
        <a className="button plain" href={`/api/accounts/${accountId}/audit.csv${queryString(filters)}`} download>
          <Download size={16} aria-hidden /> Export CSV
        </a>
      }
    >
      <div className="row">
        <Choice label="Time" hideLabel options={DAYS} value={days} onChange={(next) => show({ days: next })} />
        <Choice
          label="Person"
          hideLabel
          value={actor ?? ''}
          onChange={(next) => show({ actor: next })}
          options={[
            ['', 'Any person'],
            ...(members.data?.members.map(({ userId, name }) => [userId, name] as const) ?? []),
          ]}
        />
        <Choice
          label="What was done"
          hideLabel
          value={action ?? ''}
          onChange={(next) => show({ action: next })}
          options={[['', 'Any change'], ...ACTION_NAMES.map((name) => [name, ACTIONS[name]] as const)]}
        />
      </div>
      <Chips
        chips={subject === null ? [] : [{ label: `About: ${short(subject)}`, remove: () => show({ subject: null }) }]}
      />
      <Loaded query={query}>
        {({ pages }) => {
          const rows = pages.flatMap(({ entries }) => entries);
          return rows.length === 0 ? (
            <Empty title="Nothing is recorded" icon={<FileClock size={28} aria-hidden />}>
              {Object.keys(filters).length > 0
                ? 'No change matches these filters.'
                : 'Every change to the account, its team, keys, webhooks and payments is listed here.'}
            </Empty>
          ) : (
            <Table
              label="Audit log"
              rows={rows}
              keyOf={({ id }) => id}
              columns={[
                {
                  title: 'What',
                  cell: (entry) => (
                    <>
                      <div className="row" title={entry.action}>
                        <strong>{ACTIONS[entry.action]}</strong>
                        {entry.mode !== null && <Badge>{entry.mode}</Badge>}
                      </div>
                      <div className="muted small wrap">
                        {entry.subject !== null && (
                          <button type="button" className="link" onClick={() => show({ subject: entry.subject })}>
                            {short(entry.subject, 10)}
                          </button>
                        )}{' '}
                        {changesOf(entry)}
                      </div>
                    </>
                  ),
                },
                {
                  title: 'Who',
                  cell: ({ actor: { kind, name } }) => (
                    <span className="wrap">
                      {name} {kind !== 'person' && <Badge tone="info">{kind}</Badge>}
                    </span>
                  ),
                },
                {
                  title: 'From',
                  from: 'tablet',
                  cell: ({ address, userAgent }) => (
                    <>
                      <div>{address ?? 'Not shown'}</div>
                      {userAgent !== null && <div className="muted small">{programOf(userAgent)}</div>}
                    </>
                  ),
                },
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
