import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { buildConnector } from 'undici';
import { openTunnel } from './egress-proxy.ts';
import type { Resolve } from './resolver.ts';

/** Thrown if a URL leads to where nothing may be sent. The message names no address: the account may read it. */
export class TargetRefusedError extends Error {
  override readonly name = 'TargetRefusedError';
}
const NOT_PUBLIC = 'The host leads to an address that is not public.';

/** All of IPv6 that is allocated for the internet. Other addresses, such as `::127.0.0.1`, are not assigned. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

/**
 * Ranges that look public and are not: clouds answer there, to their own machines only, with metadata, credentials and
 * internal services.
 */
const INTERNAL = [
  // Azure: WireServer, DNS and DHCP of every virtual machine.
  '168.63.129.16/32',
  // IBM Cloud: service endpoints, and infrastructure as a service.
  '161.26.0.0/16',
  '166.8.0.0/14',
].map((range) => ipaddr.parseCIDR(range));

/**
 * True for an address of the public internet. False for private, loopback, link-local, carrier-grade NAT, unspecified,
 * multicast and reserved ones, for those of clouds' internal services, and for IPv6 forms of an IPv4 address (mapped,
 * translated, 6to4, Teredo, a network's own NAT64): the address behind a translator is not known here. It is known for
 * the prefix that all networks have for NAT64, under which DNS64 answers for every host without IPv6: that counts as
 * the IPv4 address in it. The ranges are those of IANA's special-purpose registries.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = withoutNat64(ipaddr.parse(address));
  if (parsed.range() !== 'unicast' || (parsed instanceof ipaddr.IPv6 && !parsed.match(GLOBAL_UNICAST))) return false;
  return !INTERNAL.some((range) => parsed.kind() === range[0].kind() && parsed.match(range));
}

/** The IPv4 address that an address of `64:ff9b::/96` (RFC 6052, 2.1) is translated to; any other as it is. */
function withoutNat64(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  if (!(address instanceof ipaddr.IPv6) || address.zoneId !== undefined || !address.match(NAT64)) return address;
  return new ipaddr.IPv4(address.toByteArray().slice(-4));
}

/**
 * Ports of other protocols, on which a request could be taken for a command, as browsers refuse them
 * (https://fetch.spec.whatwg.org/#port-blocking), and those of common databases and caches.
 */
const REFUSED_PORTS = new Set([
  1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
  111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532,
  540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3306, 3389, 3659, 4045, 4190,
  5060, 5061, 5432, 6000, 6379, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 9092, 10080, 11211, 27017,
]);

/**
 * Checks what a URL itself says, before anything is resolved.
 * @throws TargetRefusedError
 */
export function checkUrl(url: string, allowPrivate: boolean): void {
  if (!URL.canParse(url)) throw new TargetRefusedError('The URL is invalid.');
  const { protocol, port, username, password } = new URL(url);
  if (protocol !== 'https:' && protocol !== 'http:')
    throw new TargetRefusedError('The URL must start with http:// or https://.');
  if (username !== '' || password !== '') throw new TargetRefusedError('The URL must not contain a user or password.');
  if (!allowPrivate && REFUSED_PORTS.has(Number(port)))
    throw new TargetRefusedError(`The port ${port} is not allowed.`);
}

export interface GuardOptions {
  readonly allowPrivate: boolean;
  readonly timeoutMs: number;
  readonly resolve: Resolve;
  /** All connections go through this HTTP proxy, to addresses that were checked here. */
  readonly proxy?: URL | undefined;
}

/**
 * For a connection to one of several addresses, before the next one is tried: there are far receivers, and a packet
 * that is lost is sent again after a second. Node's 250 ms would give up what succeeds.
 */
const ATTEMPT_MS = 3_000;

/**
 * Opens connections for undici, to public addresses only unless `allowPrivate`. The check is made on the addresses that
 * the socket is about to connect to, after the only resolution, so DNS rebinding gains nothing. A host is refused if
 * any of its addresses is not public.
 */
export function guardedConnector({ allowPrivate, timeoutMs, resolve, proxy }: GuardOptions): buildConnector.connector {
  const checked = async (host: string): ReturnType<Resolve> => {
    const family = isIP(host);
    const addresses = family === 0 ? await resolve(host) : [{ address: host, family }];
    if (!allowPrivate && !addresses.every(({ address }) => isPublicAddress(address)))
      throw new TargetRefusedError(NOT_PUBLIC);
    return addresses;
  };
  const lookup: LookupFunction = (host, { all }, callback) => {
    checked(host).then(
      (addresses) => {
        const [first] = addresses;
        if (!first) callback(new TargetRefusedError('The host name does not exist.'), '');
        else if (all) callback(null, [...addresses]);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, ''),
    );
  };
  // HTTP/1.1 only: every request under way has a connection of its own.
  const connect = buildConnector({
    timeout: timeoutMs,
    allowH2: false,
    lookup,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: Math.min(ATTEMPT_MS, Math.ceil(timeoutMs / 3)),
  });
  return (options, callback) => {
    const host = options.hostname.replace(/^\[|\]$/g, '');
    const port = Number(options.port) || (options.protocol === 'https:' ? 443 : 80);
    // An address in the URL itself is connected to without a lookup.
    if (!allowPrivate && isIP(host) !== 0 && !isPublicAddress(host))
      return callback(new TargetRefusedError(NOT_PUBLIC), null);
    if (!proxy) return connect(options, callback);
    checked(host)
      .then(([first]) => {
        if (!first) throw new TargetRefusedError('The host name does not exist.');
        return openTunnel(proxy, first.address, port, timeoutMs);
      })
      .then(
        (socket) => {
          if (options.protocol === 'https:') connect({ ...options, httpSocket: socket }, callback);
          else callback(null, socket);
        },
        (error: Error) => callback(error, null),
      );
  };
}
