import { useMutation } from '@tanstack/react-query';
import { KeyRound } from 'lucide-react';
import { useEffect, useEffectEvent, useState } from 'react';
import { messageOf } from '../../api/error.ts';
import { canUsePasskeys, offerPasskeys, signInWithPasskey, stopOffering } from '../../passkeys/passkeys.ts';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';

/** Signs in with a passkey: by a button, or by choosing one where the browser fills in e-mail addresses. */
export function PasskeySignIn({ onSignedIn }: { readonly onSignedIn: () => Promise<void> }) {
  const [error, setError] = useState<Error | null>(null);
  const [round, setRound] = useState(0);
  /** A challenge is used once, and the button ends the offer: after either, passkeys are offered again. */
  const failed = (reason: Error): void => {
    setError(reason);
    setRound((last) => last + 1);
  };
  const signingIn = useMutation({ mutationFn: signInWithPasskey, onSuccess: onSignedIn, onError: failed });
  const offerEnded = useEffectEvent((isSignedIn: boolean) => isSignedIn && void onSignedIn());
  const offerFailed = useEffectEvent(failed);
  useEffect(() => {
    let isHere = true;
    offerPasskeys().then(
      (isSignedIn) => isHere && offerEnded(isSignedIn),
      (reason: Error) => isHere && offerFailed(reason),
    );
    return () => {
      isHere = false;
      stopOffering();
    };
  }, [round]);
  if (!canUsePasskeys()) return null;
  return (
    <div className="stack">
      {error && <Notice kind="bad">{messageOf(error)}</Notice>}
      <Button icon={<KeyRound size={18} />} isPending={signingIn.isPending} onPress={() => signingIn.mutate()}>
        Sign in with a passkey
      </Button>
    </div>
  );
}
