import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dashboard } from '../../api/client.ts';
import { queryClient } from '../../api/query-client.ts';
import type { OwnSession } from '../../api/types.ts';
import { useHere } from '../../shell/place.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Field } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { notify } from '../../ui/toasts.tsx';
import { NewPassword } from '../identity/password-field.tsx';
import { Identities, identitiesQuery } from './identities.tsx';
import { Passkeys } from './passkeys.tsx';
import { programOf } from './program.ts';
import { SecondFactor } from './second-factor.tsx';
import { Tokens } from './tokens.tsx';

const KEY = ['sessions'];
const refresh = (): Promise<void> => queryClient.invalidateQueries({ queryKey: KEY });

/** The person, apart from all accounts. */
export default function Profile() {
  const { user } = useHere();
  return (
    <Page title="Profile and security" about="You, in all your accounts.">
      <Facts
        rows={[
          ['Name', <span className="wrap">{user.name}</span>],
          ['E-mail', <span className="wrap">{user.email}</span>],
        ]}
      />
      <SecondFactor isOn={user.secondFactor} />
      <Passkeys />
      <Identities email={user.email} />
      <Password email={user.email} />
      <Sessions />
      <Tokens />
    </Page>
  );
}

function Password({ email }: { readonly email: string }) {
  const { data } = useQuery(identitiesQuery);
  if (data?.hasPassword === false)
    return (
      <Section
        title="Password"
        about="You have none: single sign-on signs you in. A second factor and passkeys need one."
      >
        <div className="card narrow">
          <FirstPassword email={email} />
        </div>
      </Section>
    );
  return (
    <Section
      title="Password"
      about="Setting a new one signs you out everywhere else, and removes your passkeys and tokens."
    >
      <div className="card narrow">
        <ChangePassword />
      </div>
    </Section>
  );
}

/** By a link, which proves what a password proves elsewhere. */
function FirstPassword({ email }: { readonly email: string }) {
  return (
    <Form
      submit="Mail me a link"
      look="plain"
      run={async () => {
        await dashboard('post', '/password/forgot', { body: { email } });
        notify('The link is on its way to you.');
      }}
    >
      <p>
        A link to <span className="wrap">{email}</span> sets one, within an hour. You are then signed out everywhere.
      </p>
    </Form>
  );
}

function ChangePassword() {
  const [round, setRound] = useState(0);
  return (
    <Form
      // Empty again after a success.
      key={round}
      submit="Set password"
      look="plain"
      run={async (field) => {
        await dashboard('post', '/password', {
          body: { currentPassword: field('currentPassword'), password: field('password') },
        });
        setRound(round + 1);
        // It ends sessions, passkeys and tokens.
        await queryClient.invalidateQueries();
        notify('Your password is changed.');
      }}
    >
      <Field
        label="Current password"
        name="currentPassword"
        type="password"
        autoComplete="current-password"
        isRequired
      />
      <NewPassword label="New password" />
    </Form>
  );
}

function Sessions() {
  const query = useQuery({ queryKey: KEY, queryFn: ({ signal }) => dashboard('get', '/sessions', { signal }) });
  const [ending, setEnding] = useState<OwnSession | null>(null);
  return (
    <Section title="Where you are signed in" about="End what you do not recognize, then set a new password.">
      <Loaded query={query}>
        {({ sessions }) => (
          <Table
            label="Sessions"
            rows={sessions}
            keyOf={({ id }) => id}
            columns={[
              {
                title: 'Browser',
                cell: ({ userAgent, current }) => (
                  <span className="wrap">
                    {programOf(userAgent)} {current && <Badge tone="accent">this one</Badge>}
                  </span>
                ),
              },
              { title: 'Address', from: 'phone', cell: ({ address }) => address ?? 'Unknown' },
              { title: 'Since', cell: ({ createdAt }) => <Time at={createdAt} /> },
              {
                title: 'Actions',
                hideTitle: true,
                end: true,
                cell: (session) =>
                  !session.current && (
                    <Button
                      aria-label={`End the session on ${programOf(session.userAgent)}`}
                      onPress={() => setEnding(session)}
                    >
                      End
                    </Button>
                  ),
              },
            ]}
          />
        )}
      </Loaded>
      {ending && (
        <Confirm
          title="End this session?"
          submit="End session"
          onClose={() => setEnding(null)}
          run={async () => {
            await dashboard('delete', '/sessions/{sessionId}', { params: { sessionId: ending.id } });
            await refresh();
          }}
        >
          <p>{programOf(ending.userAgent)} is signed out with its next request, and has to sign in again.</p>
        </Confirm>
      )}
    </Section>
  );
}
