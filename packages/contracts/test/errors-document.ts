import { STATUS_CODES } from 'node:http';
import { ERROR_CODES, type ErrorCode, ERRORS, OPERATIONS, type Operation } from '../src/index.ts';
import { errorsOf } from '../src/operation.ts';
import { table } from './table.ts';
import { wrapped } from './wrapped.ts';

const INTRODUCTION = `# Errors

After this page you can handle every error that the API returns. All of them have the same body:

\`\`\`json
{
  "error": {
    "code": "intent.expired",
    "message": "This payment intent has expired. Create a new one.",
    "param": null,
    "details": { "intent_id": "pi_5mUj8xNgYq3vWJ2hTfKd7", "current_state": "expired" }
  }
}
\`\`\`

${[
  '- **`code`** is for programs and never changes. **`message`** is for people, and may be more specific than here.',
  "- **`param`** names the invalid field, or is `null`. **`details`** holds what the error's section names.",
  '- **Temporary errors** (429 and 503): wait `details.retry_after` seconds (also in the `Retry-After` header), then ' +
    'send the same request again, with exponential backoff. It takes effect once: a create because of its ' +
    '`idempotencyKey`, any other request because of the state of the intent.',
]
  .map(wrapped)
  .join('\n')}
- **Conflicts** (409) carry \`details.intent_id\` and \`details.current_state\`.
- **\`X-Request-Id\`**, a header of every response, identifies the request in the logs of the service.

This page is generated from \`packages/contracts/src/errors.ts\` by \`npm run generate\`.
`;

/** docs/reference/errors.md: every code with its cause, its remedy and the endpoints that return it. */
export function errorsDocument(): string {
  const byStatus = [...Map.groupBy(ERROR_CODES, (code) => ERRORS[code].status)].sort(([a], [b]) => a - b);
  const index = byStatus.flatMap(([status, codes]) =>
    codes.map((code) => [`[\`${code}\`](#${anchorOf(code)})`, `${status} ${STATUS_CODES[status] ?? ''}`] as const),
  );
  const sections = byStatus.flatMap(([, codes]) => codes.map(section));
  return [INTRODUCTION, ...table(['Code', 'Status'], index), '', sections.join('\n\n'), ''].join('\n');
}

/** The anchor that GitHub gives the heading. */
const anchorOf = (code: ErrorCode): string => code.replace('.', '');

function section(code: ErrorCode): string {
  const entry = ERRORS[code];
  const lines = [
    `## \`${code}\``,
    '',
    wrapped(`${entry.status}: “${entry.message.replaceAll('<', '\\<')}”`),
    '',
    wrapped(`- **Cause:** ${entry.cause}`),
    wrapped(`- **Remedy:** ${entry.remedy}`),
  ];
  if ('retryAfterSeconds' in entry)
    lines.push(`- **\`retry_after\`:** ${entry.retryAfterSeconds}, unless the response has a more precise number.`);
  lines.push(wrapped(`- **Returned by:** ${returnedBy(code)}.`));
  return lines.join('\n');
}

function returnedBy(code: ErrorCode): string {
  const all: readonly Operation[] = Object.values(OPERATIONS);
  const operations = all.filter((operation) => errorsOf(operation).includes(code));
  if (operations.length === 0) return 'any request, before it is matched to an endpoint';
  if (operations.length === all.length) return 'every endpoint';
  return operations.map(({ method, path }) => `\`${method.toUpperCase()} ${path}\``).join(', ');
}
