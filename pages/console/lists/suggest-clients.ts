import type { Found } from '../../../src/http/console/search.ts';
import { call } from '../../data/call.ts';
import { callOperator } from '../../data/operator-api.ts';
import { visible } from '../../design/foreign-text.tsx';

/** Clients to choose from before anything is written. */
const FIRST = 20;
/** From so many characters on a part of a name is looked for. */
const MIN_LENGTH = 2;

/** Clients whose name has a text in it, each with its id: staff know names, and lists are filtered by ids. */
export async function suggestClients(text: string): Promise<{ value: string; text: string }[]> {
  const sought = text.trim();
  if (sought.length < MIN_LENGTH) {
    const { body } = await callOperator('GET /clients', { query: { page_size: FIRST } });
    return body.map(({ client_id: value, client_name: name }) => ({ value, text: visible(name) }));
  }
  const { body } = await call<Found[]>('POST', '/console/search', { body: { q: sought } });
  return body.filter(({ kind }) => kind === 'client').map(({ id, title }) => ({ value: id, text: visible(title) }));
}
