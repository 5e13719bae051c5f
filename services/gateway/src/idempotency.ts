import { IDEMPOTENCY_KEY_LENGTH_MAX } from '@pf/contracts';
import { type Database, type IntentOwner, isAnswered, type RequestKey } from '@pf/database';
import { readBody } from '@pf/http';
import type { Request, Response } from 'express';
import type { z } from 'zod';
import { ApiError, validationFailed } from './api-error.ts';

/** The header of an answer that an earlier request got. */
export const REPLAYED = { 'Idempotent-Replayed': 'true' } as const;

const HEADER = 'Idempotency-Key';
/** With the quotes of a string of RFC 8941, as the draft of the IETF has it, or without, as others send it. */
const HEADER_VALUE = new RegExp(
  `^(?:"([^"\\\\]{1,${IDEMPOTENCY_KEY_LENGTH_MAX}})"|([^"].{0,${IDEMPOTENCY_KEY_LENGTH_MAX - 1}}))$`,
);
const PRINTABLE = /^[\x20-\x7e]*$/;

/**
 * The key in the header of a request; undefined where it has none.
 * @throws ApiError `request.validation_failed`
 */
export function keyInHeader({ headersDistinct }: Pick<Request, 'headersDistinct'>): string | undefined {
  const values = headersDistinct[HEADER.toLowerCase()];
  if (values === undefined) return undefined;
  const [value = ''] = values;
  const [, quoted, bare] = (values.length === 1 && PRINTABLE.test(value) && HEADER_VALUE.exec(value)) || [];
  const key = quoted ?? bare;
  if (key !== undefined) return key;
  throw validationFailed([
    {
      param: HEADER,
      message: `${HEADER} must be one header of 1 to ${IDEMPOTENCY_KEY_LENGTH_MAX} printable ASCII characters`,
    },
  ]);
}

/**
 * Reads a body whose `idempotencyKey` may be in the header instead.
 * @throws ApiError as `readBody`, and `request.validation_failed` for two keys that differ
 */
export async function readKeyedBody<Schema extends z.ZodType<{ readonly idempotencyKey?: string | undefined }>>(
  request: Request,
  response: Response,
  schema: Schema,
): Promise<z.output<Schema>> {
  const body = await readBody(request, response, schema);
  const key = keyInHeader(request);
  if (key === undefined || body.idempotencyKey === key) return body;
  if (body.idempotencyKey === undefined) return { ...body, idempotencyKey: key };
  throw validationFailed([
    { param: 'idempotencyKey', message: `idempotencyKey must be that of the header ${HEADER}, if both are sent` },
  ]);
}

/** Null for a request without an idempotency key. */
export const requestKey = (
  { accountId, livemode }: IntentOwner,
  operation: string,
  idempotencyKey: string | undefined,
): RequestKey | null => (idempotencyKey === undefined ? null : { accountId, livemode, operation, idempotencyKey });

/**
 * Counts a request in its quota. A repeat counts, and gets the answer of the first one whatever is left.
 * @param admit what counts it
 * @throws ApiError what `admit` throws, where no earlier request with the key was answered
 */
export async function admitUnlessAnswered(
  database: Database,
  key: RequestKey | null,
  at: Date,
  admit: () => Promise<void>,
): Promise<void> {
  try {
    await admit();
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 429 && (await isAnswered(database, key, at)))) throw error;
  }
}
