import { useQuery } from '@tanstack/react-query';
import { KeyRound, Plus } from 'lucide-react';
import { useState } from 'react';
import { dashboard } from '../../api/client.ts';
import { queryClient } from '../../api/query-client.ts';
import type { Key } from '../../api/types.ts';
import { useHere } from '../../shell/place.ts';
import { Button } from '../../ui/button.tsx';
import { CREDENTIAL, expiryIn, ExpiryChoice } from '../../ui/credential.tsx';
import { Confirm, Dialog } from '../../ui/dialog.tsx';
import { Field, Radios } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Empty, Loaded } from '../../ui/loaded.tsx';
import { OnceDialog } from '../../ui/once.tsx';
import { Page } from '../../ui/page.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { notify } from '../../ui/toasts.tsx';

export default function Keys() {
  const { accountId, mode } = useHere();
  const queryKey = ['keys', accountId];
  const query = useQuery({
    queryKey,
    queryFn: ({ signal }) => dashboard('get', '/accounts/{accountId}/keys', { params: { accountId }, signal }),
  });
  const [dialog, setDialog] = useState<'new' | Key | null>(null);
  const refresh = (): Promise<void> => queryClient.invalidateQueries({ queryKey });
  const create = (
    <Button look="main" icon={<Plus size={16} aria-hidden />} onPress={() => setDialog('new')}>
      New {mode} key
    </Button>
  );
  return (
    <Page
      title="API keys"
      about={
        mode === 'test'
          ? 'With a test key your programs create payments on test networks. The same code works with a live key.'
          : 'With a live key your programs create payments of real money. Keep it on your server.'
      }
      actions={create}
    >
      <Loaded query={query}>
        {({ keys }) => {
          const shown = keys.filter((key) => key.mode === mode);
          if (shown.length === 0)
            return (
              <Empty title={`No ${mode} keys yet`} icon={<KeyRound size={28} aria-hidden />} actions={create}>
                A program needs a key to call the API. It is shown once, when you create it: put it where your other
                secrets are, never into code or an app.
              </Empty>
            );
          return (
            <Table
              label={`API keys, ${mode} mode`}
              rows={shown}
              keyOf={({ id }) => id}
              columns={[
                CREDENTIAL.name,
                CREDENTIAL.status,
                {
                  title: 'Scope',
                  from: 'phone',
                  cell: ({ scope }) => (scope === 'full' ? 'Everything' : 'Apps of payers'),
                },
                CREDENTIAL.lastUsed,
                CREDENTIAL.expires,
                { title: 'Created', from: 'tablet', cell: ({ createdAt }) => <Time at={createdAt} /> },
                {
                  title: 'Actions',
                  hideTitle: true,
                  end: true,
                  cell: (key) =>
                    key.status === 'active' && (
                      <Button aria-label={`Revoke ${key.name ?? key.hint}`} onPress={() => setDialog(key)}>
                        Revoke
                      </Button>
                    ),
                },
              ]}
            />
          );
        }}
      </Loaded>
      {dialog === 'new' && <NewKey onCreated={refresh} onClose={() => setDialog(null)} />}
      {dialog !== null && dialog !== 'new' && (
        <Confirm
          title={`Revoke ${dialog.name ?? dialog.hint}?`}
          submit="Revoke key"
          onClose={() => setDialog(null)}
          run={async () => {
            await dashboard('delete', '/accounts/{accountId}/keys/{keyId}', {
              params: { accountId, keyId: dialog.id },
            });
            await refresh();
            notify('The key is revoked.');
          }}
        >
          <p>
            Within 30 seconds every request with <code>{dialog.hint}</code> is refused, and its streams end. Programs
            that use it can neither create nor read payments.
          </p>
          <p>{dialog.lastUsedAt === null ? 'It was never used.' : <LastUsed at={dialog.lastUsedAt} />}</p>
          <p>This cannot be undone. You can create another key.</p>
        </Confirm>
      )}
    </Page>
  );
}

const LastUsed = ({ at }: { readonly at: string }) => (
  <>
    It was last used <Time at={at} />.
  </>
);

function NewKey({ onCreated, onClose }: { readonly onCreated: () => Promise<void>; readonly onClose: () => void }) {
  const { accountId, mode } = useHere();
  const [secret, setSecret] = useState<string>();
  if (secret !== undefined)
    return (
      <OnceDialog title="Copy your key now" text={secret} of="the key" onClose={onClose}>
        Whoever has it can use your account.
      </OnceDialog>
    );
  return (
    <Dialog title={`New ${mode} key`} onClose={onClose}>
      <Form
        submit="Create key"
        cancel={<Button onPress={onClose}>Cancel</Button>}
        run={async (field) => {
          const days = field('days');
          const created = await dashboard('post', '/accounts/{accountId}/keys', {
            params: { accountId },
            body: {
              name: field('name').trim(),
              mode,
              scope: field('scope') === 'payer' ? 'payer' : 'full',
              expiresAt: days === '' ? null : expiryIn(days),
            },
          });
          setSecret(created.secret);
          await onCreated();
        }}
      >
        <Field
          label="Name"
          name="name"
          maxLength={100}
          isRequired
          autoFocus
          hint="Where it is used, so that you know later which one to revoke: Checkout server"
        />
        <Radios
          label="It may"
          name="scope"
          initial="full"
          options={[
            { value: 'full', label: 'Do everything', hint: 'For your servers.' },
            { value: 'payer', label: 'Show and pay a payment', hint: 'For apps in the hands of your payers.' },
          ]}
        />
        <ExpiryChoice orNever />
      </Form>
    </Dialog>
  );
}
