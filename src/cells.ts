import type { CellPaths } from './cell-pool.ts';
import { CELL_TABLES } from './cell-tables.ts';
import { type Db, first } from './database.ts';

/** A cell and what is in it. Members are as `lombard cells list --json` writes them. */
export interface Cell {
  /** The schema of its tables. */
  cell: string;
  /** The server that has it: host and port. */
  node: string;
  clients: number;
  /** Its tables with their indexes. */
  bytes: number;
}

/** The cells of a database, in the order of their numbers. The first one has what exists once too. A partition counts where its table does. */
export async function listCells(db: Db): Promise<Cell[]> {
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

/** How connections belong to the cells of a database; undefined where it has one. */
export async function readPaths(db: Db): Promise<CellPaths | undefined> {
  const found = first(
    await db.query<{ home: string; several: boolean }>(
      'select schema as home, exists (select from cells where number > 0 and made) as several from cells where number = 0',
    ),
  );
  return found?.several ? { home: found.home } : undefined;
}

/** Whether the extension Citus, which distributes schemas over servers, is in this database. */
export async function hasCitus(db: Pick<Db, 'query'>): Promise<boolean> {
  const found = await db.query<{ citus: boolean }>(
    `select exists (select from pg_extension where extname = 'citus') as citus`,
  );
  return first(found)?.citus === true;
}

/**
 * Why this program cannot make the cells that are asked for (LOMBARD_CELLS); undefined where it can. Without Citus a database has one
 * cell, whatever the variable says.
 */
export async function cellsFault(db: Pick<Db, 'query'>, cells: number): Promise<string | undefined> {
  if (cells === 1 || !(await hasCitus(db))) return undefined;
  return `LOMBARD_CELLS: must be 1, not "${cells}": this version keeps all clients of a database in one cell, with Citus too (docs/scale.md)`;
}
