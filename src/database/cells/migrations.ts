import type pg from 'pg';
import { type CellStep, stepsOf } from '../migration-steps.ts';
import type { Migration } from '../schema.ts';
import { hasCitus } from './cell.ts';
import { DISTRIBUTING, distributed, LOCAL, rolesOnWorkers } from './citus-statements.ts';
import { schemaOf } from './connection.ts';
import { NUMBERS_OF_CELL } from './scope.ts';
import { CELL_TABLES, ONCE_TABLES } from './tables.ts';
import { viewsAreMissing, viewsOfAll, viewsOfNone } from './views.ts';

interface CellRow {
  number: number;
  schema: string;
  migration: number;
  steps: number;
}

/** What the cells of a database have in common. */
interface Cells {
  /** The schema of the first cell, which also holds what exists once. */
  home: string;
  migrations: readonly Migration[];
  /** Whether Citus distributes the schemas of further cells over its workers. */
  citus: boolean;
}

/**
 * The steps that further cells need: the migrations that they lack, without what exists once. The number of cells is what the database has
 * or what is asked for, whichever is more.
 * @param cells LOMBARD_CELLS; the first cell does not count unless it is the only one
 */
export async function missingCellSteps(
  client: pg.Client,
  { home, cells, migrations }: { home: string; cells: number; migrations: readonly Migration[] },
): Promise<CellStep[]> {
  const there = await cellRows(client);
  const citus = await hasCitus(client);
  const count = Math.max(cells > 1 ? cells : 0, ...there.map(({ number }) => number));
  const steps: CellStep[] = [];
  for (let number = 1; number <= count; number += 1) {
    const row = there.find((cell) => cell.number === number);
    const cell = row ?? { number, schema: schemaOf(home, number), migration: 0, steps: 0 };
    steps.push(...stepsOfCell(client, cell, { home, migrations, citus }));
  }
  if (steps.length > 0 || (count > 0 && (await viewsAreMissing(client, home))))
    steps.push(lastStep(client, { home, citus }, count));
  return steps;
}

/** The schemas of further cells, and those of the views; empty lists if there is one cell. */
export async function furtherSchemas(client: pg.Client): Promise<{ cells: string[]; views: string[] }> {
  const cells = (await cellRows(client)).map(({ schema }) => schema);
  if (cells.length === 0) return { cells, views: [] };
  const { rows } = await client.query<{ home: string }>('select current_schema() as home');
  const home = rows[0]?.home ?? '';
  return { cells, views: [schemaOf(home, 'all'), schemaOf(home, 'none')] };
}

async function cellRows(client: pg.Client): Promise<CellRow[]> {
  const { rows } = await client.query<{ made: boolean }>("select to_regclass('cells') is not null as made");
  if (!rows[0]?.made) return [];
  const found = await client.query<CellRow>(
    'select number, schema, migration, steps from cells where number > 0 order by number',
  );
  return found.rows;
}

function stepsOfCell(client: pg.Client, cell: CellRow, { home, migrations, citus }: Cells): CellStep[] {
  const { number } = cell;
  const schema = client.escapeIdentifier(cell.schema);
  const schemas = `${schema}, ${client.escapeIdentifier(home)}, pg_temp`;
  const path = `set search_path = ${schemas}${citus ? `; ${DISTRIBUTING}` : ''}`;
  const steps: CellStep[] = [];
  for (const migration of migrations.filter((each) => each.number > cell.migration)) {
    const all = stepsOf(migration);
    const skipped = migration.number === cell.migration + 1 ? cell.steps : 0;
    for (const [index, step] of all.entries()) {
      if (index < skipped) continue;
      const last = index === all.length - 1;
      const statements = splitStatements(step.sql)
        .filter(concernsCells)
        .map((statement) => withNumbers(statement, number))
        .flatMap((statement) => (citus ? (distributed(statement, schemas) ?? []) : statement));
      const done = last ? `migration = ${migration.number}, steps = 0` : `steps = ${index + 1}`;
      steps.push({
        name: `${cell.schema}: ${migration.name}${all.length > 1 ? `, step ${index + 1}` : ''}`,
        path,
        kind: step.kind,
        statements,
        mark: `update cells set ${done} where number = ${number}`,
      });
    }
  }
  const [first] = steps;
  if (first && cell.migration === 0 && cell.steps === 0)
    first.statements.unshift(
      ...(citus ? [rolesOnWorkers()] : []),
      `create schema if not exists ${schema}`,
      `insert into cells (number, schema) values (${number}, ${client.escapeLiteral(cell.schema)}) on conflict do nothing`,
    );
  return steps;
}

