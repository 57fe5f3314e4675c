import { type Cell, hasCitus, listCells } from '../cells.ts';
import { readConfig } from '../config.ts';
import type { Pool } from '../database.ts';
import { withDatabase } from './configured-database.ts';
import { CommandFailure } from './failure.ts';
import { example, type Frame } from './frame.ts';
import type { Column } from './printer.ts';

const MEBIBYTE_BYTES = 1 << 20;

const COLUMNS: Column<Cell>[] = [
  ['CELL', ({ cell }) => cell],
  ['NODE', ({ node }) => node],
  ['CLIENTS', ({ clients }) => clients],
  ['MIB', ({ bytes }) => Math.ceil(bytes / MEBIBYTE_BYTES)],
];

/** `lombard cells`: with the settings of the service, while it runs or not (docs/scale.md, Cells). */
export function cellsCommands({ program, does }: Frame): void {
  const cells = program
    .command('cells')
    .description('show where clients live, and move them, with the settings of the service (docs/scale.md)')
    .helpCommand(false);

  const list = cells.command('list').description('list the cells, their servers, clients and sizes');
  does(example(list, 'cells list'), ({ print }) =>
    inDatabase(async (pool) => print.rows(await listCells(pool), COLUMNS, { whole: true })),
  );

  const rebalance = cells.command('rebalance').description('spread the cells evenly over the servers');
  does(example(rebalance, 'cells rebalance'), () =>
    inDatabase(async (pool) => {
      throw await immovable(pool, 'there is one cell, so nothing can be spread');
    }),
  );

  const move = cells.command('move <cell> <node>').description('move a cell to another server, while its clients work');
  does(example(move, 'cells move public db2.internal:5432'), ({ args, print }) => {
    const [name = '', node = ''] = args;
    return inDatabase(async (pool) => {
      const cell = await findCell(pool, name);
      if (cell.node !== node) throw await immovable(pool, `the cell ${cell.cell} stays on ${cell.node}`);
      print.done(`the cell ${cell.cell} is on ${node} already`, cell);
    });
  });

  const client = cells.command('move-client <client> <cell>').description('move a client to another cell');
  does(example(client, 'cells move-client CLI000001 public'), ({ args, print }) => {
    const [clientId = '', name = ''] = args;
    return inDatabase(async (pool) => {
      const { rowCount } = await pool.query('select from clients where client_id = $1', [clientId]);
      if (rowCount === 0) throw new CommandFailure(`the client ${clientId} does not exist`);
      const { cell } = await findCell(pool, name);
      print.done(`the client ${clientId} is in the cell ${cell} already`, { client_id: clientId, cell });
    });
  });
}

function inDatabase<T>(work: (pool: Pool) => Promise<T>): Promise<T> {
  return withDatabase(readConfig(), 'lombard-cells', work);
}

/** @throws CommandFailure */
async function findCell(pool: Pool, name: string): Promise<Cell> {
  const found = (await listCells(pool)).find(({ cell }) => cell === name);
  if (found) return found;
  throw new CommandFailure(`the cell ${name} does not exist: lombard cells list shows the cells`);
}

/** Why a cell cannot go to another server. */
async function immovable(pool: Pool, what: string): Promise<CommandFailure> {
  const why = (await hasCitus(pool))
    ? 'this version keeps it on the coordinator of Citus'
    : 'several cells need Citus, which this PostgreSQL does not have';
  return new CommandFailure(`${what}: ${why} (docs/scale.md)`);
}
