import { lookup } from 'node:dns/promises';
import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { buildConnector } from 'undici';

/** Thrown where a URL leads to an address that is not public. It names no address: the account may read it. */
export class AddressNotPublicError extends Error {
  override readonly name = 'AddressNotPublicError';
  constructor() {
    super('The host leads to an address that is not public.');
  }
}

/** All of IPv6 that is handed out to the internet; what lies outside (`::127.0.0.1` too) belongs to nobody. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * True for an address of the public internet. False for private, loopback, link-local, carrier-grade NAT, unspecified,
 * multicast and reserved ones, and for every IPv6 form of an IPv4 address (mapped, translated, NAT64, 6to4, Teredo): what
 * is at the far end of a translator cannot be known from here. The ranges are those of IANA's special-purpose registries.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  return parsed.range() === 'unicast' && (parsed instanceof ipaddr.IPv4 || parsed.match(GLOBAL_UNICAST));
}

/** Answers as `dns.lookup(host, { all: true })` does. */
export type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

/**
 * The operating system's resolver, asked once for a host at a time: it works on few threads, and many deliveries to a host
 * whose name servers hang must not take them all.
 */
export function systemResolver(): Resolve {
  const asking = new Map<string, Promise<readonly LookupAddress[]>>();
  return (host) => {
    const known = asking.get(host);
    if (known) return known;
    const answer = lookup(host, { all: true }).finally(() => asking.delete(host));
    asking.set(host, answer);
    return answer;
  };
}

/**
 * Opens connections for undici, to public addresses only unless `allowPrivate`. The check is made on the addresses that
 * the socket is about to connect to, after the one and only resolution: a name that answers differently the second time
 * gains nothing. A host of which any address is not public is refused.
 */
export function guardedConnector({
  allowPrivate,
  timeoutMs,
  resolve,
}: {
  readonly allowPrivate: boolean;
  readonly timeoutMs: number;
  readonly resolve: Resolve;
}): buildConnector.connector {
  const lookupGuarded: LookupFunction = (host, { all }, callback) => {
    resolve(host).then(
      (addresses) => {
        const [first] = addresses;
        if (!first) callback(new Error(`The host ${host} has no address.`), '');
        else if (!allowPrivate && !addresses.every(({ address }) => isPublicAddress(address)))
          callback(new AddressNotPublicError(), '');
        else if (all) callback(null, [...addresses]);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, ''),
    );
  };
  // HTTP/1.1 only: deliveries to one host stay apart from each other.
  const connect = buildConnector({ timeout: timeoutMs, allowH2: false, lookup: lookupGuarded });
  return (options, callback) => {
    // An address in the URL itself is connected to without any look-up.
    const literal = options.hostname.replace(/^\[|\]$/g, '');
    if (!allowPrivate && isIP(literal) !== 0 && !isPublicAddress(literal)) callback(new AddressNotPublicError(), null);
    else connect(options, callback);
  };
}
