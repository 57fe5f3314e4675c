import type { Finds } from '../../src/payments/views/find.ts';
import { call } from './call.ts';

/** The client's payments and payees that a text matches. @throws CallError */
export async function findNamed(clientId: string, q: string, signal: AbortSignal): Promise<Finds> {
  return (await call<Finds>('POST', '/app/data/find', { query: { client_id: clientId }, body: { q }, signal })).body;
}
