import { IntlMessageFormat } from 'intl-messageformat';
import { createContext, type ReactNode, use, useMemo } from 'react';
import type { TextKey } from './keys.ts';

export const LANGUAGES = ['en', 'de', 'fr', 'es'] as const;
export type Language = (typeof LANGUAGES)[number];

/** The texts of one language, by key: ICU messages. */
export type Messages = Readonly<Record<string, string>>;

/** The values for the names in a message's braces. */
type Values = Record<string, string | number | Date>;

interface Texts {
  language: Language;
  messages: Messages;
}

export const TextContext = createContext<Texts>({ language: 'en', messages: {} });

/** The person's language. */
export function useLanguage(): Language {
  return use(TextContext).language;
}

/** The locale for numbers and dates: the browser's locale for the person's language, such as `en-GB`. */
export function useLocale(): string {
  const language = useLanguage();
  const own = navigator.languages.find((locale) => locale.toLowerCase().split('-')[0] === language);
  return own ?? (language === 'en' ? 'en-GB' : language);
}

/** A function that gives a text in the person's language: `t('design.request', { id })`. */
export function useText(): (key: TextKey, values?: Values) => string {
  const { language, messages } = use(TextContext);
  return useMemo(() => (key, values) => said(messages[key] ?? key, language, values), [language, messages]);
}

/** Like `useText`, for texts that not every language has: undefined if the person's language lacks it. */
export function useOwnText(): (key: string, values?: Values) => string | undefined {
  const { language, messages } = use(TextContext);
  return (key, values) => {
    const message = messages[key];
    return message === undefined ? undefined : said(message, language, values);
  };
}

function said(message: string, language: Language, values: Values | undefined): string {
  return PLAIN.test(message) ? message : String(format(message, language).format(values));
}

/** Like `useText`, for texts that contain elements: `rich('home.by', { name: <ForeignText>{name}</ForeignText> })`. */
export function useRichText(): (key: TextKey, values: Record<string, ReactNode>) => ReactNode {
  const { language, messages } = use(TextContext);
  return (key, values) => {
    const parts = format(messages[key] ?? key, language).format<ReactNode>(values as Values);
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a sentence do not move
    return Array.isArray(parts) ? parts.map((part, index) => <span key={index}>{part}</span>) : parts;
  };
}

/** Messages that need no formatting. Most need none, and parsing ICU takes time. */
const PLAIN = /^[^{}']*$/;

const formats = new Map<string, IntlMessageFormat>();

function format(message: string, language: Language): IntlMessageFormat {
  const key = `${language} ${message}`;
  const known = formats.get(key);
  if (known) return known;
  const made = new IntlMessageFormat(message, language, undefined, { ignoreTag: true });
  formats.set(key, made);
  return made;
}
