import { CHAIN_FAMILIES, forEachFamily } from '@pf/domain';
import { base64 } from '@scure/base';
import { z } from 'zod';
import { must, word } from '../api/fields.ts';
import { name } from './names.ts';
import type { DashboardOperation } from './operation.ts';
import { ROLES } from './roles.ts';

/** How many origins an account may name. */
const RETURN_ORIGINS_MAX = 20;
/** Of a logo that is not a URL: bytes, and pixels of either side. */
const LOGO_MAX = { bytes: 32 * 1024, pixels: 1_024 } as const;
/** WCAG 2.2, 1.4.3: the least contrast of text, which is white on the accent color. */
const ACCENT_CONTRAST_MIN = 4.5;
const URL_LENGTH_MAX = 2_048;

/** Null if it is none, or has a user or password. */
function httpsUrl(value: string): string | null {
  const url = URL.parse(value);
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '') return null;
  return url.href.length <= URL_LENGTH_MAX ? url.href : null;
}

const supportRule = must(`an https:// URL of at most ${URL_LENGTH_MAX} characters, without a user or password`);
const supportUrl = word('an https:// URL', URL_LENGTH_MAX)
  .refine((value) => httpsUrl(value) !== null, supportRule)
  .transform((value) => httpsUrl(value) ?? value);

const PNG_PREFIX = 'data:image/png;base64,';
const PNG_SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

/** Whether it is a PNG image, and a small one: a few bytes could unfold to gigabytes of pixels. */
function isSmallPng(dataUrl: string): boolean {
  let bytes: Uint8Array;
  try {
    bytes = base64.decode(dataUrl.slice(PNG_PREFIX.length));
  } catch {
    return false;
  }
  // The signature; then the length and the name of the first chunk, IHDR; then width and height.
  if (bytes.length < 33 || bytes.length > LOGO_MAX.bytes) return false;
  if (!PNG_SIGNATURE.every((byte, index) => bytes[index] === byte)) return false;
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const isSide = (pixels: number): boolean => pixels >= 1 && pixels <= LOGO_MAX.pixels;
  return view.getUint32(12) === 0x49484452 && isSide(view.getUint32(16)) && isSide(view.getUint32(20));
}

const logoRule =
  `an https:// URL, or a PNG image of at most ${LOGO_MAX.bytes / 1024} KiB and ${LOGO_MAX.pixels} × ` +
  `${LOGO_MAX.pixels} pixels as ${PNG_PREFIX}…`;
const logo = word(logoRule, PNG_PREFIX.length + (Math.ceil(LOGO_MAX.bytes / 3) + 1) * 4)
  .refine((value) => (value.startsWith(PNG_PREFIX) ? isSmallPng(value) : httpsUrl(value) !== null), must(logoRule))
  .transform((value) => (value.startsWith(PNG_PREFIX) ? value : (httpsUrl(value) ?? value)));

/** The contrast of a color `#rrggbb` with white (WCAG 2.2), from 1 to 21. */
function contrastWithWhite(color: string): number {
  const [red = 0, green = 0, blue = 0] = channelsOf(color).map((channel) => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05);
}

const channelsOf = (color: string): readonly number[] =>
  [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));

/** The color, as much darker as it needs to be. */
function darkEnough(color: string): string {
  for (let percent = 100; percent > 0; percent--) {
    const darker = channelsOf(color).map((channel) =>
      Math.floor((channel * percent) / 100)
        .toString(16)
        .padStart(2, '0'),
    );
    if (contrastWithWhite(`#${darker.join('')}`) >= ACCENT_CONTRAST_MIN) return `#${darker.join('')}`;
  }
  return '#000000';
}

const colorRule = must('a color as #rrggbb, such as #1d4ed8');
const accentColor = z
  .string(colorRule)
  .regex(/^#[0-9a-f]{6}$/i, colorRule)
  .refine((color) => contrastWithWhite(color) >= ACCENT_CONTRAST_MIN, {
    abort: true,
    error: ({ input }) => {
      const color = String(input);
      const contrast = Math.floor(contrastWithWhite(color) * 10) / 10;
      return (
        `must be darker: white text on ${color} has a contrast of ${contrast.toFixed(1)}:1, and needs ` +
        `${ACCENT_CONTRAST_MIN}:1. ${darkEnough(color)} is dark enough`
      );
    },
  })
  .transform((color) => color.toLowerCase());

const LOCAL_HOSTS: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);
/** A name or an address, and no pattern: browsers compare the whole origin. */
const HOST = /^(?:\[[\da-f:]+\]|[a-z\d-]+(?:\.[a-z\d-]+)*)$/;

