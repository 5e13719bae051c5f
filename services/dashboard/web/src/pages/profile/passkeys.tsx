import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dashboard } from '../../api/client.ts';
import { queryClient } from '../../api/query-client.ts';
import type { Passkey } from '../../api/types.ts';
import { addPasskey, canUsePasskeys } from '../../passkeys/passkeys.ts';
import { CurrentPassword } from './current-password.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogButton } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Section } from '../../ui/page.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { notify } from '../../ui/toasts.tsx';
import { programOf } from './program.ts';

const KEY = ['passkeys'];
const refresh = (): Promise<void> => queryClient.invalidateQueries({ queryKey: KEY });

/** With what the person signs in instead of password and code. */
export function Passkeys() {
  const query = useQuery({ queryKey: KEY, queryFn: ({ signal }) => dashboard('get', '/passkeys', { signal }) });
  const [renaming, setRenaming] = useState<Passkey | null>(null);
  const [removing, setRemoving] = useState<Passkey | null>(null);
  return (
    <Section
      title="Passkeys"
      about="Sign in with the fingerprint, face or PIN of a device, instead of password and code."
      actions={
        canUsePasskeys() && (
          <DialogButton label="Add a passkey">{(close) => <AddPasskey onClose={close} />}</DialogButton>
        )
      }
    >
      <Loaded query={query}>
        {({ passkeys }) =>
          passkeys.length === 0 ? (
            <p className="muted">You have none.</p>
          ) : (
            <Table
              label="Passkeys"
              rows={passkeys}
              keyOf={({ id }) => id}
              columns={[
                { title: 'Name', cell: ({ name }) => <span className="wrap">{name}</span> },
                { title: 'Added', from: 'tablet', cell: ({ createdAt }) => <Time at={createdAt} /> },
                {
                  title: 'Last used',
                  from: 'phone',
                  cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'Never' : <Time at={lastUsedAt} />),
                },
                {
                  title: 'Actions',
                  hideTitle: true,
                  end: true,
                  cell: (passkey) => (
                    <span className="row">
                      <Button aria-label={`Rename ${passkey.name}`} onPress={() => setRenaming(passkey)}>
                        Rename
                      </Button>
                      <Button aria-label={`Remove ${passkey.name}`} onPress={() => setRemoving(passkey)}>
                        Remove
                      </Button>
                    </span>
                  ),
                },
              ]}
            />
          )
        }
      </Loaded>
      {renaming && <RenamePasskey passkey={renaming} onClose={() => setRenaming(null)} />}
      {removing && <RemovePasskey passkey={removing} onClose={() => setRemoving(null)} />}
    </Section>
  );
}

const Name = ({ initial }: { readonly initial: string }) => (
  <Field
    label="Name"
    name="name"
    defaultValue={initial}
    maxLength={100}
    isRequired
    autoFocus
    hint="By which you recognize the device or the password manager that has it."
  />
);

function AddPasskey({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Add a passkey" onClose={onClose}>
      <p>Your browser then asks where to keep it, and to verify that it is you.</p>
      <Form
        submit="Continue"
        cancel={<Button onPress={onClose}>Cancel</Button>}
        run={async (field) => {
          await addPasskey(field('name'), field('password'));
          await refresh();
          notify('You can sign in with this passkey from now on.');
          onClose();
        }}
      >
        <Name initial={programOf(navigator.userAgent)} />
        <CurrentPassword />
      </Form>
    </Dialog>
  );
}

interface OfOne {
  readonly passkey: Passkey;
  readonly onClose: () => void;
}

function RenamePasskey({ passkey, onClose }: OfOne) {
  return (
    <Dialog title={`Rename ${passkey.name}`} onClose={onClose}>
      <Form
        submit="Rename"
        cancel={<Button onPress={onClose}>Cancel</Button>}
        run={async (field) => {
          const params = { passkeyId: passkey.id };
          await dashboard('patch', '/passkeys/{passkeyId}', { params, body: { name: field('name') } });
          await refresh();
          onClose();
        }}
      >
        <Name initial={passkey.name} />
      </Form>
    </Dialog>
  );
}

function RemovePasskey({ passkey, onClose }: OfOne) {
  return (
    <Dialog title={`Remove ${passkey.name}?`} onClose={onClose}>
      <p>It no longer signs you in. Where it has signed you in, you stay signed in.</p>
      <p>Your device goes on offering it until you delete it there, too.</p>
      <Form
        submit="Remove passkey"
        look="danger"
        cancel={<Button onPress={onClose}>Go back</Button>}
        run={async (field) => {
          const params = { passkeyId: passkey.id };
          await dashboard('post', '/passkeys/{passkeyId}/remove', { params, body: { password: field('password') } });
          await refresh();
          notify('The passkey is removed.');
          onClose();
        }}
      >
        <CurrentPassword />
      </Form>
    </Dialog>
  );
}
