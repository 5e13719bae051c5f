import { useState } from 'react';
import { Link } from 'wouter';
import { dashboard } from '../../api/client.ts';
import { Field } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Frame } from './frame.tsx';

export default function ForgotPassword() {
  const [mailedTo, setMailedTo] = useState<string>();
  const foot = <Link href="/sign-in">Back to sign-in</Link>;
  if (mailedTo !== undefined)
    return (
      <Frame title="Check your mail" foot={foot}>
        <p>
          If <strong className="wrap">{mailedTo}</strong> is registered, a link is on its way to it. Open it within an
          hour to set a new password.
        </p>
      </Frame>
    );
  return (
    <Frame title="Set a new password" about="We mail you a link with which you can set one." foot={foot}>
      <Form
        submit="Send the link"
        run={async (field) => {
          const email = field('email').trim();
          await dashboard('post', '/password/forgot', { body: { email } });
          setMailedTo(email);
        }}
      >
        <Field label="E-mail" name="email" type="email" autoComplete="username" isRequired autoFocus />
      </Form>
    </Frame>
  );
}