/** Finds the table that a statement makes, changes or fills. */
const SUBJECT = new RegExp(
  `^(?:${[
    'create (?:unlogged )?table(?: if not exists)?',
    'alter table(?: if exists)?(?: only)?',
    'drop table(?: if exists)?',
    'insert into',
    'update(?: only)?',
    'delete from(?: only)?',
    '(?:create (?:unique )?index|create (?:constraint )?trigger|drop trigger|create policy|grant)\\b.*?\\bon(?: table)?',
  ].join('|')}) "?(\\w+)`,
  'is',
);

/** Types, sequences and roles are shared by all cells. */
const ONCE = /^create (?:type|sequence|role)\b/i;

/**
 * Whether a statement of a migration concerns something that each cell has: a table of cells, or a function. A cell also gets functions
 * that are meant for what exists once; nobody calls them there.
 */
function concernsCells(statement: string): boolean {
  if (ONCE.test(statement)) return false;
  const table = SUBJECT.exec(statement)?.[1];
  return table === undefined || !ONCE_TABLES.has(table);
}

const IDENTITY = /\bgenerated always as identity\b(?! *\()/gi;

/** Makes the identity columns of a cell begin at its own numbers. Citus accepts this only in the statement that makes the table. */
function withNumbers(statement: string, number: number): string {
  return statement.replace(IDENTITY, `generated always as identity (start with ${number * NUMBERS_OF_CELL + 1})`);
}

/** Citus notices changes of a coordinator table only if it knows the table. The table's rights must be granted before. */
const TWO_PHASE = [
  'grant select, delete on two_phase to public',
  `do $$ begin
     if not exists (select from pg_dist_partition where logicalrelid = 'two_phase'::regclass) then
       perform citus_add_local_table_to_metadata('two_phase');
     end if;
   end $$`,
];

/**
 * The last step, which makes what concerns all cells: the views for callers that name no cell (views.ts), and triggers. On tables that
 * refer to the row of the client, the triggers let each cell accept only rows of its own clients. Citus workers do not know the clients.
 */
function lastStep(client: pg.Client, { home, citus }: Pick<Cells, 'home' | 'citus'>, count: number): CellStep {
  const schemas = [home, ...Array.from({ length: count }, (_, index) => schemaOf(home, index + 1))];
  const triggers = `do $do$
declare t record;
begin
  for t in
    select n.nspname as cell, c.relname as name, s.place - 1 as number
    from unnest(array[${schemas.map((each) => client.escapeLiteral(each)).join(', ')}]) with ordinality as s (name, place)
    join pg_namespace n on n.nspname = s.name join pg_class c on c.relnamespace = n.oid and c.relname = any ('{${[...CELL_TABLES].join(',')}}')
    where exists (select from pg_constraint k where k.conrelid = c.oid and k.confrelid = 'clients'::regclass and k.contype = 'f')
  loop
    execute format('create or replace trigger own_clients before insert on %I.%I for each row execute function %I.refuse_other_cell(%s)',
      t.cell, t.name, t.cell, t.number);
  end loop;
end $do$`;
  return {
    name: `${schemaOf(home, 'all')}: views over all cells, and what keeps each to its clients`,
    path: `set search_path = ${client.escapeIdentifier(home)}, pg_temp${citus ? `; ${LOCAL}` : ''}`,
    kind: 'transaction',
    statements: [...viewsOfAll(home, schemas), ...viewsOfNone(home), triggers, ...(citus ? TWO_PHASE : [])],
    mark: 'update cells set made = true',
  };
}

/** Matches what may contain a semicolon that does not end a statement (a comment, text, quoted name or dollar-quoted body), or a semicolon. */
const PARTS = /--[^\n]*|'(?:[^']|'')*'|"[^"]*"|(\$\w*\$)[\s\S]*?\1|;/g;

/** Splits an SQL text into its statements, without the comments before them. */
export function splitStatements(sql: string): string[] {
  const statements: string[] = [];
  let begin = 0;
  const take = (end: number) => {
    const statement = sql.slice(begin, end).replace(/^(?:\s+|--[^\n]*\n?)+/, '');
    if (statement !== '') statements.push(statement.trimEnd());
    begin = end + 1;
  };
  for (const part of sql.matchAll(PARTS)) if (part[0] === ';') take(part.index);
  take(sql.length);
  return statements;
}
