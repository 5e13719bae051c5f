import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiResponseObject } from 'zod-openapi';
import { DASHBOARD_ERRORS, dashboardError, type DashboardErrorCode } from './errors.ts';
import { DASHBOARD_TAGS, dashboardErrorsOf, type DashboardOperation } from './operation.ts';

/** The OpenAPI 3.1 document of these operations, generated from the schemas that validate requests. */
export function dashboardDocument(
  operations: readonly DashboardOperation[],
  baseUrl: string,
): ReturnType<typeof createDocument> {
  if (!z.globalRegistry.has(dashboardError)) z.globalRegistry.add(dashboardError, { id: 'DashboardError' });
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const operation of operations) (paths[operation.path] ??= {})[operation.method] = describe(operation);
  return createDocument(
    {
      openapi: '3.1.0',
      info: {
        title: 'Payment Intent Service: dashboard',
        version: '1.0.0',
        description:
          'Accounts, their members and sign-in, for the people of an account. Their programs use the payment API, ' +
          'with an API key. `/accounts/{accountId}/{mode}/v1` is the payment API for people, with their session or a ' +
          'personal token; `mode` is `test` or `live`.',
      },
      servers: [{ url: baseUrl }],
      security: [{ session: [] }, { token: [] }],
      tags: Object.entries(DASHBOARD_TAGS).map(([name, description]) => ({ name, description })),
      paths,
      components: {
        securitySchemes: {
          session: {
            type: 'apiKey',
            in: 'cookie',
            name: '__Host-pf.session_token',
            description: 'The cookie that `POST /sign-in` sets; without `__Host-` where the dashboard is on http://.',
          },
          token: {
            type: 'http',
            scheme: 'bearer',
            description: 'A personal token, `pft_…`: instead of the session, and without an `Origin` header.',
          },
        },
      },
    },
    {
      override: ({ jsonSchema }) => {
        // zod adds a long pattern; `format` says the same.
        if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
      },
    },
  );
}

/** The roles that may call an operation, as the documentation says it. */
export function accessText({ access, anyOrigin, sessionOnly }: DashboardOperation): string {
  if (access === 'anyone') return anyOrigin ? 'Needs neither a session nor an `Origin`.' : 'Needs no session.';
  const proof = sessionOnly
    ? 'Needs a session; a personal token is not enough.'
    : 'Needs a session or a personal token';
  if (access === 'signed-in') return sessionOnly ? proof : `${proof}.`;
  return `${proof}, and one of these roles in the account: ${access.map((name) => `\`${name}\``).join(', ')}.`;
}

function describe(operation: DashboardOperation): ZodOpenApiOperationObject {
  const { id, tag, summary, description, access, sessionOnly, path, query, body, status, response } = operation;
  const params = [...path.matchAll(/\{(\w+)\}/g)].map(
    ([, name = '']) => [name, name === 'mode' ? z.enum(['test', 'live']) : z.string()] as const,
  );
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: `${description}\n\n${accessText(operation)}`,
    ...(access === 'anyone' ? { security: [] } : sessionOnly && { security: [{ session: [] }] }),
    requestParams: {
      ...(params.length > 0 && { path: z.object(Object.fromEntries(params)) }),
      ...(query && { query }),
    },
    ...(body && { requestBody: { required: true, content: { 'application/json': { schema: body } } } }),
    responses: {
      [String(status)]: {
        description: STATUS_CODES[status] ?? '',
        content: { [mediaTypeOf(operation)]: { schema: response } },
      },
      ...errorResponses(dashboardErrorsOf(operation)),
    },
  };
}

const mediaTypeOf = (operation: DashboardOperation): string =>
  (operation.method === 'get' ? operation.type : undefined) ?? 'application/json';

/** One response per status, with each of its error codes. */
function errorResponses(codes: readonly DashboardErrorCode[]): Record<string, ZodOpenApiResponseObject> {
  const byStatus = Map.groupBy(codes, (code) => DASHBOARD_ERRORS[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, ofStatus]) => [
      String(status),
      {
        description: [
          `${STATUS_CODES[status]}`,
          ...ofStatus.map((code) => `* \`${code}\`: ${DASHBOARD_ERRORS[code].cause}`),
        ].join('\n\n'),
        content: { 'application/json': { schema: dashboardError } },
      },
    ]),
  );
}
