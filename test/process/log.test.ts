import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog } from '../../src/process/log.ts';

/** What a log writes of records, with its lines kept here. */
function logged(...records: object[]): Record<string, unknown>[] {
  const lines: string[] = [];
  const log = createLog('info', false);
  const stream = Object.getOwnPropertySymbols(log).find((symbol) => String(symbol) === 'Symbol(pino.stream)');
  Object.assign(log, { [stream as symbol]: { write: (line: string) => void lines.push(line) } });
  for (const record of records) log.info(record, 'said');
  return lines.map((line) => {
    const { level, time, host, pid, msg, ...own } = JSON.parse(line);
    assert.deepEqual([level, msg], [30, 'said']);
    return own;
  });
}

test('values of secret fields are not logged, at the top of a record and one level below', () => {
  const application = { client_id: 'APP000001', client_secret: 'hidden', token: 'hidden' };
  const record = { code: 'authentication_failed', password: 'hidden', secret: null, token: undefined, application };
  assert.deepEqual(logged(record), [
    {
      code: 'authentication_failed',
      password: '[redacted]',
      secret: '[redacted]',
      application: { client_id: 'APP000001', client_secret: '[redacted]', token: '[redacted]' },
    },
  ]);
  assert.deepEqual(application, { client_id: 'APP000001', client_secret: 'hidden', token: 'hidden' }, 'it is a copy');
});

test('everything else is logged as it is', () => {
  const at = new Date('2026-11-28T10:00:00.000Z');
  const [line, failure] = logged({ at, list: ['a', { b: 1 }], nothing: null, text: 'token' }, new Error('broken'));
  assert.deepEqual(line, { at: at.toJSON(), list: ['a', { b: 1 }], nothing: null, text: 'token' });
  assert.match(JSON.stringify(failure), /"message":"broken"/);
});
