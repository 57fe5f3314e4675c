import type { FastifyRequest } from 'fastify';
import { type TObject, type TProperties, Type } from 'typebox';
import {
  type BodyFault,
  type FaultCode,
  type ListedFault,
  MAX_LISTED_FAULTS,
  Problem,
  refusedBody,
} from '../../values/errors.ts';
import { writtenDigits } from '../../values/json.ts';
import { findUnstorable, isStorable, NOT_STORABLE, shownName, unstorableIn } from '../../values/text.ts';
import { fieldsOf, listOf } from '../../values/unknown.ts';
import { fieldPath, type Violation, words } from './validation.ts';

/**
 * Bodies of clients' orders (instructions, 2). A misspelt field of an order to pay must not be lost, so an unknown field is refused. A null
 * counts as left out unless the schema allows null. A refusal lists all faults.
 */

/** A keyword for the schema of such a body: the name of the field with the list of its elements, or an empty text. */
export const ORDER = 'x-order';
/** A keyword for a field whose faults have a code of their own. */
const CODE = 'x-code';
/** A keyword for an amount, which is read from its digits. */
const AMOUNT = 'x-amount';
/** A keyword for the schema of such a body: fields in which a null is refused like any other wrong value. */
export const NO_NULL = 'x-no-null';
export const ORDER_KEYWORDS = [ORDER, CODE, AMOUNT, NO_NULL];

/** The most digits before the point in an amount of an order. */
const MAX_ORDER_DIGITS = 15;
const ORDER_AMOUNT = /^\d{1,15}(?:\.\d+)?$/;
const AN_AMOUNT = `must be a number above 0, with at most ${MAX_ORDER_DIGITS} digits before the point and no exponent`;

/**
 * The schema of an order's body.
 * @param options `list`: the field with the list of its elements; `noNull`: fields in which a null is refused
 */
export function orderBody<P extends TProperties>(
  properties: P,
  { list = '', noNull = [], ...options }: BodyOptions<keyof P & string> = {},
): TObject<P> {
  return Type.Object(properties, { ...options, additionalProperties: false, [ORDER]: list, [NO_NULL]: noNull });
}

interface BodyOptions<Field extends string> extends Record<string, unknown> {
  list?: Field;
  noNull?: readonly Field[];
}

/** The code for faults of a field whose type is right. */
export const faultCode = (code: FaultCode) => ({ [CODE]: code });

/** An amount of an order: the digits of a JSON number, above 0. The number of decimals is checked where the currency is known. */
export const OrderAmount = (description: string) =>
  Type.Unsafe<number | string>(Type.Number({ description, exclusiveMinimum: 0, [AMOUNT]: true }));

/** For an operation whose handler judges the body further. It gets a refused body too, so that all faults are reported together (`refuseFaults`). */
export const JUDGED = { attachValidation: true } as const;

/**
 * Refuses the body of a `JUDGED` operation with the faults that its schema and its handler found.
 * @param more faults that the schema cannot find. If a field has two faults, the schema's is reported
 * @throws Problem invalid_body if there is a fault; also why another part of the request is refused
 */
export function refuseFaults({ validationError, routeOptions }: FastifyRequest, more: readonly BodyFault[]): void {
  const known = validationError instanceof Problem ? validationError.listed : undefined;
  if (validationError && !known) throw validationError;
  const faults = [...(known ?? []).map(unlisted), ...more];
  if (faults.length > 0) throw refusedBody(inOrder(routeOptions.schema?.body, faults));
}

/**
 * The faults of one of many elements, each judged separately, in the order of its fields.
 * @param schema from `orderBody`
 * @param judge finds faults that the schema cannot find. If a field has two faults, the schema's is reported
 */
export function elementFaults(
  request: FastifyRequest,
  schema: TObject,
  element: object,
  judge: () => readonly BodyFault[],
): BodyFault[] {
  const checked: unknown = request.compileValidationSchema(schema)(element);
  const refusal = fieldsOf(checked).error;
  const known = refusal instanceof Problem ? (refusal.listed ?? []) : [];
  return inOrder(schema, [...known.map(unlisted), ...judge()]);
}

/** Orders with a text that was written with escapes, which alone can write one that cannot be stored. */
const ESCAPED = new WeakSet<object>();

/**
 * Refuses a document with texts that cannot be stored.
 * @returns undefined if there are none, and for an order, where `checkOrder` reports them with all other faults
 */
