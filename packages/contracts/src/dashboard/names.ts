import { must, text } from '../api/fields.ts';

/** What breaks a line, or makes a name look like another one: control characters, and marks of direction. */
const DECEPTIVE = /[\p{Cc}\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069\uFEFF]/u;

/**
 * A name that others read: members, payers, who is invited by mail. It is one line and no link, so that it carries no
 * message.
 */
export const name = (max: number) =>
  text(1, max)
    .refine(
      (value) => value.trim() !== '' && !DECEPTIVE.test(value) && !value.includes('://'),
      must(`a name of 1 to ${max} visible characters on one line, without marks of direction and "://"`),
    )
    .transform((value) => value.trim());
