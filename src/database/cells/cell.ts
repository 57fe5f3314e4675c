import { StartupError } from '../../values/errors.ts';
import { type Db, first } from '../database.ts';
import type { CellPaths } from './connection.ts';
import { CELL_TABLES } from './tables.ts';

/** A cell and its contents, with the members that `lombard cells list --json` prints. */
export interface Cell {
  /** The schema that holds its tables. */
  cell: string;
  /** The server that holds it: host and port. */
  node: string;
  clients: number;
  /** The size of its tables and indexes. */
  bytes: number;
}

/** The cells of a database in the order of their numbers. The first one also has what exists once. A partition counts towards its table. */
export async function listCells(db: Db): Promise<Cell[]> {
  const cells = await localCells(db);
  if (cells.length === 1 || !(await hasCitus(db))) return cells;
  const { rows } = await db.query<Pick<Cell, 'cell' | 'node' | 'bytes'>>(
    `select n.nspname as cell, s.nodename || ':' || s.nodeport as node, sum(s.shard_size)::int8 as bytes
     from citus_shards s join pg_class c on c.oid = s.table_name join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = any($1) group by 1, 2`,
    [cells.map(({ cell }) => cell)],
  );
  return cells.map((cell) => ({ ...cell, ...rows.find((row) => row.cell === cell.cell) }));
}

/** The cells, with the size of what this server holds of each. */
async function localCells(db: Db): Promise<Cell[]> {
  const { rows } = await db.query<Cell>(
    `select e.schema as cell, coalesce(host(inet_server_addr()), 'local') || ':' || current_setting('port') as node,
       (select count(*) from clients c where c.cell = e.number) as clients,
       (select coalesce(sum(pg_total_relation_size(c.oid)), 0)::int8 from pg_class c
        left join pg_inherits i on i.inhrelid = c.oid left join pg_class p on p.oid = i.inhparent
        where c.relnamespace = n.oid and c.relkind = 'r' and coalesce(p.relname, c.relname) = any($1)) as bytes
     from cells e join pg_namespace n on n.nspname = e.schema where e.made order by e.number`,
    [[...CELL_TABLES]],
  );
  return rows;
}

/** The number of the cell with the given schema. */
export async function cellNumber(db: Db, schema: string): Promise<number | undefined> {
  const text = 'select number from cells where schema = $1 and made';
  return first(await db.query<{ number: number }>(text, [schema]))?.number;
}

/** How connections belong to the cells of a database; undefined if it has one cell. */
export async function readPaths(db: Db): Promise<CellPaths | undefined> {
  const { rows } = await db.query<{ number: number; schema: string }>(
    'select number, schema from cells where made order by number',
  );
  const [home, ...others] = rows;
  if (!home || others.length === 0) return undefined;
  const distributed = await hasCitus(db);
  const servers = distributed ? await readServers(db) : new Map<number, string>();
  return { home: home.schema, distributed, numbers: rows.map(({ number }) => number), servers };
}

/** The Citus server (its group id) that holds each further cell, by the cell's number. */
export async function readServers(db: Pick<Db, 'query'>): Promise<Map<number, string>> {
  const { rows } = await db.query<{ cell: number; server: string }>(
    `select e.number as cell, p.groupid::text as server
     from cells e join pg_namespace n on n.nspname = e.schema
     join pg_class c on c.relnamespace = n.oid and c.relname = 'subscriptions'
     join pg_dist_shard s on s.logicalrelid = c.oid join pg_dist_placement p on p.shardid = s.shardid
     where e.made and e.number > 0`,
  );
  return new Map(rows.map(({ cell, server }) => [cell, server]));
}

/** Whether this database has the extension Citus, which distributes schemas over servers. */
export async function hasCitus(db: Pick<Db, 'query'>): Promise<boolean> {
  const found = await db.query<{ citus: boolean }>(
    `select exists (select from pg_extension where extname = 'citus') as citus`,
  );
  return first(found)?.citus === true;
}

/** The number of cells that are made on a cluster if LOMBARD_CELLS is not set. */
const CLUSTER_CELLS = 32;

/**
 * How many further cells a database is to have (LOMBARD_CELLS). On a Citus cluster it is the number asked for. If none is asked for, it is
 * the number that the cluster has, or 32 for a new one. One cell means no further ones. A database without workers has one cell, with or
 * without Citus.
 * @param asked undefined if the variable is not set
 * @throws StartupError if there are workers that cannot find the coordinator
 */
export async function cellsToMake(db: Pick<Db, 'query'>, asked: number | undefined): Promise<number> {
  if (asked === 1 || !(await hasCitus(db))) return 1;
  const found = await db.query<{ workers: number; known: boolean; there: boolean }>(
    `select count(*) filter (where groupid <> 0 and noderole = 'primary' and isactive and shouldhaveshards)::int as workers,
       coalesce(bool_or(groupid = 0), false) as known, to_regclass('cells') is not null as there from pg_dist_node`,
  );
  const { workers = 0, known, there } = first(found) ?? {};
  if (workers === 0) return 1;
  if (!known)
    throw new StartupError(
      'LOMBARD_CELLS: the workers have to know the coordinator: run select citus_set_coordinator_host(host, port) there first (docs/scale.md)',
    );
  if (asked !== undefined) return asked;
  const made = there ? await db.query('select from cells where number > 0 limit 1') : undefined;
  return made && made.rows.length > 0 ? 1 : CLUSTER_CELLS;
}
