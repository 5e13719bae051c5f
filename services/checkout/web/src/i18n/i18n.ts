import { en, type Messages } from './en.ts';
import { directionOf, fill, type Language } from './languages.ts';

type MessageKey = keyof Messages;

const load: Readonly<Record<Exclude<Language, 'en'>, () => Promise<Messages>>> = {
  es: async () => (await import('./es.ts')).es,
  de: async () => (await import('./de.ts')).de,
  ja: async () => (await import('./ja.ts')).ja,
  ar: async () => (await import('./ar.ts')).ar,
};

/** Speaks one language. */
export interface Translator {
  readonly language: Language;
  (key: MessageKey, params?: Readonly<Record<string, string>>): string;
}

/** English comes with the page, the others when they are wanted. */
export async function translatorOf(language: Language): Promise<Translator> {
  if (language === 'en') return english;
  try {
    return speak(language, await load[language]());
  } catch {
    // Without a connection the page stays in a language that it has.
    return english;
  }
}

const speak = (language: Language, messages: Messages): Translator =>
  Object.assign((key: MessageKey, params = {}) => fill(messages[key], params, directionOf(language)), { language });

export const english = speak('en', en);
