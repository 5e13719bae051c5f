import { isIP } from 'node:net';
import type { Logger } from '@pf/runtime';
import type { Express } from 'express';

/**
 * Says how many proxies are in front of an app, whose X-Forwarded-For entries are believed, with or without the port
 * that some of them add. With none, the first request that a proxy seems to have forwarded is logged: at start-up
 * nothing is known of proxies, and behind one all clients have the same address. So is the first one whose believed
 * entry is no address.
 */
export function trustProxies(app: Express, trustedProxies: number, log: Pick<Logger, 'warn'>): void {
  app.set('trust proxy', trustedProxies);
  let warned = false;
  const warnOnce = (message: string): void => {
    if (!warned) log.warn(message);
    warned = true;
  };
  app.use((request, _response, next) => {
    const { headers, ip } = request;
    if (ip !== undefined) Object.defineProperty(request, 'ip', { value: plainAddress(ip) });
    if (trustedProxies === 0) {
      if (headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined)
        warnOnce(
          'a request has X-Forwarded-For or Forwarded, but TRUSTED_PROXIES is 0: behind a proxy all clients share ' +
            'the limits of one address. Set TRUSTED_PROXIES to the number of proxies in front of this process. ' +
            'Without a proxy, the client has made the header up: ignore it.',
        );
    } else if (request.ip !== undefined && isIP(request.ip) === 0)
      warnOnce(
        `the entry of X-Forwarded-For that TRUSTED_PROXIES=${trustedProxies} selects is no IP address: such clients ` +
          'share the limits of one address. Let the proxy write addresses, or correct the number.',
      );
    next();
  });
}

/**
 * The address in `192.0.2.1:51234`, as Azure's Application Gateway writes it, or `[2001:db8::1]:443`; anything else as
 * it is. Without brackets, what follows the last colon of an IPv6 address belongs to it. An IPv4 address that is mapped
 * (RFC 4291), as sockets of both families have it, is IPv4.
 */
function plainAddress(entry: string): string {
  const { v4, v6 } = /^(?:(?<v4>[\d.]+):\d+|\[(?<v6>[^\]]+)\](?::\d+)?)$/.exec(entry)?.groups ?? {};
  const address = v4 ?? v6 ?? entry;
  if (isIP(address) === 0) return entry;
  const mapped = address.replace(/^::ffff:(?=[\d.]+$)/i, '');
  return isIP(mapped) === 4 ? mapped : address;
}
