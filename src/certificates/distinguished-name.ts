import { BaseBlock, fromBER, ObjectIdentifier, Sequence, Set as SetBlock } from 'asn1js';
import { attributeName, attributeNumber } from './attribute-types.ts';

/** The longest name that is read, in bytes of its text. */
const MAX_DISTINGUISHED_NAME_BYTES = 4096;

interface Attribute {
  number: string;
  der: Uint8Array;
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const UTF16 = new TextDecoder('utf-16be', { fatal: true, ignoreBOM: true });

/** Universal tags of text with one byte per character. OpenSSL reads all of them as Latin-1. */
const LATIN_TAGS = new Set([18, 19, 20, 22, 23, 24, 26]);
const UTF8_TAG = 12;
const UNIVERSAL_TAG = 28;
const BMP_TAG = 30;

/**
 * The subject of a certificate as text: RFC 4514 in UTF-8, most specific part first, in the form of `openssl x509 -subject -nameopt
 * RFC2253,utf8,-esc_msb` (docs/decisions.md, 7).
 * @param der the certificate
 * @returns undefined if the certificate or its subject cannot be read; '' for an empty subject
 */
export function subjectOf(der: Uint8Array): string | undefined {
  return read(() => render(namesOf(der).subject));
}

/** The issuer of a certificate, in the form of `subjectOf`. */
export function issuerOf(der: Uint8Array): string | undefined {
  return read(() => render(namesOf(der).issuer));
}

/** A Name (a SEQUENCE of relative names, DER) as text, in the form of `subjectOf`. */
export function nameText(der: Uint8Array): string | undefined {
  return read(() => render(parse(der)));
}

/**
 * The canonical spelling of a distinguished name: two names are the same exactly if their canonical spellings are equal. It normalises the
 * names of attribute types, removes superfluous spaces and escapes, and sorts the parts of a multi-valued component. Values are not
 * normalised, so case, inner spaces and look-alike letters make a difference.
 * @param text RFC 4514, most specific part first
 * @returns undefined if the text is not such a name
 */
export function canonicalDistinguishedName(text: string): string | undefined {
  if (Buffer.byteLength(text) > MAX_DISTINGUISHED_NAME_BYTES) return undefined;
  return read(() => {
    const components = split(text, ',').map((component) =>
      split(component, '+')
        .map((attribute) => canonicalAttribute(attribute))
        .sort(),
    );
    return components.map((component) => component.join('+')).join(',');
  });
}

function read<T>(reader: () => T): T | undefined {
  try {
    return reader();
  } catch {
    // asn1js and TextDecoder throw for malformed input, and anybody can send a certificate.
    return undefined;
  }
}

function parse(der: Uint8Array): Sequence {
  const { result, offset } = fromBER(der);
  if (offset !== der.length || !(result instanceof Sequence)) throw new Error('not a sequence');
  return result;
}

/** Checks that something is a block of asn1js. @throws if it is not */
export function blockOf(block: unknown): BaseBlock {
  if (!(block instanceof BaseBlock)) throw new Error('not a block');
  return block;
}

function children(block: unknown): unknown[] {
  if (!(block instanceof Sequence) && !(block instanceof SetBlock)) throw new Error('not a sequence or set');
  return block.valueBlock.value;
}

function some<T>(items: T[]): T[] {
  if (items.length === 0) throw new Error('a component of a name has at least one attribute');
  return items;
}

/** Issuer and subject are the fourth and the sixth field of a TBSCertificate (RFC 5280, section 4.1), or one earlier without a version. */
function namesOf(certificate: Uint8Array): { issuer: unknown; subject: unknown } {
  const fields = children(children(parse(certificate))[0]);
  const first = blockOf(fields[0]).idBlock.tagClass === 3 ? 1 : 0;
  return { issuer: fields[first + 2], subject: fields[first + 4] };
}

function render(name: unknown): string {
  // The least specific component comes first in the certificate and last in the text. OpenSSL orders the parts of a component in the same
  // way.
  return children(name)
    .map((component) => some(children(component)).map(attributeOf).map(renderAttribute).reverse().join('+'))
    .reverse()
    .join(',');
}

function attributeOf(block: unknown): Attribute {
  const [type, value, ...rest] = children(block);
  if (!(type instanceof ObjectIdentifier) || rest.length) throw new Error('not an attribute');
  return { number: type.valueBlock.toString(), der: blockOf(value).valueBeforeDecodeView };
}

function renderAttribute({ number, der }: Attribute): string {
  const name = attributeName(number);
  const text = name === undefined ? undefined : stringOf(der);
  return `${name ?? number}=${text === undefined ? `#${Buffer.from(der).toString('hex').toUpperCase()}` : escaped(text)}`;
}

/** The text of a DER string value; undefined for a value of another type. @throws if its bytes do not match its type */
function stringOf(der: Uint8Array): string | undefined {
  const { result, offset } = fromBER(der);
  if (offset !== der.length) throw new Error('there are bytes after the value');
  const { tagClass, tagNumber, isConstructed } = blockOf(result).idBlock;
  if (tagClass !== 1) return undefined;
  if (isConstructed && (LATIN_TAGS.has(tagNumber) || [UTF8_TAG, BMP_TAG, UNIVERSAL_TAG].includes(tagNumber))) {
    throw new Error('a string in pieces is not DER');
  }
  const content = der.subarray(result.idBlock.blockLength + result.lenBlock.blockLength);
  if (tagNumber === UTF8_TAG) return UTF8.decode(content);
  if (LATIN_TAGS.has(tagNumber)) return Buffer.from(content).toString('latin1');
  if (tagNumber === BMP_TAG) return basicPlane(UTF16.decode(content));
  if (tagNumber === UNIVERSAL_TAG) return wide(Buffer.from(content));
  return undefined;
}

function basicPlane(text: string): string {
  if (/[\ud800-\udfff]/.test(text)) throw new Error('a BMPString has no surrogates');
  return text;
}

function wide(content: Buffer): string {
  if (content.length % 4) throw new Error('a UniversalString has four bytes for each character');
  let text = '';
  for (let at = 0; at < content.length; at += 4) text += String.fromCodePoint(content.readUInt32BE(at));
  if (!text.isWellFormed()) throw new Error('a UniversalString has no surrogates');
  return text;
}

/** Escapes a value by RFC 4514, section 2.4, with control characters as \XX. A single '#' is not escaped, as in OpenSSL. */
function escaped(text: string): string {
  return text
    .replace(/[,+"<>;\\]/g, '\\$&')
    .replace(/^#(?=.)/s, '\\#')
    .replace(/^ | $/g, '\\ ')
    .replace(/\p{Cc}/gu, (control) =>
      control > '\x7f' ? control : `\\${Buffer.from(control).toString('hex').toUpperCase()}`,
    );
}

/** Splits at every separator that has no backslash before it. */
function split(text: string, separator: string): string[] {
  const parts: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === separator) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...parts, text.slice(start)];
}

function canonicalAttribute(text: string): string {
  const equals = text.indexOf('=');
  const number = equals < 0 ? undefined : attributeNumber(text.slice(0, equals).trim());
  if (number === undefined) throw new Error('unknown attribute type');
  // Trailing spaces are removed up to the last escaped one.
  const padded = text.slice(equals + 1).replace(/^ +/, '');
  const bare = withoutTrailing(padded, ' ');
  const escapes = bare.length - withoutTrailing(bare, '\\').length;
  const value = escapes % 2 === 1 && bare.length < padded.length ? `${bare} ` : bare;
  const hex = /^#((?:[0-9a-f]{2})+)$/i.exec(value)?.[1];
  if (hex) return renderAttribute({ number, der: Buffer.from(hex, 'hex') });
  const name = attributeName(number);
  if (name === undefined) throw new Error('an unknown attribute type has its value in hexadecimal');
  return `${name}=${escaped(unescaped(value))}`;
}

function unescaped(value: string): string {
  const bytes: Buffer[] = [];
  let bare = '';
  const token = /\\([0-9a-f]{2})|\\([ #=,+"<>;\\])|([^\\,+"<>;]+)/giy;
  while (token.lastIndex < value.length) {
    const match = token.exec(value);
    if (!match) throw new Error('a character is not escaped');
    bare = match[3] ?? '';
    bytes.push(match[1] ? Buffer.from(match[1], 'hex') : Buffer.from(match[2] ?? bare, 'utf8'));
  }
  // Trailing spaces are not part of the value unless they are escaped.
  if (bare) bytes[bytes.length - 1] = Buffer.from(withoutTrailing(bare, ' '), 'utf8');
  return UTF8.decode(Buffer.concat(bytes));
}

/** Removes a character from the end of a text. A regular expression would take quadratic time. */
function withoutTrailing(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end -= 1;
  return text.slice(0, end);
}
