import type { FastifyRequest } from 'fastify';
import { Problem } from '../../values/errors.ts';
import { fieldsOf } from '../../values/unknown.ts';

/**
 * The fields in the body of a `JUDGED` operation that have passed its schema, so that a handler can judge them further.
 * @throws Problem why another part of the request is refused, or that the body is not an object
 */
export function soundFields<Body extends object>(request: FastifyRequest<{ Body: Body }>): Partial<Body> {
  const { validationError } = request;
  const faults = validationError instanceof Problem ? validationError.listed : undefined;
  if (validationError && !faults) throw validationError;
  const faulty = new Set((faults ?? []).map(({ details }) => /^body\.(\w+)/.exec(details)?.[1]));
  return Object.fromEntries(
    Object.entries(fieldsOf(request.body)).filter(([name]) => !faulty.has(name)),
  ) as Partial<Body>;
}
