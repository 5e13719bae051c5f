import {
  accessText,
  DASHBOARD_ERROR_CODES,
  DASHBOARD_ERRORS,
  DASHBOARD_OPERATIONS,
  dashboardErrorsOf,
  type DashboardOperation,
} from '../src/dashboard/index.ts';
import { wrapped } from './wrapped.ts';

const INTRODUCTION = `# The dashboard's API

${wrapped('After reading this page you can call every operation of the dashboard: sign-in, members, API keys.')}

It is for the people of an account, with a session; their programs use [the payment API](contract.md), with an API key.

${[
  '- **Base URL:** `DASHBOARD_URL` and `/api`; `npm start` prints it with an e-mail address and a password. ' +
    '`GET /openapi.json` returns the OpenAPI document.',
  '- **Session:** `POST /sign-in` sets a cookie. It lasts 7 days, and longer if it is used. Cookies are `HttpOnly` ' +
    'and `SameSite=Strict`.',
  '- **Origin:** requests other than `GET` need the `Origin` header of the dashboard, as browsers send it.',
  '- **Mails** lead to pages of the dashboard, with a token in the fragment: `/verify-email#token=…`, ' +
    '`/reset-password#token=…`, `/accept-invitation#token=…`. The operations of these names take the token.',
  '- **Errors** have the body of [the payment API](errors.md), with the codes below.',
]
  .map(wrapped)
  .join('\n')}

${wrapped(
  'Roles: an `owner` may do everything and manages the members; `developer` is for those who work with keys and ' +
    'secrets, `support` for those who help with payments, without keys and secrets, `viewer` for those who only read.',
)}

This page is generated from \`packages/contracts/src/dashboard\` by \`npm run generate\`.
`;

/** docs/reference/dashboard-api.md: every operation with its access and errors, then every error. */
export function dashboardPage(): string {
  const operations: readonly DashboardOperation[] = Object.values(DASHBOARD_OPERATIONS);
  const sections = [...Map.groupBy(operations, ({ tag }) => tag)].map(([tag, ofTag]) =>
    [`## ${tag}`, ...ofTag.map(section)].join('\n\n'),
  );
  const errors = DASHBOARD_ERROR_CODES.map((code) => {
    const { status, cause, remedy } = DASHBOARD_ERRORS[code];
    return wrapped(`- \`${code}\` (${status}): ${cause} ${remedy}`);
  });
  return [INTRODUCTION, sections.join('\n\n'), '', '## Errors', '', ...errors, ''].join('\n');
}

function section(operation: DashboardOperation): string {
  const { method, path, description, status } = operation;
  const errors = dashboardErrorsOf(operation).map((code) => `\`${code}\``);
  return [
    `### \`${method.toUpperCase()} ${path}\``,
    wrapped(description),
    wrapped(`${accessText(operation)} Responds with ${status}. Errors: ${errors.join(', ')}.`),
  ].join('\n\n');
}