function isReturnOrigin(value: string): boolean {
  const url = URL.parse(value);
  if (url?.origin !== value || !HOST.test(url.hostname)) return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && LOCAL_HOSTS.has(url.hostname));
}

const originRule =
  'an origin as browsers send it, such as https://shop.example: in lower case, without a path, with a port only if ' +
  'it is not 443, and http:// only for localhost';
const originsRule = must(`a list of at most ${RETURN_ORIGINS_MAX} origins without repeats`);
const returnOrigins = z
  .array(word(originRule, 300).refine(isReturnOrigin, must(originRule)), originsRule)
  .max(RETURN_ORIGINS_MAX, originsRule)
  .refine((origins) => new Set(origins).size === origins.length, originsRule);

/** Its form depends on the chain, whose code checks it. */
const wallet = word("a wallet's address on the chain").nullable().optional();

const updateSettingsRequest = z.strictObject({
  branding: z
    .strictObject(
      {
        name: name(60).nullable().optional(),
        logo: logo.nullable().optional(),
        accentColor: accentColor.nullable().optional(),
        supportUrl: supportUrl.nullable().optional(),
      },
      must('an object'),
    )
    .optional(),
  wallets: z
    .strictObject(
      forEachFamily(() => wallet),
      must('an object'),
    )
    .optional(),
  returnOrigins: returnOrigins.optional(),
});

const shownWallet = z.string().nullable();
const wallets = z.strictObject(forEachFamily(() => shownWallet));
/** As they are stored, without the families that only newer code knows. */
export const storedWallets = z.object(wallets.shape).partial();

/** The settings of an account. What is not set is null. */
const accountSettings = z.strictObject({
  branding: z.strictObject({
    name: z.string().nullable(),
    logo: z.string().nullable(),
    accentColor: z.string().nullable(),
    supportUrl: z.string().nullable(),
  }),
  wallets,
  returnOrigins: z.array(z.string()),
  updatedAt: z.iso.datetime({ precision: 3 }).nullable(),
});
export type AccountSettingsShown = z.output<typeof accountSettings>;
const settingsResponse = z.strictObject({ settings: accountSettings });

export const SETTINGS_OPERATIONS = {
  getSettings: {
    id: 'getSettings',
    method: 'get',
    path: '/accounts/{accountId}/settings',
    tag: 'Settings',
    summary: 'Fetch the settings',
    description:
      'Returns how the account looks to payers, and where it is paid: `branding`, `wallets` by chain family, and ' +
      '`returnOrigins`. What is not set is null; without a `branding.name`, payers see the name of the account.',
    access: ROLES,
    status: 200,
    response: settingsResponse,
    errors: [],
  },
  updateSettings: {
    id: 'updateSettings',
    method: 'patch',
    action: 'settings.changed',
    path: '/accounts/{accountId}/settings',
    tag: 'Settings',
    summary: 'Change the settings',
    description:
      'Sets the fields in the request; null removes a value, and `returnOrigins` replaces the whole list.\n\n' +
      '- `branding.name`: 1 to 60 characters.\n' +
      `- \`branding.logo\`: an https URL, or a PNG image of at most ${LOGO_MAX.bytes / 1024} KiB and ` +
      `${LOGO_MAX.pixels} × ${LOGO_MAX.pixels} pixels as \`${PNG_PREFIX}…\`. The server of a URL sees who pays, ` +
      'and can change the image.\n' +
      '- `branding.accentColor`: `#rrggbb` on which white text has a contrast of at least ' +
      `${ACCENT_CONTRAST_MIN}:1; the error names one that is dark enough.\n` +
      '- `branding.supportUrl`: an https URL.\n' +
      `- ${CHAIN_FAMILIES.map((family) => `\`wallets.${family}\``).join(', ')}: an address that can be paid on each ` +
      'network of the family, returned in its canonical form.\n' +
      `- \`returnOrigins\`: at most ${RETURN_ORIGINS_MAX} origins to which payers may be sent back; exactly as ` +
      'browsers send them, https only, or http for localhost.',
    access: ['owner', 'developer'],
    body: updateSettingsRequest,
    status: 200,
    response: settingsResponse,
    errors: [],
  },
} as const satisfies Readonly<Record<string, DashboardOperation>>;
