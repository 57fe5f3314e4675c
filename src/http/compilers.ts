import ajv from '@fastify/ajv-compiler';
import fastJson from '@fastify/fast-json-stringify-compiler';
import type { FastifyServerOptions } from 'fastify';

// Fastify's own; one for all listeners of the process, so that the routes that two of them serve are compiled once.
const buildValidator = ajv();
const buildSerializer = fastJson();

type Validate = ReturnType<ReturnType<typeof buildValidator>>;
type Serialize = ReturnType<ReturnType<typeof buildSerializer>>;

/**
 * Compiles the schemas of a route at its first request. A start would otherwise spend a third of its work on hundreds of schemas, most
 * of which a process never needs. Header names of these schemas are in lower case, as those of a request are.
 */
export const COMPILERS: NonNullable<FastifyServerOptions['schemaController']>['compilersFactory'] = {
  buildValidator: (...given: Parameters<typeof buildValidator>) => {
    const compile = buildValidator(...given);
    return (route: Parameters<typeof compile>[0]) => {
      let compiled: Validate | undefined;
      const validate = ((...input: Parameters<Validate>) => {
        compiled ??= compile(route);
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
