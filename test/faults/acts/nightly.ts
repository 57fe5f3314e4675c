import type { Caller } from '../caller.ts';

/** What the core sends every night besides what it has sent already. */

const asLines = (records: object[]) => records.map((record) => JSON.stringify(record)).join('\n');

export async function importClients(at: Caller): Promise<void> {
  const marks = [at.ledger.mark(), at.ledger.mark()];
  const lines = asLines(marks.map((client_name) => ({ client_id: `CLI-${client_name}`, client_name })));
  const path = '/imports/clients?on_conflict=skip';
  await at.operator('import of clients', { path, lines, table: 'clients', marks });
}

export async function importContacts(at: Caller): Promise<void> {
  const marks = [at.ledger.mark(), at.ledger.mark()];
  const clients = [{ client_id: at.party.clientId, permissions: [] }];
  const lines = asLines(marks.map((name) => ({ name, email: `${name}@example.com`, clients })));
  await at.operator('import of contacts', { path: '/imports/contacts', lines, table: 'contacts', marks });
}

/** Some are new, and one that is known gets another status. */
export async function importTrades(at: Caller): Promise<void> {
  const { clientId: client_id, contactId: contact_id, trades } = at.party;
  const marks = [at.ledger.mark(), at.ledger.mark()];
  const deal = { buy_currency: 'EUR', sell_currency: 'GBP', buy_amount: 1_000, rate: 1.17 };
  const made = marks.map((reference) => ({
    ...{ client_id, contact_id, ...deal, trade_id: `TRD-${reference}`, reference },
  }));
  const known = { trade_id: at.random.pick(trades), status: at.random.pick(['Created', 'Funds In Full']) };
  const { status } = await at.operator('import of trades', {
    ...{ path: '/imports/trades?on_conflict=update', lines: asLines([...made, known]), table: 'trades', marks },
  });
  if (status !== undefined && status < 300) trades.push(...made.map(({ trade_id }) => trade_id));
}
