import {
  accessText,
  AUDIT_ACTIONS,
  DASHBOARD_ERROR_CODES,
  DASHBOARD_ERRORS,
  DASHBOARD_OPERATIONS,
  dashboardErrorsOf,
  type DashboardOperation,
  FIELD_ACCESS,
  PAYMENT_ACCESS,
  PRIVATE_ACTIONS,
  ROLES,
} from '../src/dashboard/index.ts';
import { OPERATIONS } from '../src/index.ts';
import { table } from './table.ts';
import { wrapped } from './wrapped.ts';

const INTRODUCTION = `# The dashboard's API

${wrapped('After this page you can call every operation of the dashboard: sign-in, members, API keys.')}

It is for the people of an account, with a session or a personal token; their programs use
[the payment API](contract.md), with an API key. People use that one, too: the dashboard [forwards it](#payments).

${[
  '- **Base URL:** `DASHBOARD_URL` and `/api`; `npm start` prints it with an e-mail address and a password. ' +
    '`GET /openapi.json` returns the OpenAPI document.',
  '- **Session:** `POST /sign-in` sets a cookie. It lasts 7 days, and longer if it is used. Cookies are `HttpOnly` ' +
    'and `SameSite=Strict`.',
  '- **Personal token:** `Authorization: Bearer pft_…` instead of the cookie, for programs of a person such as `pf`. ' +
    'It allows what its person may do at the time of the request; passwords, second factors, passkeys, sessions ' +
    'and tokens need a session. Cookies of such a request play no part.',
  '- **Origin:** requests other than `GET` without a personal token need the `Origin` header of the dashboard, as ' +
    'browsers send it.',
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
  const actions = Object.entries(AUDIT_ACTIONS)
    .filter(([action]) => !(PRIVATE_ACTIONS as readonly string[]).includes(action))
    .map(([action, what]) => wrapped(`- \`${action}\`: ${what}`));
  return [
    INTRODUCTION,
    sections.join('\n\n'),
    '',
    payments(),
    '',
    '## Actions of the audit log',
    '',
    ...actions,
    '',
    '## Errors',
    '',
    ...errors,
    '',
  ].join('\n');
}

/** Who may send a field, where these are fewer than may make the request. */
const fieldsOfFewer = (): readonly string[] =>
  Object.entries(FIELD_ACCESS).flatMap(([id, fields]) =>
    Object.entries(fields).map(([field, roles]) => {
      const { method, path } = OPERATIONS[id as keyof typeof OPERATIONS];
      return wrapped(
        `\`${field}\` of \`${method.toUpperCase()} ${path}\` is for the roles ${roles.join(' and ')}: another role ` +
          'that sends it gets 403 `role.insufficient` with them in `details.roles`, and `details.field`.',
      );
    }),
  );

/** What is forwarded to the payment API, by those who may. */
function payments(): string {
  const rows = Object.values(OPERATIONS).map(({ id, method, path }) => {
    const may = PAYMENT_ACCESS[id];
    return [`\`${method.toUpperCase()} ${path}\``, ...ROLES.map((role) => (may.includes(role) ? 'yes' : ''))];
  });
  return [
    '## Payments',
    '',
    wrapped(
      '`/accounts/{accountId}/{mode}/v1` is the base URL of [the payment API](contract.md) for people: the same ' +
        'paths, bodies, responses, errors and streams. `mode` is `test` or `live`. A session or a personal token ' +
        'replaces the API key, and the role decides:',
    ),
    '',
    ...table(['Operation', ...ROLES], rows),
    '',
    wrapped(
      'The `clientSecret` and the `url` of a payment link are shown to owners and developers only: also by ' +
        '`GET /payment-links/{id}`. So are the `clientSecret` and the `paymentUrl` of a refund.',
    ),
    '',
    ...fieldsOfFewer(),
    '',
    wrapped(
      'In addition to the errors of the operation: `session.required`, `token.invalid`, `origin.foreign`, ' +
        '`role.insufficient`, `account.not_found`, and `service.unavailable` if the payment API does not respond. A ' +
        'stream ends within 30 s when the session or the token ends or the role no longer allows it, and may end at ' +
        'any time: resume it with `Last-Event-ID`. A person may have 10 streams open in an account, an account 50, ' +
        'and 16 requests under way in each process.',
    ),
  ].join('\n');
}

function section(operation: DashboardOperation): string {
  const { method, path, description, status } = operation;
  const errors = dashboardErrorsOf(operation).map((code) => `\`${code}\``);
  return [
    `### \`${method.toUpperCase()} ${path}\``,
    description.split('\n').map(wrapped).join('\n'),
    wrapped(`${accessText(operation)} Responds with ${status}. Errors: ${errors.join(', ')}.`),
  ].join('\n\n');
}
