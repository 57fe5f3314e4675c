import assert from 'node:assert/strict';
import { readMigrations } from '../../../src/database/schema.ts';
import { migrationOf } from '../releases.ts';
import type { Round } from './round.ts';

/** Every cell has every migration in full, with the same columns and indexes as the first one. */
export async function upgradesComplete({ system }: Round): Promise<void> {
  const { rows: newest } = await system.query('select max(number) as number from migrations');
  const own = (await readMigrations()).at(-1)?.number;
  const expected = system.releases > 0 ? migrationOf(system.releases) : own;
  const { rows: cells } = await system.query('select schema, migration, steps from cells where number > 0');
  const behind = cells.filter(({ migration, steps }) => migration !== newest[0].number || steps !== 0);
  assert.deepEqual([newest[0].number, behind], [expected, []]);
  const { rows: left } = await system.query(
    `select relname from pg_class join pg_index on indexrelid = pg_class.oid where not indisvalid
     union all select format('step %s of %s', step, number) from migration_steps where number not in (select number from migrations)`,
  );
  assert.deepEqual(left, [], 'nothing is half done');
  const { rows: apart } = await system.query(
    `select name, array_agg(cell) as cells from (
       select c.relname as name, n.nspname as cell, string_agg(a.attname, ', ' order by a.attname) as columns
       from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
       where n.nspname = any ($1) and not c.relispartition and not a.attisdropped group by c.oid, n.oid) shapes
     where name in (select relname from pg_class where relnamespace = $2::regnamespace)
     group by name, columns having count(*) <> cardinality($1)`,
    [system.cells, system.cells[1]],
  );
  assert.deepEqual(apart, [], 'cells have the same tables');
}
