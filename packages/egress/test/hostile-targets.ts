/** A target to which nothing may be sent. */
export interface HostileTarget {
  readonly url: string;
  /** What its host resolves to, if it is a name. */
  readonly addresses: readonly string[];
}

/** A public address, of no one who is asked here. */
const PUBLIC = '93.184.215.14';

/** What an attacker wants to reach: this machine, its network, and the metadata services of clouds. */
const VICTIMS_V4 = {
  loopback: '127.0.0.1',
  unspecified: '0.0.0.0',
  private10: '10.0.0.1',
  private172: '172.16.0.1',
  private192: '192.168.1.1',
  'AWS, Azure, Google, Oracle, DigitalOcean, OpenStack, Hetzner, Vultr': '169.254.169.254',
  'AWS ECS task roles': '169.254.170.2',
  'AWS EKS pod identity': '169.254.170.23',
  'AWS DNS': '169.254.169.253',
  'AWS time': '169.254.169.123',
  Alibaba: '100.100.100.200',
  Tencent: '169.254.0.23',
  Scaleway: '169.254.42.42',
  Rancher: '169.254.169.250',
  Linode: '169.254.169.255',
  'Azure WireServer': '168.63.129.16',
  'Oracle Classic': '192.0.0.192',
  'IBM service endpoints': '166.8.0.1',
  'IBM infrastructure': '161.26.0.10',
  'OpenShift and kubernetes services': '172.30.0.1',
  'carrier-grade NAT': '100.64.0.1',
  benchmarks: '198.18.0.1',
  '6to4 relay': '192.88.99.1',
  'discovery of NAT64': '192.0.0.170',
  'this network': '0.1.2.3',
  broadcast: '255.255.255.255',
};
const VICTIMS_V6 = [
  '::',
  '::1',
  '0:0:0:0:0:0:0:1',
  '0000:0000:0000:0000:0000:0000:0000:0001',
  'fd00:ec2::254', // AWS
  'fd00:ec2::253', // AWS DNS
  'fd00:ec2::23', // AWS EKS
  'fd20:ce::254', // Google
  'fd00:42::42', // Scaleway
  'fd00:a9fe:a9fe::1', // Linode
  'fc00::1',
  'fe80::1',
  'fe80::5efe:7f00:1', // ISATAP
  'fec0::1',
  'ff02::1',
  'ff05::1:3',
  '100::1',
  '2001:db8::1',
  '2001:2::1',
  '2001:10::1',
  '2001:20::1', // ORCHIDv2
  '2620:4f:8000::1', // AS112
  '3fff::1',
  '4000::1',
  '5f00::1',
];

const octets = (address: string): [number, number, number, number] =>
  address.split('.').map(Number) as [number, number, number, number];
const hex = (value: number, width = 0): string => value.toString(16).padStart(width, '0');
const mapDigits = (text: string, map: (digit: number) => string): string =>
  text.replace(/\d/g, (digit) => map(Number(digit)));

/** One address as every form that some parser takes for it. */
function formsOfV4(address: string): readonly string[] {
  const [a, b, c, d] = octets(address);
  const number = ((a << 24) | (b << 16) | (c << 8) | d) >>> 0;
  return [
    address,
    `${address}.`,
    String(number),
    `0x${hex(number, 8)}`,
    `0X${hex(number, 8).toUpperCase()}`,
    `0${number.toString(8)}`,
    `0x${hex(a)}.0x${hex(b)}.0x${hex(c)}.0x${hex(d)}`,
    `0${a.toString(8)}.0${b.toString(8)}.0${c.toString(8)}.0${d.toString(8)}`,
    `000${a.toString(8)}.${b}.${c}.${d}`,
    `${a}.${b}.${(c << 8) | d}`,
    `${a}.${(b << 16) | (c << 8) | d}`,
    `0x${hex(a)}.${b}.0${c.toString(8)}.${d}`,
    [...address].map((char) => `%${hex(char.charCodeAt(0))}`).join(''),
    mapDigits(address, (digit) => String.fromCodePoint(0xff10 + digit)), // full width
    mapDigits(address, (digit) => String.fromCodePoint(0x1d7d8 + digit)), // mathematical
    mapDigits(address, (digit) => (digit === 0 ? '⓪' : String.fromCodePoint(0x2460 + digit - 1))), // in circles
    address.replaceAll('.', '。'),
    address.replaceAll('.', '．'),
    address.replaceAll('.', '｡'),
  ];
}

/** An IPv4 address inside IPv6. */
function embedded(address: string): readonly string[] {
  const [a, b, c, d] = octets(address);
  const tail = `${hex((a << 8) | b)}:${hex((c << 8) | d)}`;
  return [
    `::ffff:${address}`,
    `::ffff:${tail}`,
    `0:0:0:0:0:ffff:${tail}`,
    `::${address}`,
    `::${tail}`,
    `::ffff:0:${tail}`,
    `64:ff9b::${address}`,
    `64:ff9b::${tail}`,
    `64:ff9b:1::${tail}`,
    `2002:${tail}::`,
    `2002:${tail}::1`,
    `2001:0:0:0:0:0:${tail}`,
    `2001::${tail}`,
  ];
}

