import { describe, expect, it } from '@jest/globals';
import { DASHBOARD_OPERATIONS } from '../../src/dashboard/index.ts';
import { parseRequest } from '../../src/api/parsing.ts';

const { signUp, createAccount, createKey, createToken, beginDevice, renamePasskey, updateSettings } =
  DASHBOARD_OPERATIONS;
const messageOf = (
  value: string,
  schema: typeof createAccount.body | typeof renamePasskey.body = createAccount.body,
) => {
  const parsed = parseRequest(schema, { name: value });
  return parsed.ok ? null : parsed.issues.map(({ param, message }) => [param, message]);
};
const storedOf = (value: string): unknown => createAccount.body.parse({ name: value }).name;

describe('a name', () => {
  it.each([
    ['a zero width space', 'Sh\u200Bop', 'U+200B'],
    ['a joiner outside of an emoji', 'Sh\u200Dop', 'U+200D'],
    ['a word joiner', 'Sh\u2060op', 'U+2060'],
    ['an invisible plus', 'Sh\u2064op', 'U+2064'],
    ['a soft hyphen', 'Sh\u00ADop', 'U+00AD'],
    ['a Hangul choseong filler', 'Sh\u115Fop', 'U+115F'],
    ['a Hangul jungseong filler', 'Sh\u1160op', 'U+1160'],
    ['a Hangul filler', 'Sh\u3164op', 'U+1160'],
    ['a halfwidth Hangul filler', 'Sh\uFFA0op', 'U+1160'],
    ['a Braille blank', 'Sh\u2800op', 'U+2800'],
    ['a tag', 'Sh\u{E0041}op', 'U+E0041'],
    ['a variation selector', 'Sh\uFE0Fop', 'U+FE0F'],
    ['a variation selector of plane 14', 'Sh\u{E0100}op', 'U+E0100'],
    ['a combining grapheme joiner', 'Sh\u034Fop', 'U+034F'],
    ['a mark of direction', 'Sh\u202Eop', 'U+202E'],
    ['a line separator', 'Sh\u2028op', 'U+2028'],
    ['a line feed', 'Sh\nop', 'U+000A'],
    ['an Ogham space', 'Sh\u1680op', 'U+1680'],
    ['a character for private use', 'Sh\uE000op', 'U+E000'],
  ])('has no %s', (_what, value, code) => {
    expect(messageOf(value)).toEqual([
      ['name', `name must not contain ${code}, which is invisible or no character: leave it out`],
    ]);
  });

  it('may have emoji, also those that are joined', () => {
    for (const emoji of ['❤️', '👩‍👩‍👧‍👦', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', '🇩🇪', '1️⃣', '👍🏽']) expect(messageOf(`Shop ${emoji}`)).toBeNull();
  });

  it('may have the joiners that Persian and Hindi need', () => {
    for (const value of ['کتاب\u200cها', 'क्\u200dष'])
      expect([messageOf(value), storedOf(value)]).toEqual([null, value]);
  });

  it('is stored as what looks equal is', () => {
    expect(['  Ｓｈｏｐ　１ ', 'Ｓhop\u00A0\u20031', 'Shop  1'].map(storedOf)).toEqual(Array(3).fill('Shop 1'));
    expect(storedOf('Cafe\u0301')).toBe('Café');
    expect(messageOf('\uFDFA'.repeat(10))).toEqual([
      ['name', 'name must be a name of 1 to 100 visible characters on one line'],
    ]);
    expect(messageOf(' \u3000 ')).toEqual([['name', 'name must be a name of 1 to 100 visible characters on one line']]);
  });

  it('has no letters of two alphabets that look alike in one word', () => {
    expect(messageOf('Shop Раураl')).toEqual([
      ['name', 'name must not mix Latin and Cyrillic letters in "Раураl", because they look alike: use one alphabet'],
    ]);
    for (const value of ['Кофе Coffee', 'Καφές & Coffee', '東京カフェ Tokyo', '커피숍', 'قهوة', 'Müller & Søn 2'])
      expect(messageOf(value)).toBeNull();
  });

  it('has no link, and no domain where it is mailed', () => {
    for (const [value, domain] of [
      ['evil.example', 'evil.example'],
      ['Win at www.evil.example now', 'www.evil.example'],
      ['ｅｖｉｌ．ｅｘａｍｐｌｅ', 'evil.example'],
      ['evil。example', 'evil。example'],
    ] as const)
      for (const schema of [createAccount.body, renamePasskey.body])
        expect(messageOf(value, schema)).toEqual([
          [
            'name',
            `name must not contain "${domain}", because mails with the name would link to it: write it without the dot`,
          ],
        ]);
    for (const value of ['S.p.A. Milano', 'No. 1 Coffee', 'Version 1.25', 'Dr. Olivia'])
      expect(messageOf(value)).toBeNull();
    expect(messageOf('https://x')).toEqual([['name', 'name must not contain "://": write the name without a link']]);
    const bodies = [
      [createToken.body, { name: 'laptop.local' }],
      [beginDevice.body, { clientName: 'pf on build.example.com' }],
      [createKey.body, { name: 'till.example', mode: 'test', scope: 'full' }],
      [updateSettings.body, { branding: { name: 'Shop.example' } }],
    ] as const;
    for (const [schema, body] of bodies) expect(parseRequest(schema, body).ok).toBe(true);
  });

  it.each([
    ['person', signUp.body, { email: 'a@shop.example', password: 'a long password' }, 'name'],
    ['token', createToken.body, {}, 'name'],
    ['key', createKey.body, { mode: 'test', scope: 'full' }, 'name'],
    ['device', beginDevice.body, {}, 'clientName'],
    ['passkey', renamePasskey.body, {}, 'name'],
  ] as const)('is as visible where it is that of a %s', (_what, schema, rest, field) => {
    const parsed = parseRequest(schema, { ...rest, [field]: 'Security\u200Bcheck' });
    expect(parsed.ok ? [] : parsed.issues.map(({ param }) => param)).toEqual([field]);
  });
});
