import { BODY_LIMIT_BYTES } from '@pf/contracts';
import { resumed } from '@pf/runtime';
import express, { type Request, type Response } from 'express';
import type { z } from 'zod';
import { ApiError } from './http-error.ts';
import { parseBody } from './json-body.ts';

/** Reads a body of any type; the type is checked below, so that an empty body needs none. */
const readerUpTo = (limit: number) => express.raw({ type: () => true, limit, inflate: false });
const readers = new Map<number, ReturnType<typeof readerUpTo>>();
const JSON_TYPE = /^application\/json *(?:; *charset=(?:utf-8|"utf-8") *)?$/i;

/**
 * Reads a request's body as it stands: none is empty.
 * @param limit the most that it may have, in bytes
 * @throws ApiError `request.unsupported_media_type` for a compressed one, `request.too_large` or
 *   `request.malformed_json`
 */
export async function readBytes(
  request: Request,
  response: Response,
  limit: number = BODY_LIMIT_BYTES,
): Promise<Uint8Array> {
  const readRaw = readers.get(limit) ?? readerUpTo(limit);
  readers.set(limit, readRaw);
  const bytes = await new Promise<Uint8Array>((resolve, reject) => {
    // Without a body, `request.body` stays undefined.
    readRaw(request, response, (error?: unknown) =>
      error === undefined
        ? resolve((request.body as Uint8Array | undefined) ?? new Uint8Array())
        : reject(asBodyError(error)),
    );
  });
  resumed();
  return bytes;
}

/**
 * Reads and validates a request's JSON body. No body is the same as an empty object.
 * @throws ApiError `request.unsupported_media_type`, `request.too_large`, `request.malformed_json` or
 *   `request.validation_failed`
 */
export async function readBody<Schema extends z.ZodType>(
  request: Request,
  response: Response,
  schema: Schema,
): Promise<z.output<Schema>> {
  return jsonBody(request, await readBytes(request, response), schema);
}

/** Validates a JSON body that was read. @throws ApiError as `readBody` */
export function jsonBody<Schema extends z.ZodType>(
  { headers }: Request,
  bytes: Uint8Array,
  schema: Schema,
): z.output<Schema> {
  if (bytes.length > 0 && !JSON_TYPE.test(headers['content-type'] ?? ''))
    throw new ApiError('request.unsupported_media_type');
  return parseBody(bytes, schema);
}

/** Maps an error of Express' body reader by its `type`. */
function asBodyError(error: unknown): Error {
  const type = error instanceof Error && 'type' in error ? error.type : undefined;
  if (type === 'entity.too.large') return new ApiError('request.too_large', { cause: error });
  if (type === 'encoding.unsupported') return new ApiError('request.unsupported_media_type', { cause: error });
  // The client disconnected, or sent another length than it announced.
  if (type === 'request.aborted' || type === 'request.size.invalid')
    return new ApiError('request.malformed_json', { cause: error });
  return error instanceof Error ? error : new Error('the request body cannot be read', { cause: error });
}
