import { useQuery } from '@tanstack/react-query';
import { ChevronLeft, Ellipsis, Send } from 'lucide-react';
import { useState } from 'react';
import { Link, useLocation, useParams } from 'wouter';
import { payments } from '../../api/client.ts';
import { useLive } from '../../api/live.ts';
import { queryClient } from '../../api/query-client.ts';
import type { Endpoint as EndpointData, Of } from '../../api/types.ts';
import { ENDPOINT_STATUS } from '../../format/deliveries.ts';
import { duration } from '../../format/time.ts';
import { DEVELOPERS, hasRole, useHere } from '../../shell/place.ts';
import { RoleNote } from '../../shell/roles.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Code } from '../../ui/code.tsx';
import { Confirm, Dialog } from '../../ui/dialog.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Choice, Field, Tick } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Loaded, LoadedPage } from '../../ui/loaded.tsx';
import { Menu } from '../../ui/menu.tsx';
import { Notice } from '../../ui/notice.tsx';
import { OnceDialog } from '../../ui/once.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { useTask } from '../../ui/task.ts';
import { Time } from '../../ui/time.tsx';
import { notify } from '../../ui/toasts.tsx';
import { DeliveryList } from './delivery-list.tsx';
import { EventTypes, typesIn } from './event-types.tsx';

type Asked = 'edit' | 'rotate' | 'pause' | 'enable' | 'remove';
type Tested = Of<'testEndpoint'>;

