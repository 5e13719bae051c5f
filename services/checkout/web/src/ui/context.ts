import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { english, type Translator } from '../i18n/i18n.ts';

export const TranslatorContext = createContext<Translator>(english);
export const useTranslator = (): Translator => useContext(TranslatorContext);
