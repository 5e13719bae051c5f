import { useState } from 'react';
import { dashboard } from '../../api/client.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Frame } from './frame.tsx';
import { linkToken } from './link-token.ts';

export default function VerifyEmail() {
  const [token] = useState(linkToken);
  const [isDone, setDone] = useState(false);
  if (isDone)
    return (
      <Frame title="Your address is confirmed" about="You can sign in now.">
        <ButtonLink look="main" href="/sign-in">
          Sign in
        </ButtonLink>
      </Frame>
    );
  return (
    <Frame title="Confirm your e-mail address" about="Enter the password that you have chosen when you signed up.">
      <Form
        submit="Confirm"
        run={async (field) => {
          await dashboard('post', '/verify-email', { body: { token, password: field('password') } });
          setDone(true);
        }}
      >
        <Field label="Password" name="password" type="password" autoComplete="current-password" isRequired autoFocus />
      </Form>
    </Frame>
  );
}
