import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { fill, languageOf, LANGUAGES } from '../../src/i18n/languages.ts';

const FOLDER = path.join(import.meta.dirname, '../../src/i18n');
const messagesOf = async (language: string): Promise<Readonly<Record<string, string>>> => {
  const module = (await import(path.join(FOLDER, `${language}.ts`))) as Record<string, unknown>;
  return z.record(z.string(), z.string().min(1)).parse(module[language]);
};
const paramsIn = (message = ''): readonly string[] => [...new Set(message.match(/\{\w+\}/g) ?? [])].sort();

/** How each language says that nothing was sent or paid. */
const NOTHING_SENT: Readonly<Record<keyof typeof LANGUAGES, RegExp>> = {
  en: /(?:nothing|no money|not) (?:(?:has|was|is|been) )*(?:paid|sent|moved)|sent nothing/i,
  es: /no (?:se )?ha (?:pagado|enviado|movido)|no se paga|enviado nada|pagado nada/i,
  de: /kein Geld|nichts (?:wurde )?(?:bezahlt|gesendet)|nicht gesendet/i,
  ja: /行われていません|行われません|動いていません|何も送信/,
  ar: /لم (?:يُدفع|يُرسل|يُرسَل|تتحرك|ترسل)|لا يُدفع/,
};

describe('the languages of the payment page', () => {
  it('are those of which there is a file', async () => {
    const files = (await readdir(FOLDER)).filter((name) => /^[a-z]{2}\.ts$/.test(name));
    expect(files.map((name) => path.basename(name, '.ts')).sort()).toEqual(Object.keys(LANGUAGES).sort());
  });

  it.each(Object.keys(LANGUAGES))('have the same messages with the same parameters: %s', async (language) => {
    const [english, messages] = await Promise.all([messagesOf('en'), messagesOf(language)]);
    expect(Object.keys(messages)).toEqual(Object.keys(english));
    for (const [key, message] of Object.entries(english))
      expect([key, paramsIn(messages[key])]).toEqual([key, paramsIn(message)]);
  });

  it.each(Object.entries(NOTHING_SENT))(
    'say only of what is proven that nothing was sent: %s',
    async (language, words) => {
      const messages = await messagesOf(language);
      const found = Object.keys(messages).filter((key) => words.test(messages[key] ?? ''));
      expect(found).toEqual(['status.sign_again.text', 'money.none']);
    },
  );

  it('have words for everything that the code can say', async () => {
    const english = await messagesOf('en');
    const sources = await readdir(path.join(FOLDER, '..'), { recursive: true });
    const used = new Set<string>();
    for (const file of sources.filter((name) => /\.tsx?$/.test(name))) {
      const text = await readFile(path.join(FOLDER, '..', file), 'utf8');
      for (const [, key = ''] of text.matchAll(/\bt\('([\w.]+)'/g)) used.add(key);
    }
    const isGeneral = (key: string): boolean => /^(status|money|problem|difference|connection|qr)\./.test(key);
    expect(Object.keys(english).filter((key) => !isGeneral(key) && !used.has(key))).toEqual([]);
  });

  it('are chosen by the first that the page has', () => {
    expect(languageOf([null, 'fr-FR', 'es-MX', 'en'])).toBe('es');
    expect(languageOf(['constructor', 'JA'])).toBe('ja');
    expect(languageOf(['xx'])).toBe('en');
  });

  it('keep names from turning a sentence around', () => {
    expect(fill('Back to {merchant}', { merchant: 'Nora' }, 'ltr')).toBe('Back to Nora');
    expect(fill('Back to {merchant}', { merchant: 'متجر' }, 'ltr')).toBe('Back to \u2068متجر\u2069');
    expect(fill('العودة إلى {merchant}', { merchant: 'Nora' }, 'rtl')).toContain('\u2068Nora\u2069');
    expect(fill('{amount} {amount}', { amount: '$& {merchant}' }, 'ltr')).toBe('$& {merchant} $& {merchant}');
  });
});
