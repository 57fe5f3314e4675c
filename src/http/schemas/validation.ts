import type { FastifyError, FastifyRequest } from 'fastify';
import { A_COUNTRY } from '../../values/countries.ts';
import { A_CURRENCY } from '../../values/currencies.ts';
import { Problem } from '../../values/errors.ts';
import { type WrittenDigits, writtenDigits } from '../../values/json.ts';
import { PATTERNS } from '../../values/schemas.ts';
import { findUnstorable, NOT_STORABLE, shownName } from '../../values/text.ts';

interface PropertySchema {
  type?: string;
  /** Whether the parameter takes a comma-separated list. If it is sent twice, the lists are joined. */
  'x-list'?: boolean;
}

const INTEGER = /^[+-]?\d{1,18}$/;

/**
 * Converts query parameters, which arrive as text. It joins repeated lists, refuses other repetitions, and reads integers and booleans
 * before the schema checks their ranges. Unknown parameters are ignored (docs/decisions.md, 1).
 */
export function checkQuery(request: FastifyRequest): Problem | undefined {
  if (request.url.includes('%')) {
    const path = findUnstorable(request.query, 'query');
    if (path !== undefined) return new Problem('invalid_parameter', `${path}: ${NOT_STORABLE}, and must be UTF-8`);
  }
  const schema = request.routeOptions.schema?.querystring as
    | { properties?: Record<string, PropertySchema> }
    | undefined;
  if (!schema?.properties) return undefined;
  const query = request.query as Record<string, unknown>;
  for (const name of Object.keys(query)) {
    const property = schema.properties[name];
    if (property === undefined) continue;
    let value = query[name];
    if (Array.isArray(value)) {
      if (!property['x-list']) return new Problem('invalid_parameter', `query.${name}: must be sent once`);
      value = query[name] = value.join(',');
    }
    if (property.type === 'integer') {
      if (!INTEGER.test(value as string))
        return new Problem('invalid_parameter', `query.${name}: must be a whole number`);
      query[name] = Number(value);
    } else if (property.type === 'boolean') {
      if (value !== 'true' && value !== 'false')
        return new Problem('invalid_parameter', `query.${name}: must be true or false`);
      query[name] = value === 'true';
    }
  }
  return undefined;
}

const PLACES: Record<string, string> = { querystring: 'query', body: 'body', params: 'path', headers: 'header' };

/** The validator's report of a violated schema. */
export interface Violation {
  keyword: string;
  instancePath: string;
  params: Record<string, unknown>;
  message?: string;
  schema?: unknown;
}

/** Turns a schema violation into a Problem that names the field (`body.clients[0].client_id`) and what it must be. */
export function explain(error: Pick<FastifyError, 'validation' | 'validationContext'>): Problem {
  const place = PLACES[error.validationContext ?? ''] ?? 'body';
  const fault = (error.validation?.[0] ?? { keyword: '', instancePath: '', params: {} }) as Violation;
  let path = place + fieldPath(fault.instancePath);
  if (fault.keyword === 'required') {
    path += `.${String(fault.params.missingProperty)}`;
    return new Problem(place === 'body' ? 'invalid_body' : 'missing_parameter', `${path}: is required`);
  }
  const code = place === 'body' ? 'invalid_body' : 'invalid_parameter';
  if (place === 'body' && fault.instancePath === '' && fault.keyword === 'type') {
    return new Problem(code, 'body: must be a JSON object');
  }
  if (fault.keyword === 'additionalProperties') {
    path += `.${shownName(String(fault.params.additionalProperty))}`;
    return new Problem(code, `${path}: is not a field of this request`);
  }
  return new Problem(code, `${path}: ${words(fault)}`);
}

