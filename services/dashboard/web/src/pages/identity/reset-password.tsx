import { useState } from 'react';
import { Link } from 'wouter';
import { dashboard } from '../../api/client.ts';
import { queryClient } from '../../api/query-client.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Form } from '../../ui/form.tsx';
import { Frame } from './frame.tsx';
import { linkToken } from './link-token.ts';
import { NewPassword } from './password-field.tsx';

export default function ResetPassword() {
  const [token] = useState(linkToken);
  const [isDone, setDone] = useState(false);
  if (isDone)
    return (
      <Frame title="Your password is set" about="You were signed out everywhere. Sign in with the new password.">
        <ButtonLink look="main" href="/sign-in">
          Sign in
        </ButtonLink>
      </Frame>
    );
  return (
    <Frame
      title="Set a new password"
      about="It signs you out everywhere, and removes your passkeys and tokens."
      foot={<Link href="/forgot-password">Ask for a new link</Link>}
    >
      <Form
        submit="Set password"
        run={async (field) => {
          await dashboard('post', '/password/reset', { body: { token, password: field('password') } });
          queryClient.clear();
          setDone(true);
        }}
      >
        <NewPassword label="New password" />
      </Form>
    </Frame>
  );
}
