import { useState } from 'react';
import { useLocation } from 'wouter';
import { dashboard } from '../../api/client.ts';
import { queryClient } from '../../api/query-client.ts';
import { sessionQuery, useSession } from '../../api/session.ts';
import { pathTo } from '../../shell/place.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Form } from '../../ui/form.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Frame } from './frame.tsx';
import { linkToken } from './link-token.ts';

const STORED = 'invitation';

/** The token of the link, kept for as long as the tab is open: signing in leaves this page. */
function invitationToken(): string {
  const token = linkToken();
  if (token !== '') sessionStorage.setItem(STORED, token);
  return token === '' ? (sessionStorage.getItem(STORED) ?? '') : token;
}

export default function AcceptInvitation() {
  const [token] = useState(invitationToken);
  const [, navigate] = useLocation();
  const session = useSession();
  return (
    <Frame title="You are invited">
      <Loaded query={session}>
        {(signedIn) =>
          signedIn ? (
            <Form
              submit="Accept the invitation"
              run={async () => {
                const { membership } = await dashboard('post', '/invitations/accept', { body: { token } });
                sessionStorage.removeItem(STORED);
                await queryClient.invalidateQueries(sessionQuery);
                navigate(pathTo({ accountId: membership.accountId, mode: 'test' }), { replace: true });
              }}
            >
              <p>
                You are signed in as <strong className="wrap">{signedIn.user.email}</strong>. The invitation must have
                been sent to this address.
              </p>
            </Form>
          ) : (
            <div className="stack">
              <p>Sign in, or sign up with the e-mail address that the invitation was sent to.</p>
              <div className="row">
                <ButtonLink look="main" href="/sign-in?next=/accept-invitation">
                  Sign in
                </ButtonLink>
                <ButtonLink href="/sign-up">Sign up</ButtonLink>
              </div>
              <p className="muted small">After signing up, open the link of the invitation again.</p>
            </div>
          )
        }
      </Loaded>
    </Frame>
  );
}
