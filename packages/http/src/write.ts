import type { Response } from 'express';

/** Writes a complete response with a body of JSON text. */
export function write(
  response: Response,
  status: number,
  json: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  // Express' own helpers would hash the body for an ETag.
  response
    .writeHead(status, {
      ...headers,
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': Buffer.byteLength(json),
    })
    .end(json);
}
