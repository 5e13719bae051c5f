import ipaddr from 'ipaddr.js';

/** An IPv4 address, or the /64 network of an IPv6 address, which belongs to one subscriber. */
export function addressGroup(ip: string | undefined): string {
  if (ip === undefined || !ipaddr.isValid(ip)) return 'unknown';
  const address = ipaddr.process(ip);
  return address instanceof ipaddr.IPv6
    ? address.parts
        .slice(0, 4)
        .map((part) => part.toString(16))
        .join(':')
    : address.toString();
}
