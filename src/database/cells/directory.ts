import { isUuid } from '../../values/identifiers.ts';
import { type Db, endStep, type Pool, type Transaction } from '../database.ts';
import { databaseFault } from '../fault.ts';
import { KIND_NAMES, KINDS } from '../kinds.ts';
import { type Home, type HomeRow, holdClients, homeColumns } from './client-moves.ts';
import { cellOf, withinCell } from './connection.ts';
import { homesOfIds, isClaimed } from './identifiers.ts';
import { hasSeveralCells, isPoolOfCells } from './pool.ts';
import { type Cell, inCell } from './scope.ts';
import { overCells } from './union.ts';

/** The records whose client can be looked up, by the nouns of their addresses. */
const LOOKUPS = new Map([
  ...KIND_NAMES.map((kind) => [KINDS[kind].address, KINDS[kind]] as const),
  ['notifications', { table: 'notifications', id: 'id', type: 'uuid' }] as const,
  ['holds', { table: 'holds', id: 'hold_id', type: 'uuid' }] as const,
  ['multipayment-uuids', { table: 'multipayments', id: 'multipayment_unique_id', type: 'uuid' }] as const,
]);

/** The form of the identifiers of each type. */
const FORMS = { uuid: isUuid, bigint: (id: string) => /^\d{1,18}$/.test(id), text: () => true };

/** The address of one record, or of an action on it: its noun, and the name of the parameter. */
const ADDRESS = /^\/([a-z-]+)\/:(\w+)(\/|$)/;

/** Where the given clients live. */
export async function homesOfClients(db: Db, clientIds: readonly string[]): Promise<Map<string, Home>> {
  const { rows } = await db.query<HomeRow>(
    `select ${homeColumns('c')} from clients c where c.client_id = any($1) order by c.client_id`,
    [clientIds],
  );
  return new Map(rows.map((home) => [home.clientId, home]));
}

/** The record that a request names. */
export interface Named {
  /** The route, such as `/payments/:payment_id/actions`. */
  url: string;
  parameters: Record<string, string>;
}

/**
 * Where the record lives that an address names.
 * @returns undefined if the address names no record of a client; null if no cell has the record
 */
export async function homeOfRecord(pool: Pool, { url, parameters }: Named): Promise<Home | null | undefined> {
  const [, noun = '', name = ''] = ADDRESS.exec(url) ?? [];
  const id = parameters[name];
  if (id === undefined || !LOOKUPS.has(noun)) return undefined;
  const [own, known] = noun === 'multipayments' ? multipaymentOf(id) : [noun, id];
  return [...(await homesOfRecords(pool, own, [known])).values()][0] ?? null;
}

/** A multi payment is identified by its number, such as `MP000001` or `1`, or by its uuid. */
function multipaymentOf(id: string): [noun: string, id: string] {
  return isUuid(id) ? ['multipayment-uuids', id] : ['multipayments', id.replace(/^MP/i, '')];
}

/**
 * Where records live, by their identifiers. Claimed identifiers are looked up. Others have to be searched for in all cells.
 * @param noun of their addresses; a noun other than those of clients' records finds nothing
 */
export async function homesOfRecords(db: Db, noun: string, ids: readonly string[]): Promise<Map<string, Home>> {
  const lookup = LOOKUPS.get(noun);
  if (!lookup) return new Map();
  const { table, id: column, type = 'text' } = lookup;
  const wanted = ids.filter(FORMS[type]);
  if (wanted.length === 0) return new Map();
  const homes = isClaimed(column) ? await homesOfIds(db, column, wanted) : new Map<string, Home>();
  const others = wanted.filter((id) => !homes.has(id));
  if (others.length === 0) return homes;
  const select = `select ${column}::text as id, client_id from ${table} where ${column} = any($1::${type}[])`;
  const found = await findAnywhere(db, { table, select }, others);
  for (const { id, ...home } of found) homes.set(id, home);
  return homes;
}

