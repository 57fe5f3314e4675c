import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PersonEraser } from '../../src/erasure/person.ts';

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
