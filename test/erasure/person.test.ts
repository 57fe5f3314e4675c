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

const named = (...names: string[]) => new PersonEraser({ contactId: 'CON1', names, emails: [], phones: [] });

/** Names, a text, and the text without them. */
const TEXTS: [names: string[], text: string, clean: string][] = [
  [['李明'], 'body.name: "李明" is taken', 'body.name: "erased" is taken'],
  [['李明'], '客户李明的付款', '客户erased的付款'],
  [['李明'], '?name=%E6%9D%8E%E6%98%8E', '?name=erased'],
  [['李小明'], '请联系李小明。', '请联系erased。'],
  [['김철수'], '김철수는 승인했다', 'erased는 승인했다'],
  [['明'], '明 and 明天, 聪明', 'erased and 明天, 聪明'],
  [['Bo'], "Dear Bo,\nBo's payment (Bo)", "Dear erased,\nerased's payment (erased)"],
  [
    ['Bo'],
    'Bob, about, BO, bo, Bo-Yang, Li-Bo, bo@x.example, Bo@x.example',
    'Bob, about, BO, bo, Bo-Yang, Li-Bo, bo@x.example, Bo@x.example',
  ],
  [['An'], 'an error of An', 'an error of erased'],
  [['Ö'], 'Ö, Öl, schön', 'erased, Öl, schön'],
  [['X'], 'X: X-Request-ID, text, x', 'erased: X-Request-ID, text, x'],
];

test('short names, and names in scripts without spaces', () => {
  for (const [names, text, clean] of TEXTS) assert.equal(named(...names).text(text), clean, text);
});

test('a short name goes from records, and from a mail to somebody else', () => {
  for (const name of ['李明', '明', 'Bo', 'X']) {
    const record = JSON.stringify({ contact_id: 'CON1', contact_name: name });
    assert.equal(JSON.parse(named(name).json(record, false)).contact_name, 'erased');
    const mail = JSON.stringify({ to: 'other@x.example', text: `Dear Other,\n\n${name} has rejected it.` });
    assert.equal(JSON.parse(named(name).mail(mail)).text, 'Dear Other,\n\nerased has rejected it.');
  }
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
    for (const [names, text, clean] of TEXTS)
      for (const written of [text, JSON.stringify({ text })])
        if (text !== clean) assert.equal(await matches(written, named(...names).searchPattern), true, written);
    for (const name of ['Bo', 'X', '明'])
      for (const written of [JSON.stringify([`${name}\n\n`]), JSON.stringify([`\n\n${name},`])])
        assert.equal(await matches(written, named(name).searchPattern), true, written);
    for (const text of ['about', 'Bob'])
      assert.equal(await matches(text, named('Bo').searchPattern), false, 'most texts are not even read');
    for (const other of ['Ann Gone', 'BBb', 'C', 'x', '44 20 7946 0001'])
      assert.equal(await matches(other, eraser.searchPattern), false, other);
  } finally {
    await pool.end();
    await database.drop();
  }
});
