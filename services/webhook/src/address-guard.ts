import { lookup } from 'node:dns/promises';
import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { buildConnector } from 'undici';

/** Thrown if a URL leads to an address that is not public. The message names no address: the account may read it. */
export class AddressNotPublicError extends Error {
  override readonly name = 'AddressNotPublicError';
  constructor() {
    super('The host leads to an address that is not public.');
  }
}

/** All of IPv6 that is allocated for the internet. Other addresses, such as `::127.0.0.1`, are not assigned. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * True for an address of the public internet. False for private, loopback, link-local, carrier-grade NAT, unspecified,
 * multicast and reserved ones, and for every IPv6 form of an IPv4 address (mapped, translated, NAT64, 6to4, Teredo):
 * the address behind a translator is not known here. The ranges are those of IANA's special-purpose registries.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  return parsed.range() === 'unicast' && (parsed instanceof ipaddr.IPv4 || parsed.match(GLOBAL_UNICAST));
}

/** Resolves a host as `dns.lookup(host, { all: true })` does. */
export type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

/**
 * The operating system's resolver, with one lookup per host at a time: it has few threads, and many deliveries to a
 * host whose name servers hang must not block all of them.
 */
export function systemResolver(): Resolve {
  const pending = new Map<string, Promise<readonly LookupAddress[]>>();
  return (host) => {
    const known = pending.get(host);
    if (known) return known;
    const addresses = lookup(host, { all: true }).finally(() => pending.delete(host));
    pending.set(host, addresses);
    return addresses;
  };
}

/**
 * Opens connections for undici, to public addresses only unless `allowPrivate`. The check is made on the addresses that
 * the socket is about to connect to, after the only resolution, so DNS rebinding gains nothing. A host is refused if
 * any of its addresses is not public.
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
  // HTTP/1.1 only: every delivery under way has a connection of its own.
  const connect = buildConnector({ timeout: timeoutMs, allowH2: false, lookup: lookupGuarded });
  return (options, callback) => {
    // An address in the URL itself is connected to without a lookup.
    const literal = options.hostname.replace(/^\[|\]$/g, '');
    if (!allowPrivate && isIP(literal) !== 0 && !isPublicAddress(literal)) callback(new AddressNotPublicError(), null);
    else connect(options, callback);
  };
}
