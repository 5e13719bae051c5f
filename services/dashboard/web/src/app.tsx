import { lazy, Suspense } from 'react';
import { Redirect, Route, Switch } from 'wouter';
import { useSession } from './api/session.ts';
import { lastAccount, pathTo } from './shell/place.ts';
import { Shell } from './shell/shell.tsx';
import { Loaded, Skeleton } from './ui/loaded.tsx';
import { Page } from './ui/page.tsx';

const SignIn = lazy(() => import('./pages/identity/sign-in.tsx'));
const Oidc = lazy(() => import('./pages/identity/oidc.tsx'));
const SignUp = lazy(() => import('./pages/identity/sign-up.tsx'));
const ForgotPassword = lazy(() => import('./pages/identity/forgot-password.tsx'));
const ResetPassword = lazy(() => import('./pages/identity/reset-password.tsx'));
const VerifyEmail = lazy(() => import('./pages/identity/verify-email.tsx'));
const AcceptInvitation = lazy(() => import('./pages/identity/accept-invitation.tsx'));
const Device = lazy(() => import('./pages/identity/device.tsx'));
const NewAccount = lazy(() => import('./pages/identity/new-account.tsx'));

export function App() {
  return (
    <Suspense fallback={<Waiting />}>
      <Switch>
        <Route path="/sign-in" component={SignIn} />
        <Route path="/sign-in/oidc" component={Oidc} />
        <Route path="/sign-up" component={SignUp} />
        <Route path="/forgot-password" component={ForgotPassword} />
        <Route path="/reset-password" component={ResetPassword} />
        <Route path="/verify-email" component={VerifyEmail} />
        <Route path="/accept-invitation" component={AcceptInvitation} />
        <Route path="/device" component={Device} />
        <Route path="/new-account" component={NewAccount} />
        <Route path="/accounts/:accountId/:mode" nest>
          {({ accountId, mode }) => <Shell accountId={accountId} mode={mode} />}
        </Route>
        <Route path="/" component={Start} />
        <Route>
          <main className="lonely">
            <Page title="Page not found" about="The address is wrong, or the page has moved.">
              <a href="/">Go to the dashboard</a>
            </Page>
          </main>
        </Route>
      </Switch>
    </Suspense>
  );
}

const Waiting = () => (
  <main className="lonely">
    <Skeleton />
  </main>
);

/** Leads to the account that was open last. */
function Start() {
  const session = useSession();
  return (
    <Loaded query={session} outline={<Waiting />}>
      {(signedIn) => {
        if (!signedIn) return <Redirect to="/sign-in" replace />;
        const { memberships } = signedIn;
        const last = lastAccount();
        const chosen = memberships.find(({ accountId }) => accountId === last) ?? memberships[0];
        return (
          <Redirect to={chosen ? pathTo({ accountId: chosen.accountId, mode: 'test' }) : '/new-account'} replace />
        );
      }}
    </Loaded>
  );
}
