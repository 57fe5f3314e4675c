import { randomUUID } from 'node:crypto';
import { type Cell, cellNumber, hasCitus, listCells } from '../database/cells/cell.ts';
import { homeOfClient } from '../database/cells/client-moves.ts';
import { cellNodes, type Move, moveCell, plannedMoves } from '../database/cells/moves.ts';
import type { Pool } from '../database/database.ts';
import { databaseFault } from '../database/fault.ts';
import { migrateSettings } from '../database/migrate.ts';
import { databaseAddresses, migrateOptions } from '../database/open.ts';
import { type Relocation, RelocationFault, relocateClient } from '../relocation/relocation.ts';
import { readOffset } from '../sandbox/clock.ts';
import { readConfig } from '../settings/config.ts';
import { ServiceClock } from '../values/calendar.ts';
import { MESSAGES, StartupError } from '../values/errors.ts';
import { withDatabase, withDatabaseUrl } from './configured-database.ts';
import { CommandFailure } from './failure.ts';
import { example, type Frame } from './frame.ts';
import type { Column } from './printer.ts';

const MEBIBYTE_BYTES = 1 << 20;
/** A move needs one connection that announces it, one for its transaction, and one that publishes. */
const MAX_CONNECTIONS = 3;

const COLUMNS: Column<Cell>[] = [
  ['CELL', ({ cell }) => cell],
  ['NODE', ({ node }) => node],
  ['CLIENTS', ({ clients }) => clients],
  ['MIB', ({ bytes }) => Math.ceil(bytes / MEBIBYTE_BYTES)],
];

/** `lombard cells`, with the settings of the service, whether or not it runs (docs/scale.md, Cells). */
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
  does(example(rebalance, 'cells rebalance'), ({ print }) =>
    inDatabase(async (pool) => {
      if ((await listCells(pool)).length === 1)
        throw await immovable(pool, 'there is one cell, so nothing can be spread');
      const moves = await plannedMoves(pool).catch(broken('the cells could not be measured'));
      if (moves.length === 0) print.note('the cells are spread evenly already');
      if (moves.length > 0) await prepareServers();
      for (const { cell, node } of moves) {
        await move(pool, { cell, node });
        print.note(`the cell ${cell} is on ${node} now`);
      }
      print.rows(await listCells(pool), COLUMNS, { whole: true });
    }),
  );

  const moving = cells
    .command('move <cell> <node>')
    .description('move a cell to another server, while its clients work');
  does(example(moving, 'cells move public_cell_1 db2.internal:5432'), ({ args, print }) => {
    const [name = '', node = ''] = args;
    return inDatabase(async (pool) => {
      const [first, ...others] = await listCells(pool);
      const cell = await findCell(pool, name);
      if (cell.node === node) return print.done(`the cell ${cell.cell} is on ${node} already`, cell);
      if (others.length === 0) throw await immovable(pool, `the cell ${cell.cell} stays on ${cell.node}`);
      if (cell.cell === first?.cell)
        throw new CommandFailure(`the cell ${cell.cell} stays on ${cell.node}: it also has what exists once`);
      const nodes = await cellNodes(pool);
      if (!nodes.includes(node))
        throw new CommandFailure(`the server ${node} is none that can have cells: they are ${nodes.join(', ')}`);
      await prepareServers();
      await move(pool, { cell: cell.cell, node });
      print.done(`the cell ${cell.cell} is on ${node} now`, { ...cell, node });
    });
  });

  const client = cells.command('move-client <client> <cell>').description('move a client to another cell');
  does(example(client, 'cells move-client CLI000001 public'), ({ args, print }) => {
    const [clientId = '', name = ''] = args;
    return inDatabase(async (pool) => {
      const home = await homeOfClient(pool, clientId);
      if (!home) throw noClient(clientId);
      const { cell } = await findCell(pool, name);
      const to = (await cellNumber(pool, cell)) ?? home.cell;
      const already = to === home.cell;
      if (!already) await relocate(pool, { clientId, from: home.cell, to });
      print.done(`the client ${clientId} is in the cell ${cell}${already ? ' already' : ''}`, {
        client_id: clientId,
        cell,
      });
    });
  });
}

/** @throws CommandFailure */
async function relocate(pool: Pool, relocation: Relocation): Promise<void> {
  const now = new Date(new ServiceClock().now().getTime() + (await readOffset(pool)));
  const act = { now, actor: 'command line', requestId: randomUUID() };
  await relocateClient(pool, act, relocation).catch((error) => {
    if (error instanceof RelocationFault) throw new CommandFailure(error.message);
    if (!databaseFault(error)) throw error;
    return broken(`the client ${relocation.clientId} was not moved`)(error);
  });
}

/** @throws CommandFailure */
async function move(pool: Pool, { cell, node }: Move): Promise<void> {
  await moveCell(pool, cell, node).catch(broken(`the cell ${cell} did not get to ${node}`));
}

/** A one-line message for a server of the cluster that died or could not be reached. What was begun is undone, by Citus too. */
function broken(what: string): (error: Error) => never {
  return ({ message }) => {
    const reason = [...new Set(message.split('\n').map((line) => line.trim()))].join(' ');
    throw new CommandFailure(
      `${what} (${reason}): see that every server of the cluster answers, and run the command again; lombard cells list shows where the cells are`,
    );
  };
}

/** Gives each server what a cell needs there. A recently added worker does not have the roles of the service yet. */
function prepareServers(): Promise<void> {
  const config = readConfig();
  return withDatabaseUrl(config, (url) => {
    const addresses = databaseAddresses(config, url);
    return migrateSettings(addresses.owner, migrateOptions(config, addresses)).catch((error: Error): never => {
      if (error instanceof StartupError) throw error;
      return broken('no cell was moved')(error);
    });
  });
}

function inDatabase<T>(work: (pool: Pool) => Promise<T>): Promise<T> {
  return withDatabase(readConfig(), 'lombard-cells', work, { as: 'owner', connections: MAX_CONNECTIONS });
}

/** @throws CommandFailure */
async function findCell(pool: Pool, name: string): Promise<Cell> {
  const found = (await listCells(pool)).find(({ cell }) => cell === name);
  if (found) return found;
  throw new CommandFailure(`the cell ${name} does not exist: lombard cells list shows the cells`);
}

function noClient(clientId: string): CommandFailure {
  const details = `the client ${clientId} does not exist`;
  return new CommandFailure(details, 1, { code: 'client_not_found', message: MESSAGES.client_not_found, details });
}

/** Why a cell cannot be moved to another server. */
async function immovable(pool: Pool, what: string): Promise<CommandFailure> {
  const why = (await hasCitus(pool))
    ? 'LOMBARD_CELLS makes others on the workers of Citus, and the first one stays on the coordinator'
    : 'several cells need Citus, which this PostgreSQL does not have';
  return new CommandFailure(`${what}: ${why} (docs/scale.md)`);
}
