import { hasSeveralCells, withinCell } from './cell-pool.ts';
import { inCell } from './cell-scope.ts';
import { type Db, endStep, first, type Pool, type Transaction } from './database.ts';

/** What leads to a client: the table of the records, by the parameter of an address that has their id. */
const RECORDS: Record<string, { table: string; column: string }> = {
  payment_id: { table: 'payments', column: 'payment_id' },
  trade_id: { table: 'trades', column: 'trade_id' },
  beneficiary_id: { table: 'beneficiaries', column: 'beneficiary_id' },
  account_id: { table: 'accounts', column: 'account_id::text' },
  mass_beneficiary_id: { table: 'mass_beneficiaries', column: 'mass_beneficiary_id::text' },
  statement_id: { table: 'statement_requests', column: 'statement_id::text' },
  subscription_id: { table: 'subscriptions', column: 'id::text' },
  notification_id: { table: 'notifications', column: 'id::text' },
};

/** The cell of a client; undefined where it does not exist. */
export async function cellOfClient(db: Db, clientId: string): Promise<number | undefined> {
  return first(await db.query<{ cell: number }>('select cell from clients where client_id = $1', [clientId]))?.cell;
}

/** The cell of the record that the parameters of an address name; undefined where they name none that belongs to a client. */
export async function cellOfRecord(pool: Pool, parameters: Record<string, string>): Promise<number | undefined> {
  for (const [name, id] of Object.entries(parameters)) {
    const record = RECORDS[name];
    if (!record) continue;
    const text = `select c.cell from ${record.table} r join clients c on c.client_id = r.client_id where r.${record.column} = $1`;
    const found = first(await inCell('all', () => pool.query<{ cell: number }>(text, [id])));
    if (found) return found.cell;
  }
  return undefined;
}

/** The cell where a new client goes: the one with the fewest. The first one takes none where there are others. */
export async function cellForNewClient(db: Db): Promise<number> {
  if (!hasSeveralCells(db)) return 0;
  const found = await db.query<{ number: number }>(
    `select e.number from cells e left join (select cell, count(*) as clients from clients group by cell) c on c.cell = e.number
     where e.made and e.number > 0 order by coalesce(c.clients, 0), e.number limit 1`,
  );
  return first(found)?.number ?? 0;
}

/** The numbers of all cells. */
export async function cellNumbers(db: Db): Promise<number[]> {
  const { rows } = await db.query<{ number: number }>('select number from cells where made order by number');
  return rows.map(({ number }) => number);
}

/**
 * Does a part of a transaction for some clients, in the cell of each. What the transaction has changed before, and what the part changes,
 * are steps of their own in the change feed: the records of a step are read in the cell where it was done.
 * @param work gets the clients of one cell
 */
export async function inCellsOf(
  tx: Transaction,
  clientIds: readonly string[],
  work: (clientIds: string[]) => Promise<void>,
): Promise<void> {
  if (!hasSeveralCells(tx) || clientIds.length === 0) return work([...clientIds]);
  const { rows } = await tx.query<{ client_id: string; cell: number }>(
    'select client_id, cell from clients where client_id = any($1) order by client_id',
    [clientIds],
  );
  await endStep(tx);
  for (const [cell, clients] of Map.groupBy(rows, (row) => row.cell)) {
    await withinCell(tx, cell, async () => {
      await work(clients.map((row) => row.client_id));
      await endStep(tx);
    });
  }
}
