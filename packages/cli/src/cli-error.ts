/** Something the user can fix: the message says what is wrong and what to do about it. */
export class CliError extends Error {
  override readonly name = 'CliError';
  /** For programs, beside the message: what --json adds to it. */
  readonly facts: Readonly<Record<string, unknown>>;

  constructor(
    message: string,
    { cause, facts = {} }: { readonly cause?: unknown; readonly facts?: Readonly<Record<string, unknown>> } = {},
  ) {
    super(message, { cause });
    this.facts = facts;
  }
}
