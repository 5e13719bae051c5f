import type { ErrorCode } from '@pf/contracts';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { ApiError } from './api-error.ts';

/** What Node's HTTP parser complains of, and what the client is told of it. All else is no HTTP. */
const CODE_OF: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'request.headers_too_large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'request.too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request.timeout',
};

/**
 * Answers what never became a request (no HTTP, a head too large or too slow) in the shape of every error, and closes
 * the connection.
 * @param answering true where an answer to an earlier request on this connection has begun: then nothing may be written into it
 */
export function answerClientError(error: Error & { readonly code?: string }, socket: Duplex, answering: boolean): void {
  // The client went away, or is being answered.
  if (error.code === 'ECONNRESET' || !socket.writable || answering) {
    socket.destroy();
    return;
  }
  const told = new ApiError(CODE_OF[error.code ?? ''] ?? 'request.malformed_http', { cause: error });
  const body = told.body();
  socket.end(
    [
      `HTTP/1.1 ${told.status} ${STATUS_CODES[told.status] ?? ''}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Cache-Control: no-store',
      'X-Content-Type-Options: nosniff',
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
    // A client that goes on sending, and never ends, is not waited for.
    () => socket.destroy(),
  );
}
