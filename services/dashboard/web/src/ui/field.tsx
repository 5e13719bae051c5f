import { type ReactNode, useId } from 'react';
import { FieldError, Input, Label, Text, TextArea, TextField, type TextFieldProps } from 'react-aria-components';

/** A labelled line of text, with what to know about it and what is wrong with it. */
export function Field({
  label,
  hint,
  placeholder,
  lines = 1,
  mono = false,
  ...props
}: Omit<TextFieldProps, 'children' | 'className'> & {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly placeholder?: string;
  readonly lines?: number;
  readonly mono?: boolean;
}) {
  const input = { className: mono ? 'input mono' : 'input', ...(placeholder !== undefined && { placeholder }) };
  return (
    <TextField {...props} className="field">
      <Label>
        {label}
        {props.isRequired !== true && props.isReadOnly !== true && <span className="muted small"> optional</span>}
      </Label>
      {lines === 1 ? <Input {...input} /> : <TextArea {...input} rows={lines} />}
      {hint !== undefined && (
        <Text slot="description" className="muted small">
          {hint}
        </Text>
      )}
      <FieldError className="field-error" />
    </TextField>
  );
}

/** A choice among few, by the browser's own list: it works on every phone and with every screen reader. */
export function Choice<Value extends string>({
  label,
  hint,
  name,
  options,
  value,
  initial,
  hideLabel = false,
  onChange,
}: {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly name?: string;
  readonly options: readonly (readonly [value: Value, label: string])[];
  readonly value?: Value;
  readonly initial?: Value;
  readonly hideLabel?: boolean;
  readonly onChange?: (value: Value) => void;
}) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id} className={hideLabel ? 'hidden' : undefined}>
        {label}
      </label>
      <select
        id={id}
        name={name}
        className="input"
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        {...(value === undefined ? { defaultValue: initial } : { value })}
        onChange={(event) => onChange?.(event.target.value as Value)}
      >
        {options.map(([key, text]) => (
          <option key={key} value={key}>
            {text}
          </option>
        ))}
      </select>
      {hint !== undefined && (
        <span id={`${id}-hint`} className="muted small">
          {hint}
        </span>
      )}
    </div>
  );
}

/** A box to tick. */
export function Tick({
  label,
  hint,
  name,
  value = 'on',
  initial = false,
}: {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  readonly name: string;
  readonly value?: string;
  readonly initial?: boolean;
}) {
  const id = useId();
  return (
    <div className="tick">
      <input
        id={id}
        type="checkbox"
        name={name}
        value={value}
        defaultChecked={initial}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
      />
      <label htmlFor={id}>{label}</label>
      {hint !== undefined && (
        <span id={`${id}-hint`} className="muted small">
          {hint}
        </span>
      )}
    </div>
  );
}

/** Few choices that exclude each other, each with a line of explanation. */
export function Radios<Value extends string>({
  label,
  name,
  options,
  initial,
}: {
  readonly label: string;
  readonly name: string;
  readonly options: readonly { readonly value: Value; readonly label: string; readonly hint?: string }[];
  readonly initial: Value;
}) {
  const id = useId();
  return (
    <fieldset className="field">
      <legend>{label}</legend>
      {options.map((option) => (
        <div key={option.value} className="tick">
          <input
            id={`${id}-${option.value}`}
            type="radio"
            name={name}
            value={option.value}
            defaultChecked={option.value === initial}
            aria-describedby={option.hint === undefined ? undefined : `${id}-${option.value}-hint`}
          />
          <label htmlFor={`${id}-${option.value}`}>{option.label}</label>
          {option.hint !== undefined && (
            <span id={`${id}-${option.value}-hint`} className="muted small">
              {option.hint}
            </span>
          )}
        </div>
      ))}
    </fieldset>
  );
}
