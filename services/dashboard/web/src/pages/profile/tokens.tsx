import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dashboard } from '../../api/client.ts';
import { queryClient } from '../../api/query-client.ts';
import type { PersonalToken } from '../../api/types.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Once } from '../../ui/copy.tsx';
import { Confirm, Dialog, DialogButton } from '../../ui/dialog.tsx';
import { Choice, Field } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Section } from '../../ui/page.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { notify } from '../../ui/toasts.tsx';

const KEY = ['tokens'];
const DAY_MS = 86_400_000;
const STATUSES: Readonly<Record<PersonalToken['status'], { readonly label: string; readonly tone: Tone }>> = {
  active: { label: 'Active', tone: 'good' },
  expired: { label: 'Expired', tone: 'plain' },
  revoked: { label: 'Revoked', tone: 'plain' },
};
const refresh = (): Promise<void> => queryClient.invalidateQueries({ queryKey: KEY });

/** What the programs of the person have instead of a session. */
export function Tokens() {
  const query = useQuery({ queryKey: KEY, queryFn: ({ signal }) => dashboard('get', '/tokens', { signal }) });
  const [revoking, setRevoking] = useState<PersonalToken | null>(null);
  return (
    <Section
      title="Personal tokens"
      about="Your programs, such as pf, act as you with a token. pf login makes one for itself."
      actions={<DialogButton label="New token">{(close) => <NewToken onClose={close} />}</DialogButton>}
    >
      <Loaded query={query}>
        {({ tokens }) =>
          tokens.length === 0 ? (
            <p className="muted">No program acts as you.</p>
          ) : (
            <Table
              label="Personal tokens"
              rows={tokens}
              keyOf={({ id }) => id}
              columns={[
                {
                  title: 'Name',
                  cell: ({ name, hint }) => (
                    <>
                      <div className="wrap">{name}</div>
                      <code className="muted">{hint}</code>
                    </>
                  ),
                },
                {
                  title: 'Status',
                  cell: ({ status }) => <Badge tone={STATUSES[status].tone}>{STATUSES[status].label}</Badge>,
                },
                {
                  title: 'Last used',
                  from: 'phone',
                  cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'Never' : <Time at={lastUsedAt} />),
                },
                { title: 'Expires', from: 'tablet', cell: ({ expiresAt }) => <Time at={expiresAt} /> },
                {
                  title: 'Actions',
                  hideTitle: true,
                  end: true,
                  cell: (token) =>
                    token.status === 'active' && (
                      <Button aria-label={`Revoke ${token.name}`} onPress={() => setRevoking(token)}>
                        Revoke
                      </Button>
                    ),
                },
              ]}
            />
          )
        }
      </Loaded>
      {revoking && (
        <Confirm
          title={`Revoke ${revoking.name}?`}
          submit="Revoke token"
          onClose={() => setRevoking(null)}
          run={async () => {
            await dashboard('delete', '/tokens/{tokenId}', { params: { tokenId: revoking.id } });
            await refresh();
            notify('The token is revoked.');
          }}
        >
          <p>
            Every request with <code>{revoking.hint}</code> is refused at once. This cannot be undone. You can create
            another token.
          </p>
        </Confirm>
      )}
    </Section>
  );
}

const EXPIRIES = [
  ['7', 'In 7 days'],
  ['30', 'In 30 days'],
  ['90', 'In 90 days'],
  ['365', 'In a year'],
] as const;

function NewToken({ onClose }: { readonly onClose: () => void }) {
  const [secret, setSecret] = useState<string>();
  if (secret !== undefined)
    return (
      <Dialog title="Copy your token now" dismissable={false} onClose={onClose}>
        <Notice kind="warn">It is shown only once. Whoever has it can act as you in all your accounts.</Notice>
        <Once text={secret} of="the token" />
        <div className="row actions">
          <Button look="main" onPress={onClose}>
            I have copied it
          </Button>
        </div>
      </Dialog>
    );
  return (
    <Dialog title="New personal token" onClose={onClose}>
      <Form
        submit="Create token"
        cancel={<Button onPress={onClose}>Cancel</Button>}
        run={async (field) => {
          const expiresAt = new Date(Date.now() + Number(field('days')) * DAY_MS).toISOString();
          const created = await dashboard('post', '/tokens', { body: { name: field('name').trim(), expiresAt } });
          setSecret(created.secret);
          await refresh();
        }}
      >
        <Field
          label="Name"
          name="name"
          maxLength={100}
          isRequired
          autoFocus
          hint="Where it is used, so that you know later which one to revoke: Nightly export"
        />
        <Choice label="Expires" name="days" options={EXPIRIES} initial="90" />
      </Form>
    </Dialog>
  );
}
