import type { Transaction } from '../database.ts';
import type { Numbered, Refusals } from './kind.ts';

/** One client's entity, as the key of a map. NUL can stand in neither part. */
export function pairKey(clientId: string, id: string): string {
  return `${clientId}\0${id}`;
}

export interface ClientFacts {
  workflow: string;
  approvalsEnabled: boolean;
}

/** The clients among the given identifiers, with what payments need of them. */
export async function findClients(tx: Transaction, ids: Iterable<string>): Promise<Map<string, ClientFacts>> {
  const { rows } = await tx.query<{ client_id: string } & ClientFacts>(
    `select client_id, authorisation_workflow as workflow, payment_approvals_enabled as "approvalsEnabled" from clients where client_id = any($1)`,
    [[...new Set(ids)]],
  );
  return new Map(rows.map((row) => [row.client_id, row]));
}

/** The names of the contacts among pairs of client and contact. */
export async function findContactNames(
  tx: Transaction,
  pairs: Iterable<[clientId: string, contactId: string]>,
): Promise<Map<string, string>> {
  const distinct = distinctPairs(pairs);
  const { rows } = await tx.query<{ client_id: string; contact_id: string; name: string }>(
    `select cc.client_id, cc.contact_id, c.name from unnest($1::text[], $2::text[]) as u(client_id, contact_id)
     join contact_clients cc on cc.client_id = u.client_id and cc.contact_id = u.contact_id join contacts c on c.contact_id = cc.contact_id`,
    [distinct.map(([client]) => client), distinct.map(([, contact]) => contact)],
  );
  return new Map(rows.map((row) => [pairKey(row.client_id, row.contact_id), row.name]));
}

/** Which pairs of client and identifier a table lacks. @param table, column names of the program's own */
export async function findMissing(
  tx: Transaction,
  table: string,
  column: string,
  pairs: Iterable<[clientId: string, id: string]>,
): Promise<Set<string>> {
  const distinct = distinctPairs(pairs);
  const { rows } = await tx.query<{ client_id: string; id: string }>(
    `select u.client_id, u.id from unnest($1::text[], $2::text[]) as u(client_id, id)
     where not exists (select from ${table} t where t.client_id = u.client_id and t.${column} = u.id)`,
    [distinct.map(([client]) => client), distinct.map(([, id]) => id)],
  );
  return new Set(rows.map((row) => pairKey(row.client_id, row.id)));
}

function distinctPairs(pairs: Iterable<[string, string]>): [string, string][] {
  const distinct = new Map<string, [string, string]>();
  for (const pair of pairs) distinct.set(pairKey(...pair), pair);
  return [...distinct.values()];
}

/**
 * Refuses lines whose identifier is in use, by a row or by an earlier line of the batch, and gives those without one a made
 * identifier that nobody uses.
 * @param made sequence and prefix of made identifiers
 */
export async function settleIds<Row>(
  tx: Transaction,
  rows: Numbered<Row>[],
  refusals: Refusals,
  table: { name: string; column: string },
  id: { get(row: Row): string | undefined; set(row: Row, value: string): void },
  make: (count: number) => Promise<string[]>,
): Promise<void> {
  const given = rows.map(({ row }) => id.get(row)).filter((value) => value !== undefined);
  const taken = await findExisting(tx, table, given);
  for (const { line, row } of rows) {
    const own = id.get(row);
    if (own === undefined || refusals.has(line)) continue;
    if (taken.has(own)) refusals.refuse(line, 'already_exists', { field: `${table.column}`, message: 'is in use' });
    taken.add(own);
  }
  const open = rows.filter(({ line, row }) => id.get(row) === undefined && !refusals.has(line));
  while (open.length > 0) {
    const made = await make(open.length);
    const used = await findExisting(tx, table, made);
    const free = made.filter((value) => !used.has(value) && !taken.has(value));
    for (const value of free) {
      const next = open.shift();
      if (next) id.set(next.row, value);
    }
  }
}

async function findExisting(
  tx: Transaction,
  table: { name: string; column: string },
  ids: string[],
): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const { rows } = await tx.query<{ id: string }>(
    `select ${table.column} as id from ${table.name} where ${table.column} = any($1)`,
    [ids],
  );
  return new Set(rows.map((row) => row.id));
}

/** Made identifiers of a sequence, in its order, as rows.ts makes one. */
export async function nextIds(tx: Transaction, sequence: string, prefix: string, count: number): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    'select nextval($1::regclass)::text as id from generate_series(1, $2)',
    [sequence, count],
  );
  return rows.map((row) => prefix + row.id.padStart(6, '0'));
}
