import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { PersonEraser } from '../../src/erasure/person.ts';
import { createDatabase } from '../world/database.ts';

test('a number that several people share goes from the record of the person, and stays in those of the others', () => {
  const phone = '+44 20 7946 0001';
  const eraser = new PersonEraser({
    contactId: 'CON1',
    names: ['Ann Gone'],
    emails: ['ann@gone.example'],
    phones: [phone],
  });
  const record = (contact_id: string) => JSON.stringify({ contact_id, name: 'Ben', phone });
  assert.equal(eraser.json(record('CON2'), false), record('CON2'));
  assert.equal(JSON.parse(eraser.json(record('CON1'), true)).phone, null);
  assert.equal(JSON.parse(eraser.json(JSON.stringify({ note: `call ${phone}` }), false)).note, 'call erased');
});

test('the pattern of the database finds what the erasure replaces, and nothing where nobody is known', async () => {
  const names = ['Ann (Gone)', 'B*b|C. [D] {2}^$+?\\', '***:x', 'Änn'];
  const emails = ["ann+o'hara@gone.example"];
  const eraser = new PersonEraser({ contactId: 'CON1', names, emails, phones: ['+44 20 7946 0001'] });
  const { searchPattern } = new PersonEraser({ contactId: 'CON1', names: [], emails: [], phones: [] });
  const database = await createDatabase();
  const pool = new pg.Pool({ connectionString: database.url });
  try {
    const matches = async (text: string, pattern: string) =>
      (await pool.query('select $1 ~* $2 as matches', [text, pattern])).rows[0].matches;
    for (const known of [...names, ...emails, '+44 20 7946 0001']) {
      for (const text of [known, known.toUpperCase(), JSON.stringify(known), encodeURIComponent(known)]) {
        assert.equal(await matches(`before\n${text} after`, eraser.searchPattern), true, text);
        assert.equal(await matches(text, searchPattern), false, text);
      }
    }
    for (const other of ['Ann Gone', 'BBb', 'C', 'x', '44 20 7946 0001'])
      assert.equal(await matches(other, eraser.searchPattern), false, other);
  } finally {
    await pool.end();
    await database.drop();
  }
});
