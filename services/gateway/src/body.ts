import { BODY_LIMIT_BYTES, parseRequest } from '@pf/contracts';
import express, { type Request, type Response } from 'express';
import type { z } from 'zod';
import { ApiError, validationFailed } from './api-error.ts';

/** All types are read here; which are taken is said below, so that an empty body needs none. */
const readBytes = express.raw({ type: () => true, limit: BODY_LIMIT_BYTES, inflate: false });
const decoder = new TextDecoder('utf-8', { fatal: true });
const JSON_TYPE = /^application\/json *(?:; *charset=(?:utf-8|"utf-8") *)?$/i;

/**
 * Reads a request's JSON body and checks it by its schema. No body at all is an empty object.
 * @throws ApiError `request.unsupported_media_type`, `request.too_large`, `request.malformed_json`, `request.validation_failed`
 */
export async function readBody<Schema extends z.ZodType>(
  request: Request,
  response: Response,
  schema: Schema,
): Promise<z.output<Schema>> {
  const bytes = await new Promise<Uint8Array>((resolve, reject) => {
    // Without a body the reader leaves `body` as it is.
    readBytes(request, response, (error?: unknown) =>
      error === undefined
        ? resolve((request.body as Uint8Array | undefined) ?? new Uint8Array())
        : reject(asBodyError(error)),
    );
  });
  if (bytes.length > 0 && !JSON_TYPE.test(request.headers['content-type'] ?? ''))
    throw new ApiError('request.unsupported_media_type');
  const parsed = parseRequest(schema, bytes.length === 0 ? {} : parseJson(bytes));
  if (!parsed.ok) throw validationFailed(parsed.issues);
  return parsed.value;
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(decoder.decode(bytes));
  } catch (cause) {
    // TypeError: not UTF-8; SyntaxError: not JSON. The parser's own words quote the body, so they stay inside.
    throw new ApiError('request.malformed_json', { cause });
  }
}

/** The reader's errors carry a type. */
function asBodyError(error: unknown): Error {
  const type = error instanceof Error && 'type' in error ? error.type : undefined;
  if (type === 'entity.too.large') return new ApiError('request.too_large', { cause: error });
  if (type === 'encoding.unsupported') return new ApiError('request.unsupported_media_type', { cause: error });
  // The client went away, or said another length than it sent: nobody, or nobody sound, reads the answer.
  if (type === 'request.aborted' || type === 'request.size.invalid')
    return new ApiError('request.malformed_json', { cause: error });
  return error instanceof Error ? error : new Error('the body cannot be read', { cause: error });
}
