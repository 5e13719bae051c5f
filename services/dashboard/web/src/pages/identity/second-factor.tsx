import { dashboard } from '../../api/client.ts';
import { Field } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Frame } from './frame.tsx';

/** The second step of a sign-in. */
export function SecondFactor({
  onSignedIn,
  onBack,
}: {
  readonly onSignedIn: () => Promise<void>;
  readonly onBack: () => void;
}) {
  return (
    <Frame
      title="Enter your code"
      about="Your authenticator app shows a code of 6 digits. Without the app, use one of your backup codes."
      foot={
        <button type="button" className="link" onClick={onBack}>
          Back to the sign-in
        </button>
      }
    >
      <Form
        submit="Continue"
        run={async (field) => {
          await dashboard('post', '/sign-in/code', { body: { code: field('code').replaceAll(/\s/g, '') } });
          await onSignedIn();
        }}
      >
        <Field
          label="Code"
          name="code"
          autoComplete="one-time-code"
          inputMode="numeric"
          maxLength={40}
          isRequired
          autoFocus
          mono
        />
      </Form>
    </Frame>
  );
}
