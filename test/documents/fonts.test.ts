import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createPool } from '../../src/database/pools.ts';
import { logFonts } from '../../src/documents/fonts.ts';
import { createLogger } from '../../src/process/log.ts';
import { createDatabase, log, type TestDatabase } from '../world/database.ts';

/** What a start says about the fonts of documents, which it does not wait for. */

let database: TestDatabase;
before(async () => {
  database = await createDatabase();
});
after(() => database.drop());

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
