import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Pool } from 'pg';
import { pino } from 'pino';
import { createPool } from '../../src/database/pools.ts';
import { logFonts } from '../../src/documents/fonts.ts';
import { createDatabase, log, type TestDatabase } from '../world/database.ts';
import { freePort } from '../world/ports.ts';

/** What a start says about the fonts of documents, which it does not wait for. */

let database: TestDatabase;
before(async () => {
  database = await createDatabase();
});
after(() => database.drop());

async function addPayee(pool: Pool, name: string): Promise<void> {
  await pool.query(
    `insert into clients (client_id, client_name, status, fx_enabled, mass_payments_customer, authorisation_workflow,
       payment_approvals_enabled, payment_creator_approval_enabled, created_at)
     values ('CLI1', 'CLI1', 'enabled', true, false, 'simple', false, false, now())`,
  );
  await pool.query(
    `insert into beneficiaries (beneficiary_id, client_id, beneficiary_name, active, authorised, blocked, completed, verified, created_at)
     values ('BEN1', 'CLI1', $1, true, true, false, true, false, now())`,
    [name],
  );
}

test('a database that breaks off just after the start ends nothing', async () => {
  const pool = createPool(database.url, log, { max: 1 });
  const cells = async () => {
    await pool.query('select pg_terminate_backend(pg_backend_pid())');
    return [pool];
  };
  try {
    await logFonts({ directory: undefined, cells, log });
    await assert.rejects(cells(), 'the database did break off');
  } finally {
    await pool.end();
  }
});

test('a cell that does not answer leaves the look at the others', async () => {
  const other = await createDatabase();
  const [latin, foreign] = [database, other].map(({ url }) => createPool(url, log, { max: 1 })) as [Pool, Pool];
  const nowhere = new URL(database.url);
  nowhere.port = String(await freePort());
  const silent = createPool(nowhere.href, log, { max: 1 });
  const said = async (...cells: Pool[]) => {
    const lines: string[] = [];
    const heard = pino({ base: null, timestamp: false }, { write: (line) => void lines.push(line) });
    await logFonts({ directory: undefined, cells: async () => cells, log: heard });
    return lines.map((line) => {
      const { level, msg } = JSON.parse(line);
      return `${pino.levels.labels[level]},${msg}`.slice(0, 40);
    });
  };
  try {
    await addPayee(latin, 'Müller');
    await addPayee(foreign, '株式会社');
    const found = ['info,documents show boxes in place of th'];
    assert.deepEqual(await said(latin, foreign), found);
    assert.deepEqual(await said(silent, foreign), found);
    assert.deepEqual(await said(silent, latin), ['warn,it is not known whether a name need']);
    assert.deepEqual(await said(latin), []);
  } finally {
    await Promise.all([latin, foreign, silent].map((pool) => pool.end()));
    await other.drop();
  }
});
