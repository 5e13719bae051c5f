import { describe, expect, it } from '@jest/globals';
import { createEndpointRequest, updateEndpointRequest, urlProblem } from '../src/index.ts';
import { unseenIn, withUnseenShown } from '../src/unseen.ts';

describe('A text that an account has written', () => {
  it.each([
    ['a command to a terminal', 'a\u001b[2Jb', String.raw`a\u001b[2Jb`],
    ['a command of C1', 'a\u009b2Jb', String.raw`a\u009b2Jb`],
    ['what turns the direction', 'a\u202eb\u2066c', String.raw`a\u202eb\u2066c`],
    ['a zero width space', 'a\u200bb', String.raw`a\u200bb`],
    ['tags, which are of two code units', 'a\u{E0041}b', String.raw`a\udb40\udc41b`],
    ['a line separator', 'a\u2028b', String.raw`a\u2028b`],
    ['a variation selector', 'a\ufe0fb', String.raw`a\ufe0fb`],
    ['a Braille blank', 'a\u2800b', String.raw`a\u2800b`],
  ])('is shown with %s', (_what, value, shown) => {
    expect(withUnseenShown(value)).toBe(shown);
    expect(JSON.parse(`"${shown}"`)).toBe(value);
    expect(unseenIn(value)).toMatch(/^U\+[0-9A-F]{4,5}$/);
  });

  it('is shown as it is, with its emoji and what may stay', () => {
    for (const value of ['Shop', '❤️ 👩‍👩‍👧‍👦 🏴󠁧󠁢󠁥󠁮󠁧󠁿 🇩🇪 1️⃣ 👍🏽', 'Müller & Søn', '東京', 'قهوة'])
      expect(withUnseenShown(value)).toBe(value);
    expect(withUnseenShown('a\n\tb\u0007', '\n\t')).toBe('a\n\tb\\u0007');
  });

  it.each([
    ['Persian', 'فروشگاه می\u200cشود'],
    ['Persian with a vowel', 'می\u0650\u200cشود'],
    ['Urdu', 'اس\u200cکے'],
    ['Hindi, half a letter', 'क्\u200dष'],
    ['Hindi, two letters apart', 'क्\u200cष'],
    ['Sinhala', 'ශ්\u200dරී'],
    ['Bengali', 'র\u200d্যাপিড'],
    ['Kannada', 'ರ್\u200cಕ'],
  ])('is shown with the joiners that a word of %s needs', (_language, value) => {
    expect(unseenIn(value)).toBeNull();
    expect(withUnseenShown(value)).toBe(value);
  });

  it.each([
    ['between Latin letters', 'Sh\u200cop'],
    ['between Latin letters with a virama', 'Sh\u094d\u200dop'],
    ['after a letter that joins none', 'دفتر\u200cها'],
    ['before a hamza', 'ما\u200cء'],
    ['before none', 'می\u200c'],
    ['after none', '\u200cشود'],
    ['twice', 'می\u200c\u200cشود'],
    ['that joins what is joined already', 'می\u200dشود'],
    ['at the end of a word of Hindi', 'क्\u200d'],
    ['without a virama', 'क\u200dष'],
    ['of another script', 'می\u200cShop'],
    ['between CJK', '東\u200d京'],
  ])('is shown with a joiner %s', (_where, value) => {
    expect(unseenIn(value)).toMatch(/^U\+200[CD]$/);
    expect(withUnseenShown(value)).toMatch(/\\u200[cd]/);
  });
});

describe("An account's URL", () => {
  const problemOf = (url: string) => urlProblem(url, { httpAllowed: false });

  it.each([
    ['turns the direction', 'https://shop.example/\u202ekooh', 'https://shop.example/%E2%80%AEkooh'],
    ['is invisible', 'https://shop\u200b.example/hook', 'https://shop.example/hook'],
    ['looks like another letter', 'https://shор.example/hook', 'https://xn--sh-gmci.example/hook'],
    ['is a control character', 'https://shop.example/a\u009bb', 'https://shop.example/a%C2%9Bb'],
    ['is left out of a URL', 'https://shop.exa\nmple/\thook', 'https://shop.example/hook'],
    ['is a space', 'https://shop.example/a b', 'https://shop.example/a%20b'],
  ])('has no character that %s', (_what, url, ascii) => {
    expect(problemOf(url)).toBe(`must consist of visible ASCII characters: write ${ascii}`);
    expect(problemOf(ascii)).toBeNull();
  });

  it('is not repeated in the message where it is long', () => {
    expect(problemOf(`https://shop.example/${'ü'.repeat(500)}`)).toBe('must consist of visible ASCII characters');
  });
});

describe('The name of a webhook endpoint', () => {
  it('has no character that is not seen', () => {
    const url = 'https://shop.example/hook';
    for (const name of ['Till\u202e1', 'Till\u200b1', 'Till\n1', 'Till\u001b[2J']) {
      expect([name, createEndpointRequest.safeParse({ url, name }).success]).toEqual([name, false]);
      expect([name, updateEndpointRequest.safeParse({ name }).success]).toEqual([name, false]);
    }
    for (const name of ['', 'Till 1 ❤️', 'Käse', null])
      expect([name, createEndpointRequest.safeParse({ url, name }).success]).toEqual([name, true]);
  });
});
