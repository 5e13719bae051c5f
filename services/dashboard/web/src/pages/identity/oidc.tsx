import { useMutation } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { dashboard } from '../../api/client.ts';
import { ApiError, messageOf } from '../../api/error.ts';
import { queryClient } from '../../api/query-client.ts';
import { Skeleton } from '../../ui/loaded.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Frame } from './frame.tsx';
import { takeNextPath } from './oidc-sign-in.tsx';
import { SecondFactor } from './second-factor.tsx';

/** Where the identity provider leads the browser back: the query has a code, which is valid once. */
export default function Oidc() {
  const [, navigate] = useLocation();
  const [parameters] = useState(() => location.search.slice(1));
  const hasBegun = useRef(false);
  const enter = async (): Promise<void> => {
    // What another person has seen in this browser is not shown to this one.
    queryClient.clear();
    navigate(takeNextPath(), { replace: true });
  };
  const signIn = useMutation({
    mutationFn: () => dashboard('post', '/sign-in/oidc', { body: { parameters } }),
    onSuccess: ({ next }) => (next === 'signed_in' ? enter() : undefined),
  });
  const begin = useEffectEvent(() => {
    if (hasBegun.current) return;
    hasBegun.current = true;
    // The code does not stay in the history of the browser.
    history.replaceState(null, '', location.pathname);
    signIn.mutate();
  });
  useEffect(() => begin(), []);

  const { data, error } = signIn;
  if (data?.next === 'second_factor')
    return <SecondFactor onSignedIn={enter} onBack={() => navigate('/sign-in', { replace: true })} />;
  return (
    <Frame title="Sign in" foot={error && <Link href="/sign-in">Back to the sign-in</Link>}>
      {error ? (
        <Notice kind="bad" title="You are not signed in">
          {error instanceof ApiError && error.code === 'email.unverified'
            ? 'Your e-mail address is registered here, and was never confirmed. We have sent you a link: open it ' +
              'with the password that you chose, or set a new password. Then sign in again.'
            : messageOf(error)}
        </Notice>
      ) : (
        <Skeleton lines={2} />
      )}
    </Frame>
  );
}
