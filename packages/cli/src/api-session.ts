import { ConnectionError, PaymentApiError, PaymentClient } from '@pf/client';
import { ERROR_CODES, ERRORS } from '@pf/contracts';
import type { Command } from 'commander';
import { CliError } from './cli-error.ts';
import { createOutput, type Output } from './output.ts';
import { globalOptions, type Mode, type CommandContext } from './session.ts';
import { findStack } from './stack.ts';

/** What a command works with that asks the public API, as any integrator does. */
export interface ApiSession {
  readonly client: PaymentClient;
  readonly output: Output;
  readonly mode: Mode;
}

/** Runs a command's work with a client of the API; what the API refuses is told with its remedy. */
export async function withApi(
  command: Command,
  { environment, write }: CommandContext,
  work: (session: ApiSession) => Promise<void>,
): Promise<void> {
  const { mode, json, account } = globalOptions(command);
  const { baseUrl, apiKey } = await findStack(environment).api(mode, account);
  try {
    await work({
      client: new PaymentClient({ baseUrl, apiKey, maxRetries: 2 }),
      output: createOutput(json, write),
      mode,
    });
  } catch (error) {
    if (error instanceof PaymentApiError) throw refusal(error, mode);
    if (error instanceof ConnectionError)
      throw new CliError(`The API at ${baseUrl} does not respond. Is the stack running? Start it with \`npm start\`.`, {
        cause: error,
      });
    throw error;
  }
}

function refusal(error: PaymentApiError, mode: Mode): CliError {
  const { status, code, message, param, details, requestId } = error;
  const known = ERROR_CODES.find((listed) => listed === code);
  const lines = [message, ...otherIssues(details), known ? ERRORS[known].remedy : ''];
  if (status === 404)
    lines.push(
      `This request was in ${mode} mode. For the other ` + `mode add --mode ${mode === 'test' ? 'live' : 'test'}`,
    );
  if (status >= 500 && requestId !== null) lines.push(`X-Request-Id: ${requestId}`);
  return new CliError(lines.filter((line) => line !== '').join('\n'), {
    cause: error,
    facts: { code, status, param, details, requestId },
  });
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