export default function Endpoint() {
  const here = useHere();
  const live = useLive();
  const { accountId, mode } = here;
  const { id = '' } = useParams<{ id: string }>();
  const [, navigate] = useLocation();
  const [asked, setAsked] = useState<Asked | null>(null);
  const [tested, setTested] = useState<Tested>();
  const queryKey = ['endpoint', accountId, mode, id];
  const query = useQuery({
    queryKey,
    queryFn: ({ signal }) => payments(here)('get', '/webhook-endpoints/{id}', { params: { id }, signal }),
    ...live,
  });
  const close = (): void => setAsked(null);
  const show = async (endpoint: EndpointData): Promise<void> => {
    queryClient.setQueryData(queryKey, { endpoint });
    await queryClient.invalidateQueries({ queryKey: ['endpoints', accountId, mode] });
    close();
  };
  const update = async (body: { readonly paused: boolean }): Promise<void> =>
    show((await payments(here)('patch', '/webhook-endpoints/{id}', { params: { id }, body })).endpoint);
  const [test, isTesting] = useTask(async () =>
    setTested(await payments(here)('post', '/webhook-endpoints/{id}/test', { params: { id }, body: {} })),
  );
  const [resume, isResuming] = useTask(async () => {
    await update({ paused: false });
    notify('Deliveries are sent again.');
  });

  const back = (
    <Link href="/developers/endpoints" className="row">
      <ChevronLeft size={15} aria-hidden /> Webhooks
    </Link>
  );
  return (
    <LoadedPage query={query} missing="Webhook not found" back={back}>
      {({ endpoint }) => (
        <Page
          title={endpoint.url}
          heading={<span className="wrap">{endpoint.url}</span>}
          about={endpoint.name ?? undefined}
          back={back}
          actions={
            hasRole(here, DEVELOPERS) && (
              <>
                {endpoint.status === 'enabled' && (
                  <Button
                    look="main"
                    icon={<Send size={16} aria-hidden />}
                    isPending={isTesting}
                    onPress={() => test()}
                  >
                    Send test event
                  </Button>
                )}
                {endpoint.status === 'paused' && (
                  <Button look="main" isPending={isResuming} onPress={() => resume()}>
                    Resume
                  </Button>
                )}
                {endpoint.status === 'disabled' && (
                  <Button look="main" onPress={() => setAsked('enable')}>
                    Enable
                  </Button>
                )}
                <Menu
                  label="More"
                  button={<Button icon={<Ellipsis size={18} />} aria-label="More" />}
                  entries={[
                    { id: 'edit', label: 'Edit', run: () => setAsked('edit') },
                    { id: 'rotate', label: 'Rotate the secret', run: () => setAsked('rotate') },
                    ...(endpoint.status === 'enabled'
                      ? [{ id: 'pause', label: 'Pause', run: () => setAsked('pause') }]
                      : []),
                    { id: 'remove', label: 'Remove', danger: true, apart: true, run: () => setAsked('remove') },
                  ]}
                />
              </>
            )
          }
        >
          <RoleNote roles={DEVELOPERS} can="change this webhook, test it or rotate its secret" />
          {endpoint.status === 'disabled' && (
            <Notice kind="bad" title="It gets nothing">
              {endpoint.disabledReason === 'gone'
                ? 'It responded with 410 Gone.'
                : 'It has accepted nothing for 5 days.'}{' '}
              Repair the receiver, then enable the endpoint and have sent what it has missed.
            </Notice>
          )}
          {endpoint.status === 'enabled' && endpoint.failingSince !== null && (
            <Notice kind="warn" title="It is failing">
              Since <Time at={endpoint.failingSince} /> it has accepted nothing. After 5 days it is disabled.{' '}
              <Link href="/developers/deliveries?status=failed">See the deliveries</Link>
            </Notice>
          )}
          {endpoint.missedSince !== null && (
            <Notice kind="warn" title="It is behind">
              Of the events since <Time at={endpoint.missedSince} /> {endpoint.missedCount.toLocaleString('en')} have no
              delivery to it yet: too many deliveries of this account have failed or wait. They are sent in order once
              the endpoint accepts what it has.
            </Notice>
          )}
          <Facts
            rows={[
              [
                'Status',
                <Badge key="status" tone={ENDPOINT_STATUS[endpoint.status].tone}>
                  {ENDPOINT_STATUS[endpoint.status].label}
                </Badge>,
              ],
              ['Id', <code key="id">{endpoint.id}</code>],
              ['Events', endpoint.eventTypes === null ? 'All' : endpoint.eventTypes.join(', ')],
              ['Version', endpoint.apiVersion],
              ['Created', <Time key="created" at={endpoint.createdAt} />],
            ]}
          />
          {tested && <Result tested={tested} />}
          <Newest url={endpoint.url} />
          {asked === 'edit' && <Edit endpoint={endpoint} onSaved={show} onClose={close} />}
          {asked === 'rotate' && <Rotate endpoint={endpoint} onClose={close} />}
          {asked === 'enable' && <Enable endpoint={endpoint} onEnabled={show} onClose={close} />}
          {asked === 'pause' && (
            <Confirm title="Pause this endpoint?" submit="Pause" onClose={close} run={() => update({ paused: true })}>
              <p>Its deliveries wait, and are sent when you resume it. Nothing is lost.</p>
            </Confirm>
          )}
          {asked === 'remove' && (
            <Confirm
              title="Remove this endpoint?"
              submit="Remove endpoint"
              onClose={close}
              run={async () => {
                await payments(here)('delete', '/webhook-endpoints/{id}', { params: { id } });
                await queryClient.invalidateQueries({ queryKey: ['endpoints', accountId, mode] });
                notify('The endpoint is removed.');
                navigate('/developers/endpoints');
              }}
            >
              <p className="wrap">
                Nothing more is sent to {endpoint.url}. What is still to be delivered to it fails, and its secret is
                deleted.
              </p>
              <p>This cannot be undone: the same URL can be added again, with a new secret.</p>
            </Confirm>
          )}
        </Page>
      )}
    </LoadedPage>
  );
}

/** Of all deliveries so many are looked at: the API does not list those of one endpoint. */
const LOOKED_AT = 100;
const SHOWN = 10;

function Newest({ url }: { readonly url: string }) {
  const here = useHere();
  const live = useLive();
  const query = useQuery({
    queryKey: ['deliveries', here.accountId, here.mode, 'newest'],
    queryFn: ({ signal }) => payments(here)('get', '/webhooks', { query: { limit: String(LOOKED_AT) }, signal }),
    ...live,
  });
  return (
    <Section title="Newest deliveries" actions={<Link href="/developers/deliveries">All deliveries</Link>}>
      <Loaded query={query}>
        {({ deliveries }) => {
          const rows = deliveries.filter((one) => one.url === url).slice(0, SHOWN);
          return rows.length === 0 ? (
            <p className="muted">None of the newest {LOOKED_AT} deliveries is for this endpoint.</p>
          ) : (
            <DeliveryList rows={rows} onChanged={() => void query.refetch()} />
          );
        }}
      </Loaded>
    </Section>
  );
}

