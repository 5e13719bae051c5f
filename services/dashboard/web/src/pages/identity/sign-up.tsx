import { useState } from 'react';
import { Link } from 'wouter';
import { dashboard } from '../../api/client.ts';
import { Field } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Frame } from './frame.tsx';
import { NewPassword } from './password-field.tsx';

export default function SignUp() {
  const [mailedTo, setMailedTo] = useState<string>();
  if (mailedTo !== undefined)
    return (
      <Frame title="Check your mail" foot={<Link href="/sign-in">Back to sign-in</Link>}>
        <p>
          We have sent a link to <strong className="wrap">{mailedTo}</strong>. Open it within an hour to confirm your
          address.
        </p>
        <p className="muted">Nothing there? Look into the spam folder, or sign up again for a new link.</p>
      </Frame>
    );
  return (
    <Frame
      title="Create your account"
      about="Free, and in test mode from the first minute: no real money moves until you want it to."
      foot={
        <>
          Have an account? <Link href="/sign-in">Sign in</Link>
        </>
      }
    >
      <Form
        submit="Create account"
        run={async (field) => {
          const email = field('email').trim();
          await dashboard('post', '/sign-up', {
            body: { name: field('name').trim(), email, password: field('password') },
          });
          setMailedTo(email);
        }}
      >
        <Field label="Your name" name="name" autoComplete="name" maxLength={100} isRequired autoFocus />
        <Field label="E-mail" name="email" type="email" autoComplete="username" maxLength={200} isRequired />
        <NewPassword />
      </Form>
    </Frame>
  );
}
