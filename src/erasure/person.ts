import { keepDigits } from '../values/json.ts';
import { inHtml, printable } from '../values/text.ts';
import { fieldsOf, listOf } from '../values/unknown.ts';

/** The names, addresses and numbers of a person, current and former. */
export interface Person {
  contactId: string;
  names: string[];
  emails: string[];
  phones: string[];
}

/** Reads a person from its sealed form. */
export function personIn(json: string): Person {
  const { contactId, names, emails, phones } = fieldsOf(JSON.parse(json));
  const texts = (list: unknown) => listOf(list).filter((text) => typeof text === 'string');
  return { contactId: String(contactId), names: texts(names), emails: texts(emails), phones: texts(phones) };
}

/** What replaces the name, and a phone number within a text. */
export const ERASED = 'erased';
/** The most characters of a short name. In another case of letters it is often a word of its own: An, Jo, No. */
const MAX_SHORT_CHARACTERS = 2;
/** A pattern that matches no text: it requires a character after the end. */
const MATCHES_NOTHING = '$.';
/** Fields of a record with a person's name. It belongs to the `contact_id` in the same record; a `name` may belong to an `id` as well. */
const NAME_FIELDS = new Set([
  ...['name', 'contact_name', 'creator_name', 'ordered_by_name', 'authorised_by', 'cancelled_by', 'rejected_by'],
]);

/** The address that replaces the person's. It remains unique. */
export function erasedEmail(contactId: string): string {
  return `${ERASED}+${contactId}`;
}

/** Finds and replaces a person in records and in texts. */
export class PersonEraser {
  readonly person: Person;
  readonly #names: Set<string>;
  readonly #texts: [RegExp, string][];

  constructor(person: Person) {
    // Longest first, because one address may be the end of another.
    const longest = (texts: string[]) => texts.toSorted((a, b) => b.length - a.length);
    this.person = {
      ...person,
      names: longest(person.names),
      emails: longest(person.emails),
      phones: longest(person.phones),
    };
    this.#names = new Set(person.names);
    const email = erasedEmail(person.contactId);
    const { emails, names, phones } = this.person;
    const all = [...emails.map((text) => [text, email]), ...[...names, ...phones].map((text) => [text, ERASED])];
    this.#texts = all.map(([text = '', instead = '']): [RegExp, string] => [pattern(text), instead]);
  }

  /**
   * A pattern for PostgreSQL's `~*` that finds what may contain the person. One pattern costs a tenth of several `ilike`, each of which
   * makes a lower-case copy of the text.
   */
  get searchPattern(): string {
    const { names, emails, phones, contactId } = this.person;
    const texts = [...names, ...emails, ...phones].filter((text) => !text.includes(erasedEmail(contactId)));
    return [...new Set(texts.flatMap(searched))].join('|') || MATCHES_NOTHING;
  }

  /** A text without the person, such as a log's details or a body. */
  text(text: string): string {
    return this.#texts.reduce((clean, [search, instead]) => clean.replace(search, instead), text);
  }

  /** A mail, as JSON, without the person. */
  mail(text: string): string {
    const mail: unknown = JSON.parse(text);
    const clean = JSON.stringify(mail, (_field, value) => (typeof value === 'string' ? this.text(value) : value));
    return clean === JSON.stringify(mail) ? text : clean;
  }

  /**
   * A JSON text without the person. A name is replaced in fields that belong to the person. Addresses and numbers are replaced everywhere,
   * except the number in another person's record.
   * @param own whether the whole record is the person's
   */
  json(text: string, own: boolean): string {
    const document = JSON.parse(text, keepDigits);
    const clean = this.#value(document, own);
    // A document without the person stays as it was written.
    return JSON.stringify(clean) === JSON.stringify(document) ? text : JSON.stringify(clean);
  }

