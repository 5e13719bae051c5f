import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { RotateCw } from 'lucide-react';
import { useState } from 'react';
import { payments } from '../../api/client.ts';
import { BY_CURSOR } from '../../api/pages.ts';
import { queryClient } from '../../api/query-client.ts';
import type { Replay } from '../../api/types.ts';
import { instantOf, localTime } from '../../format/time.ts';
import { hasRole, SUPPORT, useHere } from '../../shell/place.ts';
import { RoleNote } from '../../shell/roles.tsx';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Confirm, Dialog } from '../../ui/dialog.tsx';
import { Choice, Field, Radios } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Empty, Loaded, More } from '../../ui/loaded.tsx';
import { Page } from '../../ui/page.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { EventTypes, typesIn } from './event-types.tsx';
import { WebhookTabs } from './webhook-tabs.tsx';

const DAY_MS = 86_400_000;
const STATES: Readonly<Record<Replay['state'], { readonly label: string; readonly tone: Tone }>> = {
  counting: { label: 'Counting', tone: 'info' },
  sending: { label: 'Sending', tone: 'info' },
  completed: { label: 'Completed', tone: 'good' },
  cancelled: { label: 'Cancelled', tone: 'plain' },
};
/** While one is under way. */
const REFRESH_MS = 2_000;

const hasEnded = ({ endedAt }: Replay): boolean => endedAt !== null;

export default function Replays() {
  const here = useHere();
  const { accountId, mode } = here;
  const queryKey = ['replays', accountId, mode];
  const [dialog, setDialog] = useState<'new' | Replay | null>(null);
  const canReplay = hasRole(here, SUPPORT);
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) =>
      payments(here)('get', '/webhook-replays', { query: pageParam === null ? {} : { cursor: pageParam }, signal }),
    ...BY_CURSOR,
    // No notice tells how far a replay is.
    refetchInterval: ({ state: { data } }) =>
      data?.pages.some(({ replays }) => !replays.every(hasEnded)) ? REFRESH_MS : false,
  });
  const refresh = (): Promise<void> => queryClient.invalidateQueries({ queryKey });
  const begin = canReplay && (
    <Button look="main" icon={<RotateCw size={16} aria-hidden />} onPress={() => setDialog('new')}>
      Send again
    </Button>
  );
  return (
    <Page
      title="Webhooks"
      about="After an outage of a receiver: send again what failed, many deliveries at once."
      actions={begin}
    >
      <RoleNote roles={SUPPORT} can="send deliveries again" />
      <WebhookTabs />
      <Loaded query={query}>
        {({ pages }) => {
          const rows = pages.flatMap(({ replays }) => replays);
          return rows.length === 0 ? (
            <Empty title="No replays yet" icon={<RotateCw size={28} aria-hidden />} actions={begin || undefined}>
              Deliveries that fail are tried again by themselves for three days. What was given up meanwhile, you send
              again here.
            </Empty>
          ) : (
            <Table
              label="Replays"
              rows={rows}
              keyOf={({ id }) => id}
              columns={[
                {
                  title: 'Events',
                  cell: ({ since, until, status, eventTypes }) => (
                    <>
                      <div>
                        <Time at={since} /> – <Time at={until} />
                      </div>
                      <div className="muted small">
                        {status === 'all' ? 'All deliveries' : 'What failed'}
                        {eventTypes !== null && `, ${eventTypes.length} types`}
                      </div>
                    </>
                  ),
                },
                { title: 'State', cell: ({ state }) => <Badge tone={STATES[state].tone}>{STATES[state].label}</Badge> },
                {
                  title: 'Delivered',
                  end: true,
                  cell: ({ delivered, total }) => `${delivered} of ${total}`,
                },
                { title: 'Failed', from: 'phone', end: true, cell: ({ failed }) => failed },
                { title: 'Left out', from: 'tablet', end: true, cell: ({ skipped }) => skipped },
                { title: 'Begun', from: 'tablet', end: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
                {
                  title: 'Actions',
                  hideTitle: true,
                  end: true,
                  cell: (replay) =>
                    canReplay && !hasEnded(replay) && <Button onPress={() => setDialog(replay)}>Cancel</Button>,
                },
              ]}
            />
          );
        }}
      </Loaded>
      <More query={query} />
      {dialog === 'new' && <NewReplay onBegun={refresh} onClose={() => setDialog(null)} />}
      {dialog !== null && dialog !== 'new' && (
        <Confirm
          title="Cancel this replay?"
          submit="Cancel replay"
          onClose={() => setDialog(null)}
          run={async () => {
            await payments(here)('post', '/webhook-replays/{id}/cancel', { params: { id: dialog.id }, body: {} });
            await refresh();
          }}
        >
          <p>It sends nothing more, but for what is due already. What it has sent stays sent.</p>
        </Confirm>
      )}
    </Page>
  );
}

function NewReplay({ onBegun, onClose }: { readonly onBegun: () => Promise<void>; readonly onClose: () => void }) {
  const here = useHere();
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const [yesterday] = useState(() => localTime(new Date(Date.now() - DAY_MS).toISOString()));
  const endpoints = useQuery({
    queryKey: ['endpoints', here.accountId, here.mode],
    queryFn: ({ signal }) => payments(here)('get', '/webhook-endpoints', { signal }),
  });
  const options = endpoints.data?.endpoints.map(({ id, url }) => [id, url] as const) ?? [];
  return (
    <Dialog title="Send deliveries again" wide onClose={onClose}>
      <Form
        submit="Send again"
        cancel={<Button onPress={onClose}>Cancel</Button>}
        run={async (field, form) => {
          const [until, endpointId, toEndpointId] = [field('until'), field('endpointId'), field('toEndpointId')];
          const types = typesIn(form);
          await payments(here)('post', '/webhook-replays', {
            body: {
              since: instantOf(field('since')),
              status: field('status') === 'all' ? 'all' : 'failed',
              idempotencyKey,
              ...(until !== '' && { until: instantOf(until) }),
              ...(endpointId !== '' && { endpointId }),
              ...(toEndpointId !== '' && { toEndpointId }),
              ...(types && { eventTypes: types }),
            },
          });
          await onBegun();
          onClose();
        }}
      >
        <div className="halves">
          <Field label="Events since" name="since" type="datetime-local" isRequired defaultValue={yesterday} />
          <Field label="Until" name="until" type="datetime-local" hint="Now, if you leave it empty." />
          <Choice label="Of endpoint" name="endpointId" initial="" options={[['', 'Each of them'], ...options]} />
          <Choice
            label="To endpoint"
            name="toEndpointId"
            initial=""
            options={[['', 'The one that it was for'], ...options]}
          />
        </div>
        <Radios
          label="Which"
          name="status"
          initial="failed"
          options={[
            { value: 'failed', label: 'What failed' },
            { value: 'all', label: 'What arrived, too', hint: 'Your program then gets events a second time.' },
          ]}
        />
        <EventTypes initial={null} />
      </Form>
    </Dialog>
  );
}
