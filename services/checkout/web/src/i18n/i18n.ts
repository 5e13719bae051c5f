import en from './en.json';
import { directionOf, fill, type Language } from './languages.ts';

/** A text of the page: the names are those of the English file. */
type MessageKey = keyof typeof en;
type Messages = Readonly<Record<MessageKey, string>>;

const load: Readonly<Record<Exclude<Language, 'en'>, () => Promise<{ readonly default: Messages }>>> = {
  es: () => import('./es.json'),
  de: () => import('./de.json'),
  ja: () => import('./ja.json'),
  ar: () => import('./ar.json'),
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
    return speak(language, (await load[language]()).default);
  } catch {
    // Without a connection the page stays in a language that it has.
    return english;
  }
}

const speak = (language: Language, messages: Messages): Translator =>
  Object.assign((key: MessageKey, params = {}) => fill(messages[key], params, directionOf(language)), { language });

export const english = speak('en', en);
