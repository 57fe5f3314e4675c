import type { FastifyRequest } from 'fastify';
import { type TObject, type TProperties, Type } from 'typebox';
import { type BodyFault, type FaultCode, type ListedFault, Problem, refusedBody } from '../../values/errors.ts';
import { writtenDigits } from '../../values/json.ts';
import { shownName } from '../../values/text.ts';
import { fieldsOf, listOf } from '../../values/unknown.ts';
import { fieldPath, type Violation, words } from './validation.ts';

/**
 * Bodies of what clients order (instructions, 2). A misspelt field of an order to pay must not be lost, so an unknown one is refused. A null
 * counts as left out, where the schema has none. A refusal lists all faults.
 */

/** The keyword of such a body's schema: the name of the field that is the list of its elements, or an empty text. */
export const ORDER = 'x-order';
/** The keyword of a field whose values have a code of their own. */
const CODE = 'x-code';
/** The keyword of an amount, which is read by its digits. */
const AMOUNT = 'x-amount';
/** The keyword of such a body's schema: names of fields in which a null is a value like any other, and refused. */
export const NO_NULL = 'x-no-null';
export const ORDER_KEYWORDS = [ORDER, CODE, AMOUNT, NO_NULL];

/** Digits that an amount of an order may have before the point. */
const MAX_ORDER_DIGITS = 15;
const ORDER_AMOUNT = /^\d{1,15}(?:\.\d+)?$/;
const AN_AMOUNT = `must be a number above 0, with at most ${MAX_ORDER_DIGITS} digits before the point and no exponent`;

/**
 * The schema of an order's body.
 * @param options `list`: the field that is the list of its elements; `noNull`: the fields in which a null is refused
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

/** The code that the faults of a field's value have, where its type is right. */
export const faultCode = (code: FaultCode) => ({ [CODE]: code });

/** An amount of an order: the digits of a JSON number, above 0. The currency's decimals are looked at where the currency is known. */
export const OrderAmount = (description: string) =>
  Type.Unsafe<number | string>(Type.Number({ description, exclusiveMinimum: 0, [AMOUNT]: true }));

/** For an operation whose handler judges the body further: it gets a refused body too, and tells all faults at once (`refuseFaults`). */
export const JUDGED = { attachValidation: true } as const;

/**
 * Refuses the body of a `JUDGED` operation with what its schema and its handler found.
 * @param more what the schema does not tell. Of two faults of one field the schema's is told
 * @throws Problem invalid_body where there is a fault, and why another part of the request is refused
 */
export function refuseFaults({ validationError, routeOptions }: FastifyRequest, more: readonly BodyFault[]): void {
  const known = validationError instanceof Problem ? validationError.listed : undefined;
  if (validationError && !known) throw validationError;
  const faults = [...(known ?? []).map(unlisted), ...more];
  if (faults.length > 0) throw refusedBody(inOrder(routeOptions.schema?.body, faults));
}

/**
 * The faults of one of many elements, each judged alone, in the order of its fields.
 * @param schema of `orderBody`
 * @param judge what the schema does not tell. Of two faults of one field the schema's is told
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

/** Refuses a document for a text that its parser has found, as `body.name`. In an order it is one of the faults. */
export function refusedText(schema: unknown, document: unknown, path: string, message: string): Problem {
  const { [ORDER]: order, type } = fieldsOf(schema);
  const isOrder = Array.isArray(document) ? type === 'array' : order !== undefined && typeof document === 'object';
  if (!isOrder) return new Problem('invalid_body', `${path}: ${message}`);
  const field = path.slice('body'.length).replace(/^\./, '');
  const [first = '', ...rest] = partsOf(field);
  const index = Array.isArray(document) ? Number(first) : indexOf([first, ...rest], String(order));
  return refusedBody([{ code: 'invalid_format', field, message, index }]);
}

/** A fault as it was before it was listed. */
function unlisted({ code, details, request_index: index }: ListedFault): BodyFault {
  const [field = '', ...message] = details.slice('body.'.length).split(': ');
  return { code: code as FaultCode, field, message: message.join(': '), index: index ?? undefined };
}

/** The order in which faults are told: of the elements, then of the fields. Each field has one. */
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
 * Checks the body of an order, as a validator of Fastify.
 * @param schema of `orderBody`
 * @param validate tells all violations of the schema
 * @returns true, or why it is refused, with all faults
 */
export function checkOrder(schema: unknown, document: unknown, validate: Validate): true | { error: Error } {
  if (typeof document !== 'object' || document === null || Array.isArray(document))
    return { error: new Problem('invalid_body', 'body: must be a JSON object') };
  const node = schema as Node;
  leaveOutNulls(node, document);
  const violations = validate(document) ? [] : withoutBranches(validate.errors as readonly Violation[]);
  const faults = [...violations.map((violation) => faultOf(node, violation)), ...amountFaults(node, document)];
  if (faults.length === 0) return true;
  return { error: refusedBody(inOrder(schema, faults)) };
}

/** The violations that help a caller. Those of the other branches of a union say only that the value is not null, or fits no branch. */
function withoutBranches(violations: readonly Violation[]): Violation[] {
  const said = violations.filter(({ keyword, params }) => keyword !== 'type' || params.type !== 'null');
  return said.filter(
    ({ keyword, instancePath }) =>
      keyword !== 'anyOf' ||
      !said.some((other) => other.keyword !== 'anyOf' && `${other.instancePath}/`.startsWith(`${instancePath}/`)),
  );
}

/** Takes away the fields that are null where the schema knows them and has no null. */
function leaveOutNulls({ properties = {}, items, anyOf = [], [NO_NULL]: kept = [] }: Node, value: unknown): void {
  for (const node of anyOf) leaveOutNulls(node, value);
  if (items) for (const element of listOf(value)) leaveOutNulls(items, element);
  const fields = fieldsOf(value) as Record<string, unknown>;
  for (const [name, node] of Object.entries(properties)) {
    if (fields[name] === null && !takesNull(node) && !kept.includes(name)) delete fields[name];
    else leaveOutNulls(node, fields[name]);
  }
}

/** Whether a null is a value of a field like any other. */
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

/** Numbers are read by their digits. 1.0e3 is not an amount, and an amount of zero orders nothing. */
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

/** The names and places on the way to a field, as `payments[0].amount`. */
function partsOf(field: string): string[] {
  return field.split(/[.[\]]+/).filter((part) => part !== '');
}

/** The element of the list that a field belongs to. */
function indexOf([name, index]: readonly string[], list: string): number | undefined {
  return name === list && index !== undefined ? Number(index) : undefined;
}

/** The place of a field among those of the schema; unknown ones come last. */
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
