import type { Db } from '../database.ts';

/** The servers that can have a cell, as `lombard cells list` writes them. */
export async function cellNodes(db: Db): Promise<string[]> {
  const { rows } = await db.query<{ node: string }>(
    `select nodename || ':' || nodeport as node from pg_dist_node
     where noderole = 'primary' and isactive and shouldhaveshards order by 1`,
  );
  return rows.map(({ node }) => node);
}

/**
 * Moves a distributed cell to another server, while its clients work: Citus copies it by logical replication, and its writers wait while the
 * last changes are copied. The server has the roles of the database and their settings (`migrateSettings`).
 * @param node one of `cellNodes`
 */
export async function moveCell(db: Db, cell: string, node: string): Promise<void> {
  const at = node.lastIndexOf(':');
  await db.query('select citus_schema_move(quote_ident($1)::regnamespace, $2, $3::int)', [
    cell,
    node.slice(0, at),
    node.slice(at + 1),
  ]);
}

/** A cell that goes to another server. */
export interface Move {
  cell: string;
  node: string;
}

/**
 * The moves that spread the distributed cells over the servers by their sizes, as Citus plans them; none where they are spread. Citus could
 * also do them by itself, with background processes, which a server does not always have left.
 */
export async function plannedMoves(db: Db): Promise<Move[]> {
  const { rows } = await db.query<Move>(
    `select distinct n.nspname as cell, p.targetname || ':' || p.targetport as node
     from get_rebalance_table_shards_plan() p join pg_class c on c.oid = p.table_name join pg_namespace n on n.oid = c.relnamespace
     order by 1`,
  );
  return rows;
}