/** The path of a field within its document, from the validator's pointer: `.payments[3].amount`. */
export function fieldPath(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`))
    .join('');
}

const A_DAY = 'must be a calendar day as YYYY-MM-DD';
const FORMAT_WORDS: Record<string, string> = {
  date: A_DAY,
  'date-time': 'must be an ISO 8601 timestamp with an offset',
  uri: 'must be an absolute address',
  'iso-4217': A_CURRENCY,
  'iso-3166': A_COUNTRY,
};
/** What the patterns of schemas.ts require, in words. */
const PATTERN_WORDS: Record<string, string> = {
  [PATTERNS.uuid]: 'must be a UUID',
  [PATTERNS.randomUuid]: 'must be a UUID of version 4',
  [PATTERNS.country]: A_COUNTRY,
  [PATTERNS.currency]: 'must be three capital letters (ISO 4217)',
  [PATTERNS.currencies]: 'must be codes of three capital letters (ISO 4217), parted by commas',
  [PATTERNS.notBlank]: 'must not be blank',
  [PATTERNS.email]: 'must be an email address, as ada@acme.example',
  [PATTERNS.phone]: 'must be a phone number of 4 to 32 characters: digits, blanks, ( ) - and a leading +',
  [PATTERNS.head]: 'must be a position and its hash, as 120:9f86d0... (64 hexadecimal digits)',
  [PATTERNS.clearingSystem]: 'must be SWBIC, or five capital letters of a clearing system, as GBDSC',
  [PATTERNS.time]: 'must be a time as 15:30',
  [PATTERNS.noControls]: 'must have no control characters',
  [PATTERNS.refusedStatus]: 'must be a status as 404, or a class as 4xx or 5xx',
  [PATTERNS.status]: 'must be a status as 404, or a class as 4xx',
  [PATTERNS.id]: 'must have 1 to 64 characters of A-Z a-z 0-9 . _ -, the first a letter or digit',
};

const TYPE_WORDS: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
};

/** What the wrong value must be. */
export function words(fault: Violation): string {
  const limit = fault.params.limit;
  switch (fault.keyword) {
    case 'enum':
      return `must be one of ${(fault.params.allowedValues as unknown[]).map(String).join(', ')}`;
    case 'type':
      return `must be ${TYPE_WORDS[String(fault.params.type)] ?? String(fault.params.type)}`;
    case 'exclusiveMinimum':
      return `must be greater than ${String(limit)}`;
    case 'minimum':
      return `must be at least ${String(limit)}`;
    case 'maximum':
      return `must be at most ${String(limit)}`;
    case 'minLength':
      return limit === 1 ? 'must not be empty' : `must have at least ${String(limit)} characters`;
    case 'maxLength':
      return `must have at most ${String(limit)} characters`;
    case 'minItems':
      return `must have at least ${String(limit)} ${limit === 1 ? 'item' : 'items'}`;
    case 'maxItems':
      return `must have at most ${String(limit)} items`;
    case 'uniqueItems':
      return 'must not name anything twice';
    case 'pattern':
      return PATTERN_WORDS[String(fault.params.pattern)] ?? `must match ${String(fault.params.pattern)}`;
    case 'format':
      return FORMAT_WORDS[String(fault.params.format)] ?? `must have the format ${String(fault.params.format)}`;
    case 'anyOf':
    case 'oneOf':
      return 'must have one of the forms that the API description shows';
    default:
      return fault.message ?? 'is not valid';
  }
}

/**
 * Replaces NUL in path parameters. PostgreSQL cannot store NUL, so no identifier contains it. It becomes U+FFFD, which no identifier
 * contains either, so each operation answers as for any unknown identifier.
 */
export function replaceNul(request: FastifyRequest): void {
  if (!request.url.includes('%00')) return;
  const parameters = request.params as Record<string, string>;
  for (const [name, value] of Object.entries(parameters)) parameters[name] = value.replaceAll('\0', '\ufffd');
}

interface ValueSchema {
  type?: string;
  anyOf?: ValueSchema[];
  items?: ValueSchema;
  properties?: Record<string, ValueSchema>;
  patternProperties?: Record<string, ValueSchema>;
}

/**
 * Replaces each number with its digits as text, where the schema takes a decimal (json.ts). Call it after the schema has checked the
 * document: then no text and no integer is in such a place.
 */
export function keepDigits(schema: unknown, document: unknown): void {
  const digits = writtenDigits(document);
  if (digits) keepInside(schema as ValueSchema, document, digits);
}

function keepInside(schema: ValueSchema | undefined, value: unknown, digits: WrittenDigits): void {
  if (schema === undefined || typeof value !== 'object' || value === null) return;
  for (const alternative of schema.anyOf ?? []) keepInside(alternative, value, digits);
  const held = digits.get(value);
  const { items, properties, patternProperties } = schema;
  const [any] = Object.values(patternProperties ?? {});
  for (const [name, inner] of Object.entries(value)) {
    const described = Array.isArray(value) ? items : (properties?.[name] ?? any);
    const text = held?.get(name);
    if (text !== undefined && described && takesNumber(described)) (value as Record<string, unknown>)[name] = text;
    else keepInside(described, inner, digits);
  }
}

function takesNumber({ type, anyOf }: ValueSchema): boolean {
  return type === 'number' || (anyOf?.some(takesNumber) ?? false);
}
