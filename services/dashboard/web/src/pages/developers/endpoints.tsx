import { useQuery } from '@tanstack/react-query';
import { Plus, Webhook } from 'lucide-react';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { payments } from '../../api/client.ts';
import { useLive } from '../../api/live.ts';
import { queryClient } from '../../api/query-client.ts';
import type { Of } from '../../api/types.ts';
import { ENDPOINT_STATUS } from '../../format/deliveries.ts';
import { DEVELOPERS, hasRole, useHere } from '../../shell/place.ts';
import { RoleNote } from '../../shell/roles.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Empty, Loaded } from '../../ui/loaded.tsx';
import { OnceDialog } from '../../ui/once.tsx';
import { Page } from '../../ui/page.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { EventTypes, typesIn } from './event-types.tsx';
import { WebhookTabs } from './webhook-tabs.tsx';

export default function Endpoints() {
  const here = useHere();
  const live = useLive();
  const { accountId, mode } = here;
  const [isOpen, setOpen] = useState(false);
  const query = useQuery({
    queryKey: ['endpoints', accountId, mode],
    queryFn: ({ signal }) => payments(here)('get', '/webhook-endpoints', { signal }),
    ...live,
  });
  const add = hasRole(here, DEVELOPERS) && (
    <Button look="main" icon={<Plus size={16} aria-hidden />} onPress={() => setOpen(true)}>
      Add endpoint
    </Button>
  );
  return (
    <Page
      title="Webhooks"
      about="Your programs are told of each event, signed, at least once, and again for three days if they fail."
      actions={add}
    >
      <RoleNote roles={DEVELOPERS} can="add webhooks and see their secrets" />
      <WebhookTabs />
      <Loaded query={query}>
        {({ endpoints }) =>
          endpoints.length === 0 ? (
            <Empty
              title={`No ${mode} endpoints yet`}
              icon={<Webhook size={28} aria-hidden />}
              actions={add || undefined}
            >
              An endpoint is a URL of yours that gets a POST request for each event, such as a payment that is paid.
              {mode === 'test' && ' For a program on your own machine: pf listen --forward-to localhost:3000.'}
            </Empty>
          ) : (
            <Table
              label="Webhook endpoints"
              rows={endpoints}
              keyOf={({ id }) => id}
              columns={[
                {
                  title: 'URL',
                  cell: ({ id, url, name }) => (
                    <>
                      <Link href={`/developers/endpoints/${id}`} className="row-link wrap">
                        {url}
                      </Link>
                      {name !== null && name !== '' && <div className="muted small wrap">{name}</div>}
                    </>
                  ),
                },
                {
                  title: 'Status',
                  cell: ({ status }) => (
                    <Badge tone={ENDPOINT_STATUS[status].tone}>{ENDPOINT_STATUS[status].label}</Badge>
                  ),
                },
                {
                  title: 'Events',
                  from: 'phone',
                  cell: ({ eventTypes }) => (eventTypes === null ? 'All' : `${eventTypes.length} types`),
                },
                {
                  title: 'Failing',
                  from: 'tablet',
                  cell: ({ failingSince }) => (failingSince === null ? 'No' : <Time at={failingSince} />),
                },
                { title: 'Created', from: 'tablet', end: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
              ]}
            />
          )
        }
      </Loaded>
      {isOpen && <NewEndpoint onClose={() => setOpen(false)} />}
    </Page>
  );
}

function NewEndpoint({ onClose }: { readonly onClose: () => void }) {
  const here = useHere();
  const [, navigate] = useLocation();
  // One for this dialog: a response that was lost on its way is repeated, secret included.
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const [made, setMade] = useState<Of<'createEndpoint'>>();
  if (made)
    return (
      <OnceDialog
        title="Copy the secret now"
        text={made.secret}
        of="the secret"
        onClose={() => navigate(`/developers/endpoints/${made.endpoint.id}`)}
      >
        With it, your program verifies that a request comes from us.
      </OnceDialog>
    );
  return (
    <Dialog title={`Add a ${here.mode} endpoint`} wide onClose={onClose}>
      <Form
        submit="Add endpoint"
        cancel={<Button onPress={onClose}>Cancel</Button>}
        run={async (field, form) => {
          const name = field('name').trim();
          const created = await payments(here)('post', '/webhook-endpoints', {
            body: {
              url: field('url').trim(),
              eventTypes: typesIn(form),
              ...(name !== '' && { name }),
              idempotencyKey,
            },
          });
          setMade(created);
          await queryClient.invalidateQueries({ queryKey: ['endpoints', here.accountId, here.mode] });
        }}
      >
        <Field
          label="URL"
          name="url"
          type="url"
          isRequired
          autoFocus
          mono
          placeholder="https://shop.example/webhooks"
          hint={here.mode === 'live' ? 'It must begin with https://.' : 'In test mode it may begin with http://, too.'}
        />
        <Field label="Name" name="name" maxLength={100} hint="For you, where the URL does not say enough." />
        <EventTypes initial={null} />
      </Form>
    </Dialog>
  );
}
