import { Field } from '../../ui/field.tsx';

/** With it, a person confirms a change of how they sign in. */
export const CurrentPassword = ({ autoFocus = false }: { readonly autoFocus?: boolean }) => (
  <Field
    label="Password"
    name="password"
    type="password"
    autoComplete="current-password"
    isRequired
    autoFocus={autoFocus}
  />
);