const LOCAL_NAMES = [
  'localhost',
  'LOCALHOST',
  'localhost.',
  'a.localhost',
  'LocalHost',
  'ｌｏｃａｌｈｏｓｔ',
  'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ',
];
const METADATA_NAMES = [
  'metadata',
  'metadata.google.internal',
  'METADATA.google.internal.',
  'metadata.goog',
  'instance-data',
  'instance-data.ec2.internal',
  'metadata.tencentyun.com',
  'metadata.packet.net',
  'metadata.platformequinix.com',
  'metadata.nic.openstack.internal',
];

/** URLs that one parser reads as public and another one as not. */
const CONFUSING = [
  'http://127.0.0.1#@shop.example/',
  'http://127.0.0.1?@shop.example/',
  'http://127.0.0.1\\@shop.example/',
  'http:\\\\127.0.0.1\\',
  'http:127.0.0.1',
  'http:/127.0.0.1',
  'http:///127.0.0.1',
  'http:////127.0.0.1',
  'ht\ntp://127.0.0.1/',
  'http://127.0.\t0.1/',
  ' http://127.0.0.1/ ',
  'http://127.0.0.1:80:80/',
  'http://[::1',
  'http://[::ffff:7f00:1]:80/',
  'http://[0:0:0:0:0:0:127.0.0.1]/',
  'http://[fe80::1%25eth0]/',
  'http://[::1%250]/',
  'http://1.1.1.1 &@127.0.0.1# @shop.example/',
  'http://0/',
  'http://0x0/',
  'http://127.127/',
  'http://127.0.1/',
  'http://256.256.256.256/',
  'http://1.2.3.4.5/',
];
const WITH_USER = [
  'http://shop.example@127.0.0.1/',
  'http://shop.example:80@127.0.0.1/',
  'http://user:password@127.0.0.1/',
  'http://127.0.0.1@shop.example/',
  'https://user@shop.example/',
  'https://:password@shop.example/',
  'https://shop.example%00@127.0.0.1/',
  'https://shop.example%0d%0a@127.0.0.1/',
];
const OTHER_SCHEMES = [
  'file:///etc/passwd',
  'ftp://shop.example/',
  'gopher://127.0.0.1:6379/_FLUSHALL',
  'dict://127.0.0.1:11211/stat',
  'ldap://127.0.0.1/',
  'data:text/plain,hello',
  'javascript:fetch(1)',
  'ws://shop.example/',
  'wss://shop.example/',
  'unix:///var/run/docker.sock',
  'http+unix://%2Fvar%2Frun%2Fdocker.sock/info',
  'about:blank',
  'jar:http://127.0.0.1!/',
  'tftp://127.0.0.1/',
  '//127.0.0.1/',
  '/etc/passwd',
  '',
];
const PORTS = [
  7, 9, 13, 19, 21, 22, 23, 25, 53, 69, 110, 111, 119, 123, 135, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
  548, 554, 587, 636, 993, 995, 1720, 1723, 2049, 3306, 3389, 5060, 5432, 6000, 6379, 6667, 9092, 11211, 27017,
];

const literal = (host: string): HostileTarget[] => [
  { url: `http://${host}/latest/meta-data/`, addresses: [] },
  { url: `https://${host}:8443/`, addresses: [] },
];
const named = (host: string, ...addresses: readonly string[]): HostileTarget => ({
  url: `https://${host}/`,
  addresses,
});

/** Targets of every known kind. */
export const HOSTILE_TARGETS: readonly HostileTarget[] = [
  ...Object.values(VICTIMS_V4).flatMap((address) => formsOfV4(address).flatMap(literal)),
  ...VICTIMS_V6.flatMap((address) => literal(`[${address}]`)),
  ...Object.values(VICTIMS_V4).flatMap((address) => embedded(address).flatMap((form) => literal(`[${form}]`))),
  ...LOCAL_NAMES.flatMap(literal),
  // Names of the attacker's own domain: alone, and behind or before a public address.
  ...[...Object.values(VICTIMS_V4), ...VICTIMS_V6, ...embedded('127.0.0.1'), ...embedded('169.254.169.254')].flatMap(
    (address, index) => [
      named(`alone-${index}.example`, address),
      named(`behind-${index}.example`, PUBLIC, address),
      named(`before-${index}.example`, address, PUBLIC),
    ],
  ),
  ...METADATA_NAMES.map((host) => named(host, '169.254.169.254')),
  named('bücher.example', '10.1.2.3'),
  named('xn--bcher-kva.example', '10.1.2.3'),
  named('shop。example', '10.1.2.3'),
  named('ｓｈｏｐ.example', '10.1.2.3'),
  named('shop.example.', '10.1.2.3'),
  ...CONFUSING.map((url) => ({ url, addresses: ['127.0.0.1'] })),
  ...WITH_USER.map((url) => ({ url, addresses: [PUBLIC] })),
  ...OTHER_SCHEMES.map((url) => ({ url, addresses: [PUBLIC] })),
  ...PORTS.map((port) => ({ url: `http://shop.example:${port}/`, addresses: [PUBLIC] })),
];
