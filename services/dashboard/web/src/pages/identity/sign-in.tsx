import { useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { dashboard } from '../../api/client.ts';
import { ApiError } from '../../api/error.ts';
import { queryClient } from '../../api/query-client.ts';
import { Field } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Frame } from './frame.tsx';
import { nextPath } from './link-token.ts';
import { OidcSignIn } from './oidc-sign-in.tsx';
import { PasskeySignIn } from './passkey-sign-in.tsx';
import { SecondFactor } from './second-factor.tsx';

type Step = 'password' | 'code' | 'unverified';

export default function SignIn() {
  const [step, setStep] = useState<Step>('password');
  const [, navigate] = useLocation();
  const search = useSearch();
  const enter = async (): Promise<void> => {
    // What another person has seen in this browser is not shown to this one.
    queryClient.clear();
    navigate(nextPath(search), { replace: true });
  };

  if (step === 'code') return <SecondFactor onSignedIn={enter} onBack={() => setStep('password')} />;
  return (
    <Frame
      title="Sign in"
      foot={
        <>
          New here? <Link href="/sign-up">Create an account</Link>
        </>
      }
    >
      {step === 'unverified' && (
        <Notice kind="info" title="Confirm your e-mail address first">
          We have sent you a new link. Open it, then sign in here.
        </Notice>
      )}
      <Form
        submit="Sign in"
        run={async (field) => {
          try {
            const { next } = await dashboard('post', '/sign-in', {
              body: { email: field('email').trim(), password: field('password') },
            });
            if (next === 'second_factor') setStep('code');
            else await enter();
          } catch (error) {
            if (!(error instanceof ApiError) || error.code !== 'email.unverified') throw error;
            setStep('unverified');
          }
        }}
      >
        <Field label="E-mail" name="email" type="email" autoComplete="username webauthn" isRequired autoFocus />
        <Field label="Password" name="password" type="password" autoComplete="current-password" isRequired />
        <p className="small">
          <Link href="/forgot-password">Forgot your password?</Link>
        </p>
      </Form>
      <PasskeySignIn onSignedIn={enter} />
      <OidcSignIn />
    </Frame>
  );
}
