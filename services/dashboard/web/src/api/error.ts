interface Failure {
  readonly code: string;
  readonly message: string;
  readonly param: string | null;
  readonly details: Readonly<Record<string, unknown>> | null;
}

interface Issue {
  readonly param: string;
  readonly message: string;
}

/** What went wrong, in words for the person who reads it. */
export class ExplainedError extends Error {}

/** A request that failed. The message is the API's own, wherever there is one. */
export class ApiError extends ExplainedError {
  override readonly name = 'ApiError';
  /** 0: there was no response. */
  readonly status: number;
  readonly code: string;
  readonly param: string | null;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(status: number, { code, message, param, details }: Failure, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
    this.code = code;
    this.param = param;
    this.details = details ?? {};
  }

  /** The error of a response, which need not be one of ours: a proxy in between answers with pages of its own. */
  static of(status: number, text: string): ApiError {
    const { error } = (parsed(text) ?? {}) as { readonly error?: Partial<Failure> };
    return new ApiError(status, {
      code: error?.code ?? 'unknown',
      message: error?.message ?? `The server responded with an error (${status}). Try again in a moment.`,
      param: error?.param ?? null,
      details: error?.details ?? null,
    });
  }

  /** What is wrong with the fields of the request. */
  get issues(): readonly Issue[] {
    const { issues } = this.details as { readonly issues?: readonly Issue[] };
    if (issues) return issues;
    return this.param === null ? [] : [{ param: this.param, message: this.message }];
  }

  /** Whether the same request may succeed later. */
  get isTemporary(): boolean {
    return this.status === 0 || this.status === 408 || this.status === 429 || this.status >= 500;
  }
}

export const unreachable = (cause: unknown): ApiError =>
  new ApiError(
    0,
    {
      code: 'unreachable',
      message: 'The server cannot be reached. Check your connection, then try again.',
      param: null,
      details: null,
    },
    { cause },
  );

/** What to show of anything that was thrown. */
export const messageOf = (error: unknown): string =>
  error instanceof ExplainedError ? error.message : 'Something went wrong on this page. Reload it, then try again.';

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON, so not an error of ours.
    return null;
  }
}