function Result({ tested: { attempt, eventId } }: { readonly tested: Tested }) {
  return (
    <Section title="The test event">
      <div role="status">
        {attempt === null ? (
          <Notice kind="info">
            It is not sent yet. See <Link href={`/developers/deliveries?eventId=${eventId}`}>its delivery</Link>.
          </Notice>
        ) : attempt.reason === null ? (
          <Notice
            kind="good"
            title={`Accepted with ${attempt.responseStatus}, after ${duration(attempt.durationMs)}`}
          />
        ) : (
          <Notice kind="bad" title="Not accepted">
            {attempt.reason}
          </Notice>
        )}
      </div>
      {attempt?.responseBody && <Code text={attempt.responseBody} label="What it responded" />}
    </Section>
  );
}

function Edit({
  endpoint: { id, name, eventTypes },
  onSaved,
  onClose,
}: {
  readonly endpoint: EndpointData;
  readonly onSaved: (endpoint: EndpointData) => Promise<void>;
  readonly onClose: () => void;
}) {
  const here = useHere();
  return (
    <Dialog title="Edit the endpoint" wide onClose={onClose}>
      <Form
        submit="Save"
        cancel={<Button onPress={onClose}>Cancel</Button>}
        run={async (field, form) => {
          const { endpoint } = await payments(here)('patch', '/webhook-endpoints/{id}', {
            params: { id },
            body: { name: field('name').trim() || null, eventTypes: typesIn(form) },
          });
          await onSaved(endpoint);
        }}
      >
        <Field label="Name" name="name" maxLength={100} defaultValue={name ?? ''} />
        <EventTypes initial={eventTypes} />
        <p className="muted small">The choice counts for events from now on. For another URL, add another endpoint.</p>
      </Form>
    </Dialog>
  );
}

const DELAYS = [
  ['0', 'Now'],
  ['1', 'In an hour'],
  ['24', 'In a day'],
] as const;
const HOUR_MS = 3_600_000;

function Rotate({ endpoint: { id }, onClose }: { readonly endpoint: EndpointData; readonly onClose: () => void }) {
  const here = useHere();
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const [made, setMade] = useState<Of<'rotateEndpointSecret'>>();
  if (made)
    return (
      <OnceDialog title="Copy the new secret now" text={made.secret} of="the secret" onClose={onClose}>
        It signs from <Time at={made.validFrom} /> on; for 24 hours after that the former one signs, too.
      </OnceDialog>
    );
  return (
    <Dialog title="Rotate the secret?" onClose={onClose}>
      <Form
        look="danger"
        submit="Create a new secret"
        cancel={<Button onPress={onClose}>Go back</Button>}
        run={async (field) => {
          const hours = Number(field('hours'));
          setMade(
            await payments(here)('post', '/webhook-endpoints/{id}/rotate-secret', {
              params: { id },
              body: {
                idempotencyKey,
                ...(hours > 0 && { validFrom: new Date(Date.now() + hours * HOUR_MS).toISOString() }),
              },
            }),
          );
        }}
      >
        <p>
          Another secret signs from then on. For 24 hours requests carry both signatures; after that, a program that
          knows only the former secret refuses every request.
        </p>
        <Choice label="It signs from" name="hours" options={DELAYS} initial="0" />
      </Form>
    </Dialog>
  );
}

function Enable({
  endpoint: { id },
  onEnabled,
  onClose,
}: {
  readonly endpoint: EndpointData;
  readonly onEnabled: (endpoint: EndpointData) => Promise<void>;
  readonly onClose: () => void;
}) {
  const here = useHere();
  return (
    <Dialog title="Enable the endpoint" onClose={onClose}>
      <Form
        submit="Enable"
        cancel={<Button onPress={onClose}>Cancel</Button>}
        run={async (field) => {
          const { endpoint, replayed } = await payments(here)('post', '/webhook-endpoints/{id}/enable', {
            params: { id },
            body: { replay: field('replay') === 'on' },
          });
          await onEnabled(endpoint);
          notify(replayed === 0 ? 'The endpoint is enabled.' : `It is enabled, and ${replayed} deliveries are sent.`);
        }}
      >
        <Tick
          name="replay"
          initial
          label="Send what it has missed"
          hint="Every delivery since it began to fail, at the rate that it takes."
        />
      </Form>
    </Dialog>
  );
}
