import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiResponseObject } from 'zod-openapi';
import { type ErrorCode, ERRORS, errorResponse } from '../errors.ts';
import { IDEMPOTENCY_KEY_LENGTH_MAX } from '../api/limits.ts';
import { nameComponents } from './components.ts';
import { EXAMPLES } from './examples.ts';
import { FIELDS } from './fields.ts';
import { openResponses } from './open-responses.ts';
import { webhookEvent, webhookOperations } from './webhooks.ts';
import { type Answered, errorsOf, jsonOf, type Operation, type Success, TAGS } from '../operation.ts';

/** Headers of every response. The RateLimit pair needs a valid key (draft-ietf-httpapi-ratelimit-headers). */
const commonHeaders = z.object({
  'X-Request-Id': z.string().meta({
    description: "The id of the request in the service's logs: the value of this header in the request, if it had one.",
  }),
  RateLimit: z
    .string()
    .optional()
    .meta({ description: 'Requests left, and seconds until the quota is full: `"key";r=5999;t=1`.' }),
  'RateLimit-Policy': z
    .string()
    .optional()
    .meta({ description: 'The quota, and its window in seconds: `"key";q=6000;w=60`.' }),
});
const retryAfter = z.object({
  'Retry-After': z.string().meta({ description: 'Seconds to wait before a retry; the same as `details.retry_after`.' }),
});

const FOR_PAYERS =
  'A key with the scope `payer` is sufficient, and so is the client secret of the intent. Both receive the intent ' +
  'as `PayerIntent`, and events as `PayerEvent`.';

/** Of every POST: what it changes depends on whether the body may have a key. */
const keyHeader = (body: z.ZodType | undefined) => ({
  'Idempotency-Key': z
    .string()
    .min(1)
    .max(IDEMPOTENCY_KEY_LENGTH_MAX)
    .optional()
    .meta({
      description:
        body instanceof z.ZodObject && 'idempotencyKey' in body.shape
          ? 'Stands for `idempotencyKey` in the body. If both are sent, they must be equal.'
          : 'Accepted, and changes nothing: a repeat of this request is known by what it acts on.',
    }),
});

/** The OpenAPI 3.1 document of these operations, generated from the schemas that validate requests. */
export function openApiDocument(operations: readonly Operation[], baseUrl: string): OpenApiDocument {
  nameComponents();
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const operation of operations) {
    (paths[operation.path] ??= {})[operation.method] = describe(operation);
  }
  const document = createDocument(
    {
      openapi: '3.1.0',
      info: {
        title: 'Payment Intent Service',
        version: '1.0.0',
        description:
          'Stablecoin payments between wallets on Solana, Base and Tempo. The service never holds a private key.',
      },
      servers: [{ url: baseUrl }],
      security: [{ apiKey: [] }],
      tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
      paths: paths,
      webhooks: webhookOperations(),
      components: {
        schemas: { WebhookEvent: webhookEvent },
        securitySchemes: {
          apiKey: {
            type: 'http',
            scheme: 'bearer',
            description: 'An API key: `pk_test_…` (testnets, no real funds) or `pk_live_…` (real funds).',
          },
          clientSecret: {
            type: 'http',
            scheme: 'bearer',
            description:
              'The `clientSecret` of one payment intent: `pi_…_secret_…`. It gives its payer access to that intent.',
          },
          paymentLinkSecret: {
            type: 'http',
            scheme: 'bearer',
            description:
              'The `clientSecret` of one payment link: `pl_…_secret_…`. It gives its payer access to that link.',
          },
          solanaPayToken: {
            type: 'http',
            scheme: 'bearer',
            description: 'The `solanaPayToken` of one payment intent: `pi_…_spl_…`.',
          },
          paymasterToken: {
            type: 'http',
            scheme: 'bearer',
            description: 'The token in the `paymasterUrl` of one payment intent: `pi_…_pm_…`.',
          },
          mppCredential: {
            type: 'http',
            scheme: 'payment',
            description: 'The credential with which an MPP client responds to a challenge of this operation.',
          },
        },
      },
    },
    {
      override: ({ jsonSchema }) => {
        // zod adds a long pattern; `format` says the same.
        if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
        // Of a tuple, which `minItems` and `maxItems` close as well: some generators know no boolean as a schema.
        if ((jsonSchema.items as unknown) === false) jsonSchema.items = {};
      },
    },
  );
  describeFields(document);
  openResponses(document);
  return document;
}

export type OpenApiDocument = ReturnType<typeof createDocument>;

/** Adds field descriptions and examples to the components that have them. */
function describeFields({ components }: OpenApiDocument): void {
  for (const [name, descriptions] of Object.entries(FIELDS)) {
    const schema = components?.schemas?.[name];
    if (typeof schema !== 'object' || !('properties' in schema)) continue;
    const example = EXAMPLES[name];
    if (example !== undefined) schema.examples = [example];
    for (const [field, property] of Object.entries(schema.properties ?? {})) {
      const description = descriptions[field];
      if (description !== undefined && typeof property === 'object') Object.assign(property, { description });
    }
  }
}

function describe(operation: Operation): ZodOpenApiOperationObject {
  const { id, tag, summary, description, scope, solanaPay, paymaster, paymentLink, mpp, request, responses } =
    operation;
  const { params, query, body } = request;
  const headers =
    operation.method === 'post' ? z.object({ ...request.headers?.shape, ...keyHeader(body) }) : request.headers;
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: scope === 'payer' ? `${description}\n\n${FOR_PAYERS}` : description,
    ...(scope === 'payer' && {
      security: [
        { apiKey: [] },
        { clientSecret: [] },
        ...(solanaPay ? [{ solanaPayToken: [] }] : []),
        ...(paymaster ? [{ paymasterToken: [] }] : []),
        ...(mpp ? [{ mppCredential: [] }] : []),
      ],
    }),
    ...(paymentLink && { security: [{ apiKey: [] }, { paymentLinkSecret: [] }] }),
    requestParams: { ...(params && { path: params }), ...(query && { query }), ...(headers && { header: headers }) },
    ...(body && {
      requestBody: { required: !body.safeParse({}).success, content: { 'application/json': { schema: body } } },
    }),
    responses: {
      ...Object.fromEntries(
        Object.entries(responses).map(([status, response]) => [
          status,
          success(response, jsonOf(operation, Number(status) as Answered)),
        ]),
      ),
      ...errorResponses(errorsOf(operation)),
    },
  };
}

const success = (
  { description, content, headers }: Success,
  json: z.ZodType | undefined,
): ZodOpenApiResponseObject => ({
  description,
  headers: headers === undefined ? commonHeaders : commonHeaders.extend(headers.shape),
  content: Object.fromEntries(
    Object.entries(content).map(([type, schema]) => [
      type,
      { schema: type === 'application/json' && json ? json : schema },
    ]),
  ),
});

/** One response per status, with each of its error codes. */
function errorResponses(codes: readonly ErrorCode[]): Record<string, ZodOpenApiResponseObject> {
  const byStatus = Map.groupBy(codes, (code) => ERRORS[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, ofStatus]) => [
      String(status),
      {
        description: [
          `${STATUS_CODES[status]}`,
          ...ofStatus.map((code) => `* \`${code}\`: ${ERRORS[code].cause}`),
        ].join('\n\n'),
        headers:
          'retryAfterSeconds' in ERRORS[ofStatus[0] as ErrorCode]
            ? commonHeaders.extend(retryAfter.shape)
            : commonHeaders,
        content: { 'application/json': { schema: errorResponse } },
      },
    ]),
  );
}
