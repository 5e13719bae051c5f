import { STATUS_CODES } from 'node:http';
import { ERROR_CODES, type ErrorCode, ERRORS, OPERATIONS, type Operation } from '../src/index.ts';
import { errorsOf } from '../src/operation.ts';

const INTRODUCTION = `# Errors

Every error has one shape, whatever the endpoint:

\`\`\`json
{ "error": { "code": "intent.expired", "message": "The payment intent has expired.", "param": null, "details": { "intent_id": "pi_…", "current_state": "expired" } } }
\`\`\`

- **\`code\`** is for programs and does not change. **\`message\`** is for people and may say more than the sentence given here.
- **\`param\`** names the field, where one is to blame. **\`details\`** is what the code's section says, else \`null\`.
- 429 and 503 pass by themselves: \`details.retry_after\` and the \`Retry-After\` header say after how many seconds to send the same request again,
  with growing pauses. It takes effect once: a create by its \`idempotencyKey\`, everything else by what the intent is then.
- Conflicts (409) carry \`details.intent_id\` and \`details.current_state\`.
- \`X-Request-Id\` of the answer is the name of the request in our logs.

This page is made of the registry in the code (\`packages/contracts/src/errors.ts\`): write it anew with \`pnpm --filter @pf/contracts document\`.
`;

/** docs/reference/errors.md: every code, its cause and its remedy, and which endpoints can answer it. */
export function errorsDocument(): string {
  const byStatus = [...Map.groupBy(ERROR_CODES, (code) => ERRORS[code].status)].sort(([a], [b]) => a - b);
  const rows = byStatus.map(
    ([status, codes]) =>
      `| ${status} ${STATUS_CODES[status] ?? ''} | ${codes.map((code) => `[\`${code}\`](#${anchorOf(code)})`).join(', ')} |`,
  );
  const sections = byStatus.flatMap(([, codes]) => codes.map(section));
  return [INTRODUCTION, '| Status | Codes |', '| --- | --- |', ...rows, '', ...sections].join('\n');
}

/** As GitHub makes it of the heading. */
const anchorOf = (code: ErrorCode): string => code.replace('.', '');

function section(code: ErrorCode): string {
  const entry = ERRORS[code];
  const lines = [
    `${entry.status}: “${entry.message}”`,
    '',
    `- **Cause:** ${entry.cause}`,
    `- **Remedy:** ${entry.remedy}`,
  ];
  if ('retryAfterSeconds' in entry)
    lines.push(`- **\`retry_after\`:** ${entry.retryAfterSeconds} where nothing more particular is known.`);
  return [`## \`${code}\``, '', ...lines, `- **Answered by:** ${answeredBy(code)}.`, ''].join('\n');
}

function answeredBy(code: ErrorCode): string {
  const all: readonly Operation[] = Object.values(OPERATIONS);
  const those = all.filter((operation) => errorsOf(operation).includes(code));
  if (those.length === 0) return 'any request, before it is known which endpoint it is for';
  if (those.length === all.length) return 'every endpoint';
  return those.map(({ method, path }) => `\`${method.toUpperCase()} ${path}\``).join(', ');
}