type Found = HomeRow & { id: string };

/** Asks all cells in one statement. If one of them is down, asks the others one by one. @throws if only a cell that is down can have a record */
async function findAnywhere(
  db: Db,
  { table, select }: { table: string; select: string },
  ids: readonly string[],
): Promise<Found[]> {
  const ask = async () => {
    const records = overCells(db, table, select);
    const text = `select r.id, ${homeColumns('c')} from ${records} r join clients c on c.client_id = r.client_id`;
    return (await db.query<Found>(text, [ids])).rows;
  };
  if (!isPoolOfCells(db)) return withinCell(db, 'all', ask);
  const askIn = (cell: Cell) => inCell(cell, ask);
  try {
    return await askIn('all');
  } catch (error) {
    if (!databaseFault(error)) throw error;
    const found: Found[] = [];
    for (const cell of await cellNumbers(db)) found.push(...(await askIn(cell).catch(() => [])));
    if (found.length < ids.length) throw error;
    return found;
  }
}

/** The cell for a new client: the answering cell with the fewest clients. The first cell takes none if there are others. */
export async function cellForNewClient(db: Db): Promise<number> {
  if (!hasSeveralCells(db)) return 0;
  const found = await db.query<{ number: number }>(
    `select e.number from cells e left join (select cell, count(*) as clients from clients group by cell) c on c.cell = e.number
     where e.made and e.number > 0 order by coalesce(c.clients, 0), e.number`,
  );
  const [fewest] = found.rows;
  // Within a transaction, a cell that does not answer would end the transaction.
  if (!isPoolOfCells(db)) return fewest?.number ?? 0;
  for (const { number } of found.rows)
    if (await inCell(number, () => db.query('select from subscriptions limit 1')).catch(() => undefined)) return number;
  return fewest?.number ?? 0;
}

/** The numbers of all cells. */
export async function cellNumbers(db: Db): Promise<number[]> {
  const { rows } = await db.query<{ number: number }>('select number from cells where made order by number');
  return rows.map(({ number }) => number);
}

/** Whether any of some clients has something. @param look asks in the cell of the clients that it gets */
export async function oneHas(
  pool: Pool,
  clientIds: readonly string[],
  look: (clientIds: string[]) => Promise<boolean>,
): Promise<boolean> {
  if (!hasSeveralCells(pool)) return look([...clientIds]);
  const homes = await homesOfClients(pool, clientIds);
  for (const [cell, clients] of Map.groupBy(homes.values(), (home) => home.cell))
    if (await inCell(cell, () => look(clients.map(({ clientId }) => clientId)))) return true;
  return false;
}

/**
 * Does a part of a transaction for some clients, in the cell of each. In the change feed, what the transaction changed before and what each
 * part changes are separate steps. The records of a step are read in the cell where they were changed.
 * @param work gets the clients of one cell, and a function to call before it changes something
 * @throws ClientMoves
 */
export async function inCellsOf(
  tx: Transaction,
  clientIds: readonly string[],
  work: (clientIds: string[], begin: () => Promise<void>) => Promise<void>,
): Promise<void> {
  if (!hasSeveralCells(tx) || clientIds.length === 0) return work([...clientIds], async () => {});
  const homes = [...(await homesOfClients(tx, clientIds)).values()];
  await holdClients(tx, new Map(homes.map(({ clientId, cell }) => [clientId, cell])));
  const outside = cellOf(tx);
  for (const [cell, clients] of Map.groupBy(homes, (home) => home.cell)) {
    let begun = false;
    const begin = async () => {
      if (!begun) await withinCell(tx, outside, () => endStep(tx));
      begun = true;
    };
    const ids = clients.map(({ clientId }) => clientId);
    await withinCell(tx, cell, async () => {
      await work(ids, begin);
      // A part that changed nothing leaves the step open: its records are not from this cell.
      if (begun) await endStep(tx);
    });
  }
}
