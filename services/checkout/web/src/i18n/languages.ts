/** The languages, each by its own name. */
export const LANGUAGES = { en: 'English', es: 'Español', de: 'Deutsch', ja: '日本語', ar: 'العربية' } as const;
export type Language = keyof typeof LANGUAGES;

const isLanguage = (text: string): text is Language => Object.hasOwn(LANGUAGES, text);

/** The first language that the page has of those that are wanted. */
export function languageOf(wanted: readonly (string | null)[]): Language {
  for (const tag of wanted) {
    const [language = ''] = (tag ?? '').toLowerCase().split('-');
    if (isLanguage(language)) return language;
  }
  return 'en';
}

export const directionOf = (language: Language): 'ltr' | 'rtl' => (language === 'ar' ? 'rtl' : 'ltr');

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufefc]/;

/** Names that run the other way than their sentence are isolated, so that they do not turn it around. */
export function fill(message: string, params: Readonly<Record<string, string>>, direction: 'ltr' | 'rtl'): string {
  return message.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name] ?? '';
    return direction === 'rtl' || RIGHT_TO_LEFT.test(value) ? `\u2068${value}\u2069` : value;
  });
}
