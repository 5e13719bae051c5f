import { useState } from 'react';
import { dashboard } from '../../api/client.ts';
import { queryClient } from '../../api/query-client.ts';
import { sessionQuery } from '../../api/session.ts';
import type { Of } from '../../api/types.ts';
import { CurrentPassword } from './current-password.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Copy } from '../../ui/copy.tsx';
import { Dialog, DialogButton } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Section } from '../../ui/page.tsx';
import { QrCode } from '../../ui/qr-code.tsx';
import { notify } from '../../ui/toasts.tsx';

export function SecondFactor({ isOn }: { readonly isOn: boolean }) {
  return (
    <Section
      title="Second factor"
      about="A code of an authenticator app, beside the password: a stolen password alone then opens nothing."
      actions={
        isOn ? (
          <DialogButton label="Turn off">{(close) => <TurnOff onClose={close} />}</DialogButton>
        ) : (
          <DialogButton label="Set up">{(close) => <SetUp onClose={close} />}</DialogButton>
        )
      }
    >
      <p>{isOn ? <Badge tone="good">On</Badge> : <Badge tone="warn">Off</Badge>}</p>
    </Section>
  );
}

function TurnOff({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Turn the second factor off?" onClose={onClose}>
      <p>The password alone then opens your accounts. Your backup codes become invalid.</p>
      <Form
        submit="Turn off"
        look="danger"
        cancel={<Button onPress={onClose}>Go back</Button>}
        run={async (field) => {
          await dashboard('post', '/second-factor/disable', { body: { password: field('password') } });
          await queryClient.invalidateQueries(sessionQuery);
          notify('The second factor is off.');
          onClose();
        }}
      >
        <CurrentPassword autoFocus />
      </Form>
    </Dialog>
  );
}

/** Password, then the app and the codes, then a code that proves that the app has the secret. */
function SetUp({ onClose }: { readonly onClose: () => void }) {
  const [secret, setSecret] = useState<Of<'beginSecondFactor'>>();
  if (!secret)
    return (
      <Dialog title="Set up a second factor" onClose={onClose}>
        <Form
          submit="Continue"
          cancel={<Button onPress={onClose}>Cancel</Button>}
          run={async (field) =>
            setSecret(await dashboard('post', '/second-factor', { body: { password: field('password') } }))
          }
        >
          <CurrentPassword autoFocus />
        </Form>
      </Dialog>
    );
  const key = new URL(secret.uri).searchParams.get('secret') ?? '';
  return (
    <Dialog title="Set up a second factor" wide onClose={onClose}>
      <Form
        submit="Turn on"
        cancel={<Button onPress={onClose}>Cancel</Button>}
        run={async (field) => {
          await dashboard('post', '/second-factor/confirm', { body: { code: field('code').replaceAll(/\s/g, '') } });
          await queryClient.invalidateQueries(sessionQuery);
          notify('The second factor is on.');
          onClose();
        }}
      >
        <div className="halves">
          <div className="stack">
            <h3>1. Scan with your authenticator app</h3>
            <QrCode text={secret.uri} label="The secret for your authenticator app" />
            <p className="muted small wrap">
              Or enter this key: <code>{key}</code> <Copy text={key} of="the key" />
            </p>
          </div>
          <div className="stack">
            <h3>2. Keep your backup codes</h3>
            <Notice kind="warn">Each opens your accounts once if you lose the app. They are not shown again.</Notice>
            <ul className="codes mono">
              {secret.backupCodes.map((code) => (
                <li key={code}>{code}</li>
              ))}
            </ul>
            <div>
              <Copy text={secret.backupCodes.join('\n')} of="the backup codes" label="Copy all" />
            </div>
          </div>
        </div>
        <Field
          label="3. Code of the app"
          name="code"
          autoComplete="one-time-code"
          inputMode="numeric"
          maxLength={40}
          isRequired
          mono
        />
      </Form>
    </Dialog>
  );
}