export function refusedTexts(schema: unknown, document: unknown): Problem | undefined {
  const { [ORDER]: order, type } = fieldsOf(schema);
  if (order !== undefined && typeof document === 'object' && document !== null) {
    ESCAPED.add(document);
    return undefined;
  }
  if (Array.isArray(document) && type === 'array') {
    const faults = textFaults(document).map((fault) => ({ ...fault, index: Number(partsOf(fault.field)[0]) }));
    return faults.length > 0 ? refusedBody(faults) : undefined;
  }
  const path = findUnstorable(document, 'body');
  return path === undefined ? undefined : new Problem('invalid_body', `${path}: ${NOT_STORABLE}`);
}

function textFaults(document: object): BodyFault[] {
  const faults: BodyFault[] = [];
  for (const path of unstorableIn(document, '')) {
    faults.push({ code: 'invalid_format', field: path.replace(/^\./, ''), message: NOT_STORABLE });
    if (faults.length === MAX_LISTED_FAULTS) break;
  }
  return faults;
}

/** A listed fault in the form that it had before. */
function unlisted({ code, details, request_index: index }: ListedFault): BodyFault {
  const [path = '', ...message] = details.slice('body'.length).split(': ');
  return {
    code: code as FaultCode,
    field: path.replace(/^\./, ''),
    message: message.join(': '),
    index: index ?? undefined,
  };
}

/** Sorts faults in the order in which they are reported: by element, then by field. Each field has one fault. */
function inOrder(schema: unknown, faults: readonly (BodyFault & Partial<PlacedFault>)[]): BodyFault[] {
  const list = String(fieldsOf(schema)[ORDER]);
  const ranked = faults.map((fault) => {
    const path = fault.path ?? partsOf(fault.field);
    return { ...fault, index: indexOf(path, list), rank: rankOf(schema as Node, path) };
  });
  ranked.sort((one, other) => (one.index ?? -1) - (other.index ?? -1) || compareRanks(one.rank, other.rank));
  const first = new Map(ranked.toReversed().map((fault) => [fault.field, fault]));
  return [...first.values()].reverse();
}

interface Node {
  properties?: Record<string, Node>;
  items?: Node;
  anyOf?: Node[];
  type?: string;
  [AMOUNT]?: true;
  [CODE]?: FaultCode;
  [NO_NULL]?: readonly string[];
}
type Validate = ((document: unknown) => boolean | Promise<unknown>) & { errors?: readonly object[] | null };

/**
 * Checks the body of an order as a validator of Fastify.
 * @param schema from `orderBody`
 * @param validate reports all violations of the schema
 * @returns true, or the refusal with all faults
 */
export function checkOrder(schema: unknown, document: unknown, validate: Validate): true | { error: Error } {
  if (typeof document !== 'object' || document === null || Array.isArray(document))
    return { error: new Problem('invalid_body', 'body: must be a JSON object') };
  const node = schema as Node;
  leaveOutNulls(node, document);
  const violations = validate(document) ? [] : withoutBranches(validate.errors as readonly Violation[]);
  const faults = [
    ...(ESCAPED.has(document) ? textFaults(document) : []),
    ...violations.filter(namesStorable).map((violation) => faultOf(node, violation)),
    ...amountFaults(node, document),
  ];
  if (faults.length === 0) return true;
  return { error: refusedBody(inOrder(schema, faults)) };
}

/** Whether the field that a violation refuses has a name that can be told. The object of another one has a fault of its own. */
function namesStorable({ params: { additionalProperty: name } }: Violation): boolean {
  return typeof name !== 'string' || isStorable(name);
}

/** The violations that help a caller. Violations of the other branches of a union only say that the value is not null, or fits no branch. */
function withoutBranches(violations: readonly Violation[]): Violation[] {
  const said = violations.filter(({ keyword, params }) => keyword !== 'type' || params.type !== 'null');
  return said.filter(
    ({ keyword, instancePath }) =>
      keyword !== 'anyOf' ||
      !said.some((other) => other.keyword !== 'anyOf' && `${other.instancePath}/`.startsWith(`${instancePath}/`)),
  );
}

