import pg from 'pg';
import type { CellStep } from '../migration-steps.ts';
import { schemaOf } from './connection.ts';
import { CELL_TABLES, HISTORY_TABLES } from './tables.ts';

/** The table with the version counters of the feed. An entity that belongs to no client has its counter in the first cell. */
const VERSIONS = 'change_versions';
/** cannot_connect_now: a reader gets this during a migration, and tries again. */
const MIGRATING = '57P03';

/**
 * Makes a schema of views that show each table of the cells over all cells, under the same name. It is in the path of readers that do not
 * know the client.
 */
export function viewsOfAll(home: string, schemas: readonly string[]): string[] {
  const schema = pg.escapeIdentifier(schemaOf(home, 'all'));
  const views = [...CELL_TABLES].map((table) => {
    const parts = schemas.map((each) => `select * from ${pg.escapeIdentifier(each)}.${table}`);
    return `create view ${schema}.${table} as ${parts.join(' union all ')}`;
  });
  return [`drop schema if exists ${schema} cascade`, `create schema ${schema}`, ...views];
}

/**
 * Makes a schema of views that refuse the tables of clients. It is in the path of work that has no cell; otherwise such work would read the
 * first cell and take it for all. The argument of the refusing function is constant, so PostgreSQL evaluates it when it plans. So no
 * statement that reads a client's table gets further, whether or not the table has rows. Records that belong to no client have their audit
 * rows and changes in the first cell. They are inserted through views without this check, and cannot be read.
 */
export function viewsOfNone(home: string): string[] {
  const schema = pg.escapeIdentifier(schemaOf(home, 'none'));
  const refuse = `create function ${schema}.refuse(what text) returns boolean language plpgsql immutable as $$ begin
    raise exception 'this work names no cell, and % is in the cells of clients', what
      using hint = 'It has to name the cell of its client, or all cells (src/database/cells/scope.ts, src/database/cells/pool.ts).';
  end $$`;
  const views = [...CELL_TABLES]
    .filter((table) => table !== VERSIONS)
    .map((table) => {
      const checked = HISTORY_TABLES.has(table) ? '' : ' with (check_option = local)';
      const own = `${pg.escapeIdentifier(home)}.${table}`;
      return `create view ${schema}.${table}${checked} as select * from ${own} where ${schema}.refuse('${table}')`;
    });
  return [`drop schema if exists ${schema} cascade`, `create schema ${schema}`, refuse, ...views];
}

/** Whether the views have to be made, for the first time or again after migrations. */
export async function viewsAreMissing(client: pg.Client, home: string): Promise<boolean> {
  const [all, none] = [schemaOf(home, 'all'), schemaOf(home, 'none')];
  const { rows } = await client.query<{ missing: boolean }>(
    `select count(*) < 2 or bool_or(exists (select from pg_proc where pronamespace = n.oid and proname = 'refuse_meanwhile')) as missing
     from pg_namespace n where nspname in ($1, $2)`,
    [all, none],
  );
  return rows[0]?.missing ?? true;
}

/**
 * Withdraws the views before migrations, which may change a column that the views show. The views over all cells keep their columns but
 * refuse every read: without them the path would lead to the first cell. The others are removed, because they only guard against mistakes.
 * The steps of the cells restore both (`viewsOfAll`, `viewsOfNone`).
 * @param path `set search_path` of the owner
 */
export function viewsWithdrawn(home: string, path: string): CellStep {
  const all = schemaOf(home, 'all');
  const schema = pg.escapeIdentifier(all);
  return {
    name: `${all}: views over all cells, away during migrations`,
    path,
    kind: 'transaction',
    statements: [
      `do $do$ declare
  views text := ${pg.escapeLiteral(schema)};
  v record;
begin
  if to_regnamespace(views) is null then return; end if;
  create or replace function ${schema}.refuse_meanwhile(what text) returns boolean language plpgsql immutable as $$ begin
    raise exception 'the database is being migrated: until then nobody reads % of all cells', what using errcode = '${MIGRATING}';
  end $$;
  for v in
    select c.relname as name, string_agg(format('null::%s%s as %I', format_type(a.atttypid, a.atttypmod),
      case when a.attcollation <> t.typcollation then format(' collate %I.%I', n.nspname, l.collname) end, a.attname), ', '
      order by a.attnum) as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 join pg_type t on t.oid = a.atttypid
    left join pg_collation l on l.oid = a.attcollation left join pg_namespace n on n.oid = l.collnamespace
    where c.relnamespace = to_regnamespace(views) and c.relkind = 'v' group by c.relname
  loop
    execute format('create or replace view %s.%I as select %s where %s.refuse_meanwhile(%L)', views, v.name, v.columns, views, v.name);
  end loop;
end $do$`,
      `drop schema if exists ${pg.escapeIdentifier(schemaOf(home, 'none'))} cascade`,
    ],
    mark: 'select',
  };
}
