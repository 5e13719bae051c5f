import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dashboard } from '../../api/client.ts';
import { queryClient } from '../../api/query-client.ts';
import type { PersonalToken } from '../../api/types.ts';
import { Button } from '../../ui/button.tsx';
import { CREDENTIAL, expiryIn, ExpiryChoice } from '../../ui/credential.tsx';
import { Confirm, Dialog, DialogButton } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { OnceDialog } from '../../ui/once.tsx';
import { Section } from '../../ui/page.tsx';
import { Table } from '../../ui/table.tsx';
import { notify } from '../../ui/toasts.tsx';

const KEY = ['tokens'];
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
                CREDENTIAL.name,
                CREDENTIAL.status,
                CREDENTIAL.lastUsed,
                CREDENTIAL.expires,
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

function NewToken({ onClose }: { readonly onClose: () => void }) {
  const [secret, setSecret] = useState<string>();
  if (secret !== undefined)
    return (
      <OnceDialog title="Copy your token now" text={secret} of="the token" onClose={onClose}>
        Whoever has it can act as you in all your accounts.
      </OnceDialog>
    );
  return (
    <Dialog title="New personal token" onClose={onClose}>
      <Form
        submit="Create token"
        cancel={<Button onPress={onClose}>Cancel</Button>}
        run={async (field) => {
          const body = { name: field('name').trim(), expiresAt: expiryIn(field('days')) };
          const created = await dashboard('post', '/tokens', { body });
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
        <ExpiryChoice />
      </Form>
    </Dialog>
  );
}
