import type { FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../../values/errors.ts';

const PLACES = {
  query: { other: 'body', must: 'is required as a query parameter, not in the body' },
  body: { other: 'query', must: 'is required in the body, not as a query parameter' },
} as const;

/**
 * A `preValidation` hook for a parameter that callers easily put in the wrong place, because other operations have it there. It says so.
 * The schema could only say that the parameter is missing.
 * @throws Problem missing_parameter, invalid_body
 */
export function expectedIn(place: keyof typeof PLACES, name: string) {
  const { other, must } = PLACES[place];
  const code = place === 'query' ? 'missing_parameter' : 'invalid_body';
  return (request: FastifyRequest, _reply: FastifyReply, done: (fault?: Error) => void): void => {
    const has = (at: keyof typeof PLACES) =>
      (request[at] as Record<string, unknown> | null | undefined)?.[name] !== undefined;
    done(!has(place) && has(other) ? new Problem(code, `${place}.${name}: ${must}`) : undefined);
  };
}
