import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIPv6, type Socket } from 'node:net';
import { USER_AGENT } from '@pf/runtime';

/** The egress proxy cannot be used: no fault of the receiver. */
export class ProxyUnavailableError extends Error {
  override readonly name = 'ProxyUnavailableError';
}
/** The egress proxy does not let us through to an address, or cannot reach it. */
export class TunnelRefusedError extends Error {
  override readonly name = 'TunnelRefusedError';
}

/** What a proxy says of the address, not of itself or of us (RFC 9110, section 15). */
const ABOUT_THE_ADDRESS: Readonly<Record<number, string>> = {
  403: 'The host leads to an address that is not allowed.',
  404: 'The host cannot be reached.',
  502: 'The host cannot be reached.',
  503: 'The host cannot be reached.',
  504: 'The connection timed out.',
};

/**
 * Opens a connection to an address through an HTTP proxy (RFC 9110, section 9.3.6). The proxy gets the address that was
 * checked, not the name, so it cannot be led elsewhere by another answer of the name servers.
 * @throws ProxyUnavailableError, TunnelRefusedError
 */
export function openTunnel(proxy: URL, address: string, port: number, timeoutMs: number): Promise<Socket> {
  const authority = `${isIPv6(address) ? `[${address}]` : address}:${port}`;
  const { username, password } = proxy;
  const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64');
  return new Promise((resolve, reject) => {
    const request = (proxy.protocol === 'https:' ? httpsRequest : httpRequest)({
      host: proxy.hostname.replace(/^\[|\]$/g, ''),
      port: proxy.port === '' ? undefined : Number(proxy.port),
      method: 'CONNECT',
      path: authority,
      headers: {
        host: authority,
        'user-agent': USER_AGENT,
        ...((username !== '' || password !== '') && { 'proxy-authorization': `Basic ${credentials}` }),
      },
      agent: false,
      timeout: timeoutMs,
    });
    request.once('connect', ({ statusCode = 0 }, socket: Socket) => {
      if (statusCode >= 200 && statusCode < 300) return resolve(socket);
      socket.destroy();
      const reason = ABOUT_THE_ADDRESS[statusCode];
      reject(
        reason === undefined
          ? new ProxyUnavailableError(`the egress proxy responded ${statusCode}`)
          : new TunnelRefusedError(reason),
      );
    });
    // A proxy that answers CONNECT with a usual response says the same in another way.
    request.once('response', (response) => {
      response.destroy();
      reject(new ProxyUnavailableError(`the egress proxy does not open tunnels: ${response.statusCode}`));
    });
    request.once('timeout', () => request.destroy(new Error('it did not respond in time')));
    request.once('error', (error) =>
      reject(new ProxyUnavailableError(`the egress proxy is unavailable: ${error.message}`, { cause: error })),
    );
    request.end();
  });
}
