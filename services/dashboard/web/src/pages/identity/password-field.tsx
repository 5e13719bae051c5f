import { Field } from '../../ui/field.tsx';

/** As packages/contracts/src/dashboard/limits.ts has it; the API checks it. */
const LENGTH_MIN = 12;

/** A new password. A long one needs no digits and signs, so the field asks for none. */
export const NewPassword = ({ label = 'Password' }: { readonly label?: string }) => (
  <Field
    label={label}
    name="password"
    type="password"
    autoComplete="new-password"
    minLength={LENGTH_MIN}
    maxLength={128}
    isRequired
    hint={`At least ${LENGTH_MIN} characters. A few words in a row are good and easy to remember.`}
  />
);
