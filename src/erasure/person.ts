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
/** The fewest characters of a name that is searched for. Shorter names occur in many texts about something else. */
const MIN_SEARCHED_CHARACTERS = 3;
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
  /** The patterns of texts that are long enough to be searched for everywhere; `#all`: those of all texts. */
  readonly #texts: [RegExp, string][];
  readonly #all: [RegExp, string][];

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
    const patterns = (texts: string[][]) =>
      texts.map(([text = '', instead = '']): [RegExp, string] => [pattern(text), instead]);
    this.#all = patterns(all);
    this.#texts = patterns(all.filter(([text = '']) => text.length >= MIN_SEARCHED_CHARACTERS));
  }

  /**
   * A pattern for PostgreSQL's `~*` that finds what may contain the person. One pattern costs a tenth of several `ilike`, each of which
   * makes a lower-case copy of the text.
   */
  get searchPattern(): string {
    const { names, emails, phones, contactId } = this.person;
    const texts = [...new Set([...names, ...emails, ...phones].flatMap(spellings))];
    const searched = texts.filter((text) => text.length > 1 && !text.includes(erasedEmail(contactId)));
    return searched.map(escaped).join('|') || MATCHES_NOTHING;
  }

  /** A text without the person, such as a log's details or a body. */
  text(text: string): string {
    return without(text, this.#texts);
  }

  /** A mail, as JSON, without the person. In a mail to the person itself, short names are replaced too. */
  mail(text: string): string {
    const { emails } = this.person;
    const mail: unknown = JSON.parse(text);
    const address = String(fieldsOf(mail).to).toLowerCase();
    const patterns = emails.some((email) => email.toLowerCase() === address) ? this.#all : this.#texts;
    const clean = JSON.stringify(mail, (_field, value) =>
      typeof value === 'string' ? without(value, patterns) : value,
    );
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

function without(text: string, patterns: [RegExp, string][]): string {
  return patterns.reduce((clean, [search, instead]) => clean.replace(search, instead), text);
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

/** Matches the whole word or address, in any of its spellings and any case. */
function pattern(text: string): RegExp {
  const any = spellings(text).map(escaped);
  return new RegExp(`(?<![\\p{L}\\p{N}]|[\\p{L}\\p{N}][.+_-])(?:${any.join('|')})(?![\\p{L}\\p{N}])`, 'giu');
}

/** A reviver that keeps the digits of numbers. */
function keepDigits(_key: string, value: unknown, context: { source?: string }): unknown {
  return typeof value === 'number' && context.source !== undefined ? JSON.rawJSON(context.source) : value;
}
