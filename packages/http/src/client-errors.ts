import type { ErrorCode } from '@pf/contracts';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { ApiError } from './http-error.ts';

/** What Node's HTTP parser reports, and the bytes that it was reading. */
type ClientError = Error & { readonly code?: string; readonly rawPacket?: Buffer };

/** Error codes by those of Node's HTTP parser. Any other is `request.malformed_http`. */
const CODE_OF: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'request.headers_too_large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'request.too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request.timeout',
};

/** Of a request line and its headers together. */
export const HEAD_BYTES_MAX = 16_384;

/**
 * Whether the path and query alone are too long. Node counts them as headers. Where the head came in several reads,
 * only the last one is known: then it does not begin with a method.
 */
function isLongPath(packet: Buffer): boolean {
  const line = packet.subarray(0, HEAD_BYTES_MAX).toString('latin1');
  return /^[A-Z]+ \//.test(line) && !line.includes('\n');
}

function codeOf({ code = '', rawPacket }: ClientError): ErrorCode {
  if (code === 'HPE_HEADER_OVERFLOW' && rawPacket && isLongPath(rawPacket)) return 'request.uri_too_long';
  return CODE_OF[code] ?? 'request.malformed_http';
}

/**
 * Responds to bytes that never became a request (not HTTP, headers too large or too slow) with an error body like any
 * other, and closes the connection.
 * @param responding whether a response to an earlier request on this connection has begun, into which nothing may be
 *   written
 */
export function respondToClientError(error: ClientError, socket: Duplex, responding: boolean): void {
  // The client disconnected, or a response is being sent to it.
  if (error.code === 'ECONNRESET' || !socket.writable || responding) {
    socket.destroy();
    return;
  }
  const apiError = new ApiError(codeOf(error), { cause: error });
  const body = apiError.body();
  socket.end(
    [
      `HTTP/1.1 ${apiError.status} ${STATUS_CODES[apiError.status] ?? ''}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Cache-Control: no-store',
      'X-Content-Type-Options: nosniff',
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
    // Does not wait for a client that keeps sending.
    () => socket.destroy(),
  );
}
