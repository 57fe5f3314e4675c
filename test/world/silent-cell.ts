import pg from 'pg';
import { CELL_TABLES } from '../../src/database/cells/tables.ts';
import { until } from './until.ts';

/** What a test does to the server of a cell. */
export interface CellServer {
  /** From now on, every statement in the cell fails with "could not connect to server". */
  down(): Promise<void>;
  up(): Promise<void>;
}

/**
 * Gives a cell of one PostgreSQL a server that can go down. While it is down, the cell has foreign tables (postgres_fdw) in place of its
 * tables, which lead to a port where nothing listens. The service then sees the same as on a distributed PostgreSQL: the coordinator
 * answers, and whatever needs the cell's server fails with an SQLSTATE of class 08.
 * @param url of a superuser
 */
export async function cellServer(url: string, cell: number): Promise<CellServer> {
  const schema = `public_cell_${cell}`;
  const away = `away_${cell}`;
  const tables = [...CELL_TABLES];
  const { hostname, port, username, password, pathname } = new URL(url);
  const server = `host '${hostname}', port '${port}', dbname '${pathname.slice(1)}'`;
  await run(url, [
    'create extension if not exists postgres_fdw',
    `create server ${away} foreign data wrapper postgres_fdw options (${server})`,
    `create user mapping for current_user server ${away} options (user '${username}', password '${decodeURIComponent(password) || 'none'}')`,
    `create schema ${away}`,
    `create schema ${away}_foreign`,
    `import foreign schema ${schema} limit to (${tables.join(', ')}) from server ${away} into ${away}_foreign`,
    `alter server ${away} options (set port '9')`,
  ]);
  const exchange = async (from: { own: string; foreign: string }, to: { own: string; foreign: string }) =>
    run(url, [
      ...tables.flatMap((table) => {
        const own = `alter table ${from.own}.${table} set schema ${to.own}`;
        const foreign = `alter foreign table ${from.foreign}.${table} set schema ${to.foreign}`;
        return from.own === schema ? [own, foreign] : [foreign, own];
      }),
      // Their names stay, and point to the new tables.
      `do $$ declare v record; begin
         for v in select viewname, definition from pg_views where schemaname = 'public_cells' loop
           execute format('create or replace view public_cells.%I as %s', v.viewname,
             replace(replace(replace(v.definition, '${to.foreign}.', '<foreign>.'), '${to.own}.', '${to.foreign}.'), '<foreign>.', '${to.own}.'));
         end loop; end $$`,
    ]);
  const [apart, inPlace] = [
    { own: away, foreign: schema },
    { own: schema, foreign: `${away}_foreign` },
  ];
  return { down: () => exchange(inPlace, apart), up: () => exchange(apart, inPlace) };
}

const DEADLOCK = new Set(['40P01', '55P03']);

/** Runs statements in one transaction, and retries if the service's own transactions are in the way. */
async function run(url: string, statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await until(async () => {
      try {
        await client.query(`begin; set local lock_timeout = '500ms'; ${statements.join('; ')}; commit`);
        return true;
      } catch (error) {
        await client.query('rollback');
        if (!DEADLOCK.has((error as { code?: string }).code ?? '')) throw error;
        return false;
      }
    });
  } finally {
    await client.end();
  }
}
