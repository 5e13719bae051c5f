import { Menu as MenuIcon, Search } from 'lucide-react';
import { lazy, Suspense, useEffect, useLayoutEffect, useMemo, useState } from 'react';
import { Redirect, Route, Switch, useLocation } from 'wouter';
import { LostContext, useAccountStream } from '../api/live.ts';
import { useSession } from '../api/session.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Loaded, Skeleton } from '../ui/loaded.tsx';
import { Page } from '../ui/page.tsx';
import { AccountMenu } from './account-menu.tsx';
import { Broken } from './broken.tsx';
import { Brand } from './brand.tsx';
import { Finder } from './finder.tsx';
import { ModeSwitch } from './mode-switch.tsx';
import { Nav } from './nav.tsx';
import { DEVELOPERS, type Here, HereContext, isMode, rememberAccount } from './place.ts';
import { OnlyFor } from './roles.tsx';
import { UserMenu } from './user-menu.tsx';

const Home = lazy(() => import('../pages/home/home.tsx'));
const Payments = lazy(() => import('../pages/payments/payments.tsx'));
const Payment = lazy(() => import('../pages/payments/payment.tsx'));
const Links = lazy(() => import('../pages/links/links.tsx'));
const PaymentLink = lazy(() => import('../pages/links/link.tsx'));
const Attention = lazy(() => import('../pages/attention/attention.tsx'));
const Quickstart = lazy(() => import('../pages/developers/quickstart.tsx'));
const Keys = lazy(() => import('../pages/developers/keys.tsx'));
const Endpoints = lazy(() => import('../pages/developers/endpoints.tsx'));
const Endpoint = lazy(() => import('../pages/developers/endpoint.tsx'));
const Deliveries = lazy(() => import('../pages/developers/deliveries.tsx'));
const Events = lazy(() => import('../pages/developers/events.tsx'));
const Requests = lazy(() => import('../pages/developers/requests.tsx'));
const Replays = lazy(() => import('../pages/developers/replays.tsx'));
const Team = lazy(() => import('../pages/team/team.tsx'));
const Settings = lazy(() => import('../pages/settings/settings.tsx'));
const Audit = lazy(() => import('../pages/audit/audit.tsx'));
const Profile = lazy(() => import('../pages/profile/profile.tsx'));

/** Everything of an account: who may see it, the frame around its pages, and the pages. */
export function Shell({ accountId, mode }: { readonly accountId: string; readonly mode: string }) {
  const session = useSession();
  const [location] = useLocation();
  const signedIn = session.data;
  const membership = signedIn?.memberships.find((one) => one.accountId === accountId);
  const here = useMemo<Here | null>(
    () =>
      signedIn && membership && isMode(mode)
        ? { accountId, mode, membership, user: signedIn.user, memberships: signedIn.memberships }
        : null,
    [accountId, membership, mode, signedIn],
  );
  // Above everything, so that the windows over the page have the color of the mode, too.
  useLayoutEffect(() => {
    if (isMode(mode)) document.documentElement.dataset['mode'] = mode;
    return () => void delete document.documentElement.dataset['mode'];
  }, [mode]);
  useEffect(() => {
    if (here) rememberAccount(here.accountId);
  }, [here]);

  return (
    <Loaded
      query={session}
      outline={
        <main className="lonely">
          <Skeleton />
        </main>
      }
    >
      {(found) =>
        found === null ? (
          <Redirect to={`~/sign-in?next=${encodeURIComponent(`/accounts/${accountId}/${mode}${location}`)}`} replace />
        ) : here === null ? (
          <main className="lonely">
            <Page title="Account not found" about="You are not a member of an account at this address.">
              <a href="/">Go to your accounts</a>
            </Page>
          </main>
        ) : (
          <HereContext value={here}>
            <Frame here={here} />
          </HereContext>
        )
      }
    </Loaded>
  );
}

function Frame({ here }: { readonly here: Here }) {
  const { mode } = here;
  const isLost = useAccountStream(here);
  const [location] = useLocation();
  const [isNavOpen, setNavOpen] = useState(false);
  const [isFinderOpen, setFinderOpen] = useState(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      setFinderOpen(true);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  return (
    <div className="shell">
      <a className="skip" href="#main">
        Skip to the page
      </a>
      {mode === 'test' && (
        <p className="mode-bar">
          <strong>Test mode</strong> No real money moves here.
        </p>
      )}
      <div className="side">
        <div className="side-head">
          <Brand />
        </div>
        <AccountMenu />
        <Nav />
      </div>
      <header className="top">
        <div className="narrow-only">
          <Button look="quiet" icon={<MenuIcon size={20} />} aria-label="Pages" onPress={() => setNavOpen(true)} />
        </div>
        <Button icon={<Search size={16} aria-hidden />} onPress={() => setFinderOpen(true)}>
          Search <kbd className="wide-only">{/Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘K' : 'Ctrl K'}</kbd>
        </Button>
        <span className="grow" />
        <ModeSwitch />
        <UserMenu />
      </header>
      <main id="main" tabIndex={-1}>
        <Broken key={location}>
          <Suspense fallback={<Skeleton />}>
            {isLost && (
              <p className="lost small" role="status">
                This page is not live just now: it is read again every 10 seconds.
              </p>
            )}
            <LostContext value={isLost}>
              <Pages />
            </LostContext>
          </Suspense>
        </Broken>
      </main>
      {isNavOpen && (
        <Dialog title="Pages" onClose={() => setNavOpen(false)}>
          <AccountMenu />
          <Nav onLeave={() => setNavOpen(false)} />
        </Dialog>
      )}
      {isFinderOpen && <Finder onClose={() => setFinderOpen(false)} />}
    </div>
  );
}

const Pages = () => (
  <Switch>
    <Route path="/">
      <Redirect to="/home" replace />
    </Route>
    <Route path="/home" component={Home} />
    <Route path="/payments" component={Payments} />
    <Route path="/payments/:id" component={Payment} />
    <Route path="/payment-links" component={Links} />
    <Route path="/payment-links/:id" component={PaymentLink} />
    <Route path="/attention" component={Attention} />
    <Route path="/developers/quickstart" component={Quickstart} />
    <Route path="/developers/keys">
      <OnlyFor roles={DEVELOPERS} title="API keys">
        <Keys />
      </OnlyFor>
    </Route>
    <Route path="/developers/endpoints" component={Endpoints} />
    <Route path="/developers/endpoints/:id" component={Endpoint} />
    <Route path="/developers/deliveries" component={Deliveries} />
    <Route path="/developers/replays" component={Replays} />
    <Route path="/developers/events" component={Events} />
    <Route path="/developers/requests">
      <OnlyFor roles={DEVELOPERS} title="Requests">
        <Requests />
      </OnlyFor>
    </Route>
    <Route path="/team" component={Team} />
    <Route path="/settings" component={Settings} />
    <Route path="/audit">
      <OnlyFor roles={DEVELOPERS} title="Audit log">
        <Audit />
      </OnlyFor>
    </Route>
    <Route path="/profile" component={Profile} />
    <Route>
      <Page title="Page not found" about="The address is wrong, or the page has moved.">
        <a href="/">Go to the dashboard</a>
      </Page>
    </Route>
  </Switch>
);