  #value(value: unknown, own: boolean): unknown {
    if (typeof value === 'string') return this.#reached(value);
    if (Array.isArray(value)) return value.map((item) => this.#value(item, false));
    if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return value;
    const record = fieldsOf(value);
    const id = record.contact_id ?? record.id;
    const theirs = own || id === this.person.contactId;
    const somebodyElses = record.contact_id !== undefined && !theirs;
    return Object.fromEntries(
      Object.entries(record).map(([field, inner]) => {
        // Several people may share a number.
        if (field === 'phone' && somebodyElses) return [field, inner];
        if (field === 'phone' && typeof inner === 'string' && this.person.phones.includes(inner)) return [field, null];
        const named = typeof inner === 'string' && NAME_FIELDS.has(field) && this.#names.has(inner);
        const mine = field === 'name' ? theirs : !somebodyElses;
        return [field, named && mine ? ERASED : this.#value(inner, false)];
      }),
    );
  }

  /** A text without the person's addresses and numbers. Names stay, because several people may have the same one. */
  #reached(text: string): string {
    const { emails, phones, contactId } = this.person;
    let clean = text;
    for (const email of emails) clean = clean.replace(pattern(email), erasedEmail(contactId));
    for (const phone of phones) clean = clean.replace(pattern(phone), ERASED);
    return clean;
  }
}

/** The spellings of a text: plain, in mails and documents, in HTML, in JSON, and in a URL. */
function spellings(text: string): string[] {
  const shown = [text, printable(text)].filter((spelling) => spelling !== '');
  return [...new Set(shown.flatMap((each) => [each, inHtml(each), ...encoded(each)]))];
}

function encoded(text: string): string[] {
  const inUrl = encodeURIComponent(text.toWellFormed());
  return [JSON.stringify(text).slice(1, -1), inUrl, inUrl.replaceAll('%20', '+')];
}

/** Escapes a text as a pattern that matches nothing else, in JavaScript and in PostgreSQL. */
function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** Scripts that put no spaces between words, or that join endings to names. */
const UNSPACED =
  '\\p{sc=Han}\\p{sc=Hira}\\p{sc=Kana}\\p{sc=Bopo}\\p{sc=Hang}\\p{sc=Thai}\\p{sc=Laoo}\\p{sc=Khmr}\\p{sc=Mymr}';
const BEGINS_UNSPACED = new RegExp(`^[${UNSPACED}]`, 'u');
const ENDS_UNSPACED = new RegExp(`[${UNSPACED}]$`, 'u');

/**
 * Matches the whole word or address, in any of its spellings and any case. A name in a script without spaces matches within a text, because
 * nothing separates it there; one of a single character only where it stands alone. Other short names match only as they are written, and
 * not as a part of a double name, an address or a word with an apostrophe.
 */
function pattern(text: string): RegExp {
  const any = spellings(text).map(escaped);
  const length = [...text].length;
  const short = length <= MAX_SHORT_CHARACTERS;
  const before = short ? "[\\p{L}\\p{N}][.+_@'’-]" : '[\\p{L}\\p{N}][.+_-]';
  const after = short ? '|[+_@-][\\p{L}\\p{N}]' : '';
  const begin = length > 1 && BEGINS_UNSPACED.test(text) ? '' : `(?<![\\p{L}\\p{N}]|${before})`;
  const end = length > 1 && ENDS_UNSPACED.test(text) ? '' : `(?![\\p{L}\\p{N}]${after})`;
  return new RegExp(`${begin}(?:${any.join('|')})${end}`, short ? 'gu' : 'giu');
}

/**
 * What PostgreSQL searches for to find the spellings of a text. A short name is searched for between characters other than letters of ASCII
 * and digits, because it occurs within most texts. In JSON the letter of an escape (\\n) may precede it.
 */
function searched(text: string): string[] {
  const any = spellings(text).map(escaped);
  if ([...text].length > MAX_SHORT_CHARACTERS || BEGINS_UNSPACED.test(text) || ENDS_UNSPACED.test(text)) return any;
  return any.map((each) => `(?:(?<![a-z0-9])|\\\\[bfnrt])${each}(?![a-z0-9])`);
}
