import ajv from '@fastify/ajv-compiler';
import fastJson from '@fastify/fast-json-stringify-compiler';
import type { FastifyServerOptions } from 'fastify';
import { isCountry } from '../../values/countries.ts';
import { isCurrency } from '../../values/currencies.ts';
import { fieldsOf } from '../../values/unknown.ts';
import { checkOrder, ORDER, ORDER_KEYWORDS } from '../schemas/order-body.ts';

// Fastify's own compilers, shared by all listeners of the process. So a route that two listeners serve is compiled once.
const buildValidator = ajv();
const buildSerializer = fastJson();

type Validate = ReturnType<ReturnType<typeof buildValidator>>;
type Serialize = ReturnType<ReturnType<typeof buildSerializer>>;

/** Where a checked text is in the document. */
interface Place {
  parentData: Record<string | number, unknown>;
  parentDataProperty: string | number;
}

const LOWER_CASE = 'x-lower-case';

/** Keywords of our schemas that JSON Schema does not have. */
export const KEYWORDS = [
  'x-list',
  'x-form',
  'example',
  ...ORDER_KEYWORDS,
  {
    keyword: LOWER_CASE,
    type: 'string' as const,
    modifying: true,
    validate: (_schema: true, text: string, _parent: unknown, place?: Place) => {
      if (place) place.parentData[place.parentDataProperty] = text.toLowerCase();
      return true;
    },
  },
];

/** Formats of our schemas that JSON Schema does not have. */
export const FORMATS = { 'iso-4217': isCurrency, 'iso-3166': isCountry };

/**
 * Changes a route's schema so that UUIDs (`format: 'uuid'`) are put into lower case, as the service writes them everywhere. Whether other
 * texts are refused depends on its `pattern`; without one they simply name no record (schemas.ts).
 */
function lowerUuids(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(lowerUuids);
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.entries(schema);
  return Object.fromEntries(
    entries.map(([name, value]) =>
      name === 'format' && value === 'uuid' ? [LOWER_CASE, true] : [name, lowerUuids(value)],
    ),
  );
}

/**
 * Compiles the schemas of a route at its first request. Otherwise a start would spend a third of its work on hundreds of schemas, most of
 * which a process never needs. Header names in these schemas are in lower case, like those of a request.
 */
export const COMPILERS: NonNullable<FastifyServerOptions['schemaController']>['compilersFactory'] = {
  buildValidator: (...given: Parameters<typeof buildValidator>) => {
    const [external, options] = given;
    const compileFirst = buildValidator(...given);
    const compileAll = buildValidator(external, { customOptions: { ...options?.customOptions, allErrors: true } });
    return (route: Parameters<typeof compileFirst>[0]) => {
      const { schema } = fieldsOf(route);
      const isOrder = ORDER in fieldsOf(schema);
      let compiled: Validate | undefined;
      const validate = ((...input: Parameters<Validate>) => {
        compiled ??= (isOrder ? compileAll : compileFirst)(lowerUuids(route) as typeof route);
        if (isOrder) return checkOrder(schema, input[0], compiled);
        const valid = compiled(...input);
        validate.errors = compiled.errors;
        return valid;
      }) as Validate;
      return validate;
    };
  },
  buildSerializer: (...given: Parameters<typeof buildSerializer>) => {
    const compile = buildSerializer(...given);
    return (route: Parameters<typeof compile>[0]) => {
      let compiled: Serialize | undefined;
      return (answer: unknown) => {
        compiled ??= compile(route);
        return compiled(answer);
      };
    };
  },
};
