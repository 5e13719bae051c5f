/** Something the user can mend: the message says what is wrong and what to do about it. */
export class CliError extends Error {
  override readonly name = 'CliError';
}
