import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dashboard } from '../../api/client.ts';
import { queryClient } from '../../api/query-client.ts';
import type { Identity } from '../../api/types.ts';
import { CurrentPassword } from './current-password.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form.tsx';
import { Section } from '../../ui/page.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { notify } from '../../ui/toasts.tsx';

/** Who the person is at identity providers, and whether they have a password. */
export const identitiesQuery = {
  queryKey: ['identities'],
  queryFn: ({ signal }: { readonly signal: AbortSignal }) => dashboard('get', '/identities', { signal }),
};

const nameOf = ({ issuer, provider }: Identity): string => provider ?? issuer;

/** Where the person can sign in instead of with a password; nothing where that is not so. */
export function Identities({ email }: { readonly email: string }) {
  const { data } = useQuery(identitiesQuery);
  const [unlinking, setUnlinking] = useState<Identity | null>(null);
  if (!data || data.identities.length === 0) return null;
  return (
    <Section title="Single sign-on" about="Who you are at an identity provider, which signs you in here.">
      <Table
        label="Identities"
        rows={data.identities}
        keyOf={({ id }) => id}
        columns={[
          {
            title: 'Provider',
            cell: (identity) => (
              <span className="wrap">
                {nameOf(identity)} {identity.provider === null && <Badge>not set up here anymore</Badge>}
              </span>
            ),
          },
          { title: 'You there', from: 'tablet', cell: ({ subject }) => <span className="wrap">{subject}</span> },
          { title: 'Linked', from: 'phone', cell: ({ createdAt }) => <Time at={createdAt} /> },
          {
            title: 'Actions',
            hideTitle: true,
            end: true,
            cell: (identity) => (
              <Button aria-label={`Unlink ${nameOf(identity)}`} onPress={() => setUnlinking(identity)}>
                Unlink
              </Button>
            ),
          },
        ]}
      />
      {unlinking &&
        (data.hasPassword ? (
          <Unlink identity={unlinking} email={email} onClose={() => setUnlinking(null)} />
        ) : (
          <OnlyWay identity={unlinking} onClose={() => setUnlinking(null)} />
        ))}
    </Section>
  );
}

function OnlyWay({ identity, onClose }: { readonly identity: Identity; readonly onClose: () => void }) {
  return (
    <Dialog title={`You need ${nameOf(identity)} to sign in`} onClose={onClose}>
      <p>You have no password. Set one first, under Password; then you can unlink it.</p>
      <div className="row actions">
        <Button autoFocus onPress={onClose}>
          Go back
        </Button>
      </div>
    </Dialog>
  );
}

function Unlink({
  identity,
  email,
  onClose,
}: {
  readonly identity: Identity;
  readonly email: string;
  readonly onClose: () => void;
}) {
  const name = nameOf(identity);
  return (
    <Dialog title={`Unlink ${name}?`} onClose={onClose}>
      <p>It no longer signs you in. Where it has signed you in, you stay signed in.</p>
      {identity.provider !== null && (
        <p>
          If you sign in there again, and your verified e-mail address there is <span className="wrap">{email}</span>,
          it is linked again. A mail tells you.
        </p>
      )}
      <Form
        submit="Unlink"
        look="danger"
        cancel={<Button onPress={onClose}>Go back</Button>}
        run={async (field) => {
          const params = { identityId: identity.id };
          await dashboard('post', '/identities/{identityId}/unlink', { params, body: { password: field('password') } });
          await queryClient.invalidateQueries(identitiesQuery);
          notify(`${name} no longer signs you in.`);
          onClose();
        }}
      >
        <CurrentPassword autoFocus />
      </Form>
    </Dialog>
  );
}
