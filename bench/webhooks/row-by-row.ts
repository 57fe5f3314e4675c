import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Pool } from '../../src/database/database.ts';

/**
 * Deliveries per second of a queue without batches: pgbench inserts, claims and records attempts row by row. Undefined if pgbench is not
 * installed.
 * @param options `folder`: for the script
 */
export async function rowByRowRate(
  pool: Pool,
  url: string,
  options: { folder: string; bodyCharacters: number },
): Promise<number | undefined> {
  await pool.query(
    'create table row_queue (id bigint generated always as identity primary key, body text, due_at timestamptz, lease int)',
  );
  await pool.query('create index on row_queue (due_at) where lease is null');
  await pool.query('create table row_attempts (id bigint, at timestamptz, status int, body text)');
  const script = join(options.folder, 'row-by-row.sql');
  writeFileSync(
    script,
    `insert into row_queue (body, due_at) values (repeat('x', ${options.bodyCharacters}), now());
with claimed as (update row_queue set lease = 1 where id = (
  select id from row_queue where lease is null and due_at <= now() order by due_at limit 1 for update skip locked) returning id)
  select coalesce((select id from claimed), 0) as id \\gset
begin;
insert into row_attempts values (:id, now(), 200, 'ok');
delete from row_queue where id = :id;
commit;
`,
  );
  try {
    const output = execFileSync(
      'pgbench',
      ['-n', '-M', 'prepared', '-c', '8', '-j', '2', '-T', '8', '-f', script, url],
      { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
    );
    return Number(/tps = ([\d.]+)/.exec(output)?.[1]);
  } catch {
    return undefined;
  }
}
