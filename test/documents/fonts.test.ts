import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Db } from '../../src/database/database.ts';
import { createPool } from '../../src/database/pools.ts';
import { logFonts } from '../../src/documents/fonts.ts';
import type { Logger } from '../../src/process/log.ts';
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

test('a cell that does not answer leaves the look at the others', async () => {
  const payee = (beneficiary_name: string) => ({ beneficiary_id: 'BEN1', beneficiary_name });
  const cell = (name: string) => ({ query: async () => ({ rows: [payee(name)] }) }) as unknown as Db;
  const silent = { query: () => Promise.reject(new Error('no answer')) } as unknown as Db;
  const said = async (...all: Db[]) => {
    const lines: unknown[] = [];
    const note = (level: string) => (first: unknown, text?: string) => lines.push([level, text ?? first]);
    const heard = { info: note('info'), warn: note('warn') } as unknown as Logger;
    await logFonts({ directory: undefined, cells: async () => all, log: heard });
    return lines.map((line) => String(line).slice(0, 40));
  };
  const found = ['info,documents show boxes in place of th'];
  assert.deepEqual(await said(cell('Müller'), cell('株式会社')), found);
  assert.deepEqual(await said(silent, cell('株式会社')), found);
  assert.deepEqual(await said(silent, cell('Müller')), ['warn,it is not known whether a name need']);
  assert.deepEqual(await said(cell('Müller')), []);
});
