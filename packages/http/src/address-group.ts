import ipaddr from 'ipaddr.js';

/** A group of addresses that share a limit, and how many times the limit of one address they have together. */
export interface SharingGroup {
  readonly group: string;
  readonly times: number;
}

/**
 * What a /48 has together: it is what a site or a free tunnel gets, with 65,536 networks of a subscriber in it. A
 * company or a campus with more people at once than that has none of its own.
 */
const SITE_TIMES = 16;

/**
 * The same where an address has few of something that all need: a /48 costs nothing, and one person must not have all.
 */
export const SITE_TIMES_OF_FEW = 2;

/** An IPv4 address, or the /64 network of an IPv6 address, which belongs to one subscriber. */
export function addressGroup(ip: string | undefined): string {
  const address = parse(ip);
  if (address === null) return 'unknown';
  return address instanceof ipaddr.IPv6 ? network(address, 4) : address.toString();
}

/**
 * All groups that a request of this address counts for, the smallest first: `addressGroup`, and for IPv6 the /48, so
 * that whoever has one does not have the limit of an address 65,536 times.
 */
export function sharingGroups(ip: string | undefined): readonly SharingGroup[] {
  const address = parse(ip);
  const own = { group: addressGroup(ip), times: 1 };
  return address instanceof ipaddr.IPv6 ? [own, { group: `${network(address, 3)}/48`, times: SITE_TIMES }] : [own];
}

/**
 * The slots of an address and of the network that it shares, as Slots.take() wants them.
 * @param most of one address
 * @param name of a group
 * @param timesMost how many times that all of a network have at most. Default: as often as its group says
 */
export const slotsOfAddress = (
  ip: string | undefined,
  most: number,
  name: (group: string) => string,
  timesMost = Infinity,
): Readonly<Record<string, number>> =>
  Object.fromEntries(sharingGroups(ip).map(({ group, times }) => [name(group), most * Math.min(times, timesMost)]));

/** Null for what is no address. IPv4 addresses that are mapped (RFC 4291) or translated (RFC 6052, 8215) are IPv4. */
function parse(ip: string | undefined): ipaddr.IPv4 | ipaddr.IPv6 | null {
  if (ip === undefined || !ipaddr.isValid(ip)) return null;
  const address = ipaddr.process(ip);
  return address instanceof ipaddr.IPv6 && isTranslated(address)
    ? new ipaddr.IPv4(address.toByteArray().slice(-4))
    : address;
}

/** `64:ff9b::/96`, and `64:ff9b:1::/48` with the address at its end, as in a /96 of it. */
const isTranslated = ({ parts }: ipaddr.IPv6): boolean =>
  parts[0] === 0x64 && parts[1] === 0xff9b && (parts[2] === 1 || parts.slice(2, 6).every((part) => part === 0));

const network = ({ parts }: ipaddr.IPv6, length: number): string =>
  parts
    .slice(0, length)
    .map((part) => part.toString(16))
    .join(':');
