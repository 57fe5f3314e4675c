import type { GraphqlQuery } from './endpoint.ts';

/** The fewest characters of a value that is searched for in a message. Shorter values occur in many words. */
const MIN_SEARCHED_CHARACTERS = 3;
const MASK = '***';
/** Precedes a value of a wrong type. */
const REFUSED_VALUE = 'cannot represent';

/** A message about a query, for the log, without the values that were sent. GraphQL repeats them, and one may be the secret of a subscription. */
export function withoutSentValues(message: string, { query, variables }: GraphqlQuery): string {
  const sent = [...query.split('"'), ...leaves(variables)].filter(({ length }) => length >= MIN_SEARCHED_CHARACTERS);
  const value = message.indexOf(': ', message.indexOf(REFUSED_VALUE));
  let clean = message.includes(REFUSED_VALUE) && value > 0 ? `${message.slice(0, value)}: ${MASK}` : message;
  for (const text of sent.sort((one, other) => other.length - one.length))
    clean = clean.replaceAll(text, MASK).replaceAll(JSON.stringify(text).slice(1, -1), MASK);
  return clean;
}

/** The texts and numbers within a value, at any depth. */
function leaves(value: unknown): string[] {
  const found: string[] = [];
  const waiting = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next === 'object' && next !== null) for (const inner of Object.values(next)) waiting.push(inner);
    else if (typeof next === 'string' || typeof next === 'number') found.push(String(next));
  }
  return found;
}
