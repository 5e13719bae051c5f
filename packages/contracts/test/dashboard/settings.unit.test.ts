import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseRequest } from '../../src/index.ts';
import { DASHBOARD_OPERATIONS } from '../../src/dashboard/index.ts';

const parse = (body: unknown) => parseRequest(DASHBOARD_OPERATIONS.updateSettings.body, body);
/** What is wrong with a body, each with the name of its field. */
const problems = (body: unknown): readonly string[] => {
  const parsed = parse(body);
  return parsed.ok ? [] : parsed.issues.map(({ message }) => message);
};

/** A PNG image's signature and first chunk, and as many bytes after it. */
const png = (width: number, height: number, more = 0): string => {
  const bytes = Buffer.alloc(33 + more);
  Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex').copy(bytes);
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return `data:image/png;base64,${bytes.toString('base64')}`;
};

describe('a change of the settings', () => {
  it('takes some of the fields, and null to remove a value', () => {
    const whole = {
      branding: {
        name: 'Café 7 👩‍🍳',
        logo: png(64, 64),
        accentColor: '#1d4ed8',
        supportUrl: 'https://shop.example/help',
      },
      wallets: { base: '0x0', solana: 'x', tempo: null },
      returnOrigins: ['https://shop.example', 'https://shop.example:8443', 'http://localhost:3000'],
    };
    expect(parse(whole).ok).toBe(true);
    for (const body of [{}, { branding: {} }, { branding: { logo: null } }, { wallets: {} }, { returnOrigins: [] }])
      expect(parse(body)).toEqual({ ok: true, value: body });
  });

  it('returns names, URLs and colors in one form', () => {
    const branding = {
      name: ' Shop ',
      logo: 'HTTPS://cdn.shop.example/a b.png',
      accentColor: '#1D4ED8',
      supportUrl: 'https://SHOP.example',
    };
    expect(parse({ branding })).toEqual({
      ok: true,
      value: {
        branding: {
          name: 'Shop',
          logo: 'https://cdn.shop.example/a%20b.png',
          accentColor: '#1d4ed8',
          supportUrl: 'https://shop.example/',
        },
      },
    });
  });

  it.each([
    ['branding', 'a text'],
    ['branding.name', ''],
    ['branding.name', ' \u00a0'],
    ['branding.name', 'x'.repeat(61)],
    ['branding.name', 'Shop\nPaid'],
    ['branding.name', 'Pay at https://evil.example'],
    // U+202E turns what follows around.
    ['branding.name', 'Shop \u202Egnp.elpmaxe'],
    ['branding.logo', 'http://shop.example/logo.png'],
    ['branding.logo', 'https://user:secret@shop.example/logo.png'],
    ['branding.logo', 'javascript:alert(1)'],
    ['branding.logo', 'data:image/svg+xml;base64,PHN2Zy8+'],
    ['branding.logo', 'data:text/html;base64,PGI+'],
    ['branding.logo', 'data:image/png;base64,AAAA'],
    ['branding.logo', 'data:image/png;base64,not base64'],
    ['branding.logo', png(0, 64)],
    ['branding.logo', png(1_025, 64)],
    ['branding.logo', png(64, 40_000)],
    ['branding.logo', png(64, 64, 32 * 1024)],
    ['branding.accentColor', 'blue'],
    ['branding.accentColor', '#12345'],
    ['branding.accentColor', '#1d4ed8;background:url(x)'],
    ['branding.accentColor', '#ffffff'],
    ['branding.supportUrl', 'mailto:help@shop.example'],
    ['branding.supportUrl', 'javascript:alert(1)'],
    ['branding.supportUrl', `https://shop.example/${'x'.repeat(2_048)}`],
    ['branding.secret', 'x'],
    ['wallets.ethereum', '0x0'],
    ['wallets.base', 7],
    ['wallets.base', ''],
    ['returnOrigins', 'https://shop.example'],
    ['returnOrigins', ['https://shop.example', 'https://shop.example']],
    ['returnOrigins', Array.from({ length: 21 }, (_none, n) => `https://s${n}.example`)],
    ['returnOrigins.0', ['https://shop.example/']],
    ['returnOrigins.0', ['https://shop.example/paid']],
    ['returnOrigins.0', ['https://Shop.example']],
    ['returnOrigins.0', ['https://shop.example:443']],
    ['returnOrigins.0', ['https://*.shop.example']],
    ['returnOrigins.0', ['https://user@shop.example']],
    ['returnOrigins.0', ['http://shop.example']],
    ['returnOrigins.0', ['http://localhost.shop.example']],
    ['returnOrigins.0', ['null']],
    ['returnOrigins.1', ['https://shop.example', 'shop.example']],
  ])('is refused by the name of the field: %s, case %#', (param, value) => {
    const [first = '', second] = param.split('.');
    const body = { [first]: second === undefined || Array.isArray(value) ? value : { [second]: value } };
    expect(problems(body)).toEqual([
      expect.stringMatching(new RegExp(`^${param} (must be|must not contain|is not a parameter)`)),
    ]);
  });

  it('says which color is dark enough for white text, and takes that one', () => {
    expect(problems({ branding: { accentColor: '#F59E0B' } })).toEqual([
      expect.stringMatching(/^branding\.accentColor must be darker: white text on #F59E0B has a contrast of 2\.1:1/),
    ]);
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0xffffff }), (number) => {
        const accentColor = `#${number.toString(16).padStart(6, '0')}`;
        const [problem] = problems({ branding: { accentColor } });
        const proposed = problem === undefined ? accentColor : /(#[0-9a-f]{6}) is dark enough/.exec(problem)?.[1];
        expect(problems({ branding: { accentColor: proposed } })).toEqual([]);
      }),
    );
  });
});