/** Removes null fields that the schema knows and in which it does not allow null. */
function leaveOutNulls({ properties = {}, items, anyOf = [], [NO_NULL]: kept = [] }: Node, value: unknown): void {
  for (const node of anyOf) leaveOutNulls(node, value);
  if (items) for (const element of listOf(value)) leaveOutNulls(items, element);
  const fields = fieldsOf(value) as Record<string, unknown>;
  for (const [name, node] of Object.entries(properties)) {
    if (fields[name] === null && !takesNull(node) && !kept.includes(name)) delete fields[name];
    else leaveOutNulls(node, fields[name]);
  }
}

/** Whether null is an allowed value of a field. */
export function takesNull({ type, anyOf = [] }: Pick<Node, 'type' | 'anyOf'>): boolean {
  return type === 'null' || anyOf.some(takesNull);
}

interface PlacedFault extends BodyFault {
  path: readonly string[];
}

function faultOf(schema: Node, violation: Violation): PlacedFault {
  const { keyword, instancePath, params } = violation;
  const at = (name?: unknown) => {
    const pointer = name === undefined ? instancePath : `${instancePath}/${String(name)}`;
    return { path: pointer.split('/').slice(1), field: fieldPath(pointer).slice(1) };
  };
  if (keyword === 'required') return { ...at(params.missingProperty), code: 'required', message: 'is required' };
  if (keyword === 'additionalProperties')
    return {
      ...at(shownName(String(params.additionalProperty))),
      code: 'unknown_field',
      message: 'is not a field of this request',
    };
  const place = at();
  const own = keyword === 'type' ? undefined : codeAt(schema, place.path);
  return { ...place, code: own ?? 'invalid_format', message: words(violation) };
}

function codeAt(schema: Node, path: readonly string[]): FaultCode | undefined {
  const node = nodeAt(schema, path);
  return [node, ...(node?.anyOf ?? [])].find((each) => each?.[CODE])?.[CODE];
}

function nodeAt(schema: Node, path: readonly string[]): Node | undefined {
  let node: Node | undefined = schema;
  for (const part of path) node = node?.properties?.[part] ?? node?.items;
  return node;
}

/** Checks numbers by their digits. 1.0e3 is not an amount, and an amount of zero orders nothing. */
function* amountFaults(schema: Node, document: unknown): Generator<PlacedFault> {
  const digits = writtenDigits(document);
  for (const { node, path, holder, name } of fieldsIn(schema, document)) {
    const value = holder[name];
    if (!node[AMOUNT] || typeof value !== 'number') continue;
    const text = digits?.get(holder)?.get(name) ?? String(value);
    if (value > 0 && ORDER_AMOUNT.test(text)) continue;
    yield { path, field: fieldPath(`/${path.join('/')}`).slice(1), code: 'invalid_format', message: AN_AMOUNT };
  }
}

interface Held {
  node: Node;
  path: string[];
  holder: Record<string, unknown>;
  name: string;
}

function* fieldsIn({ properties = {}, items }: Node, value: unknown, path: string[] = []): Generator<Held> {
  if (items)
    for (const [index, element] of listOf(value).entries()) yield* fieldsIn(items, element, [...path, String(index)]);
  if (Array.isArray(value)) return;
  const holder = fieldsOf(value) as Record<string, unknown>;
  for (const [name, node] of Object.entries(properties)) {
    if (!(name in holder)) continue;
    yield { node, path: [...path, name], holder, name };
    yield* fieldsIn(node, holder[name], [...path, name]);
  }
}

/** The names and indexes on the way to a field such as `payments[0].amount`. */
function partsOf(field: string): string[] {
  return field.split(/[.[\]]+/).filter((part) => part !== '');
}

/** The index of the list element to which a field belongs. */
function indexOf([name, index]: readonly string[], list: string): number | undefined {
  return name === list && index !== undefined ? Number(index) : undefined;
}

/** The position of a field among those of the schema. Unknown fields come last. */
function rankOf(schema: Node, path: readonly string[]): number[] {
  return path.map((part, depth) => {
    const names = Object.keys(nodeAt(schema, path.slice(0, depth))?.properties ?? {});
    if (names.length === 0) return Number(part);
    return names.includes(part) ? names.indexOf(part) : names.length;
  });
}

function compareRanks(one: readonly number[], other: readonly number[]): number {
  for (const [depth, rank] of one.entries()) {
    const difference = rank - (other[depth] ?? -1);
    if (difference !== 0) return difference;
  }
  return one.length - other.length;
}
