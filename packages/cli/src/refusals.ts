import { ConnectionError, PaymentApiError, ReusedKeyError } from '@pf/client';
import { ERROR_CODES, ERRORS } from '@pf/contracts';
import { CliError } from './cli-error.ts';
import { remedyOf } from './remote/dashboard.ts';
import type { Mode } from './session.ts';

/** What a request is made of. */
interface Asked {
  readonly mode: Mode;
  readonly url: string;
  /** Whether the local stack is asked. */
  readonly isLocal: boolean;
}

/** Runs work with the API; what the API refuses is told with its remedy. */
export async function tellRefusals(asked: Asked, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof PaymentApiError) throw refusal(error, asked);
    if (error instanceof ReusedKeyError) throw reusedKey(error);
    if (error instanceof ConnectionError)
      throw new CliError(
        `The API at ${asked.url} does not respond. ` +
          (asked.isLocal ? 'Is the stack running? Start it with `npm start`.' : 'Check the URL and the network.'),
        { cause: error },
      );
    throw error;
  }
}

function reusedKey(error: ReusedKeyError): CliError {
  const { differs, existing } = error;
  const id = 'intent' in existing ? existing.intent.id : existing.paymentLink.id;
  const fields = Object.entries(differs).map(([field, term]) => `${field}: ${term.existing}, not ${term.requested}`);
  return new CliError(
    [`The key was used for ${id} within 24 hours, and nothing was created:`, ...fields, 'Use another key.'].join('\n'),
    { cause: error, facts: { id, differs } },
  );
}

function refusal(error: PaymentApiError, { mode, url }: Asked): CliError {
  const { status, code, message, param, details, requestId } = error;
  const known = ERROR_CODES.find((listed) => listed === code);
  const facts = { code, status, param, details, requestId };
  if (code === 'token.invalid')
    return new CliError(`Your login at ${url} has ended. Log in again with \`pf login ${url}\`.`, {
      cause: error,
      facts,
    });
  const lines = [message, ...otherIssues(details), known ? ERRORS[known].remedy : remedyOf(code)];
  if (status === 404 && code !== 'account.not_found')
    lines.push(
      `This request was in ${mode} mode. For the other ` + `mode add --mode ${mode === 'test' ? 'live' : 'test'}`,
    );
  if (status >= 500 && requestId !== null) lines.push(`X-Request-Id: ${requestId}`);
  return new CliError(lines.filter((line) => line !== '').join('\n'), { cause: error, facts });
}

/** The first one is the message. */
function otherIssues(details: PaymentApiError['details']): readonly string[] {
  const issues = details?.['issues'];
  if (!Array.isArray(issues)) return [];
  return issues
    .slice(1)
    .map((issue: unknown) =>
      typeof issue === 'object' && issue !== null && 'message' in issue ? `${String(issue.message)}.` : '',
    );
}
