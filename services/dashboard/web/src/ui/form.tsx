import { useMutation } from '@tanstack/react-query';
import type { FormEvent, ReactNode } from 'react';
import { Form as AriaForm } from 'react-aria-components';
import { ApiError, messageOf } from '../api/error.ts';
import { Button } from './button.tsx';
import { Notice } from './notice.tsx';

/** The texts of a form's fields, by name. */
export type Fields = (name: string) => string;

/** A form that sends its fields when it is submitted, and shows what the API says of them. */
export function Form({
  run,
  submit,
  look = 'main',
  cancel,
  children,
}: {
  /** May throw ApiError: its issues are shown at the fields of their names. */
  readonly run: (fields: Fields, form: FormData) => Promise<unknown>;
  readonly submit: string;
  readonly look?: 'main' | 'danger' | 'plain';
  readonly cancel?: ReactNode;
  readonly children?: ReactNode;
}) {
  const sending = useMutation({
    mutationFn: (form: FormData) => run((name) => textOf(form.get(name)), form),
  });
  const issues = sending.error instanceof ApiError ? sending.error.issues : [];
  const send = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    if (!sending.isPending) sending.mutate(new FormData(event.currentTarget));
  };
  return (
    <AriaForm
      className="stack"
      onSubmit={send}
      validationErrors={Object.fromEntries(issues.map(({ param, message }) => [fieldOf(param), about(param, message)]))}
    >
      {sending.error && <Notice kind="bad">{messageOf(sending.error)}</Notice>}
      {children}
      <div className="row actions">
        {cancel}
        <Button type="submit" look={look} isPending={sending.isPending}>
          {submit}
        </Button>
      </div>
    </AriaForm>
  );
}

const textOf = (value: FormDataEntryValue | null): string => (typeof value === 'string' ? value : '');

/** The field in which an item of a list is written: `returnOrigins.0` is a line of `returnOrigins`. */
const fieldOf = (param: string): string => param.replace(/(\.\d+|\[\d+\])+$/, '');

/** The message without the name of its field, beside which it stands. */
function about(param: string, message: string): string {
  const rest = message.startsWith(`${param} `) ? message.slice(param.length + 1) : message;
  return `${rest.charAt(0).toUpperCase()}${rest.slice(1)}`;
}
