import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MOVES, PAYMENT_STATUSES } from '../../src/payments/moves.ts';
import { page } from './pages.ts';

const { text, prose } = page('docs/payments.md');

test('docs/payments.md has every status and move, and the notification of each move', () => {
  for (const status of PAYMENT_STATUSES) assert.ok(text.includes(`"${status}"`), status);
  for (const [action, { webhook }] of Object.entries(MOVES)) {
    const row = prose.split('\n').find((line) => new RegExp(`^\\| [^|]*\\b${action}\\b`).test(line));
    assert.ok(row, action);
    const cell = row.split('|').at(-2) as string;
    assert.ok(webhook === null ? cell.includes('none') : cell.includes(`\`${webhook}\``), `${action}: ${cell}`);
  }
});

test('its diagram has the moves of the lifecycle, and no others', () => {
  const names = new Map([...text.matchAll(/state "([^"]+)" as (\w+)/g)].map(([, status, name]) => [name, status]));
  const drawn = [...text.matchAll(/^ {2}(\w+) --> (\w+): (.+)$/gm)].flatMap(([, from = '', to = '', moves = '']) =>
    moves.split(', ').map((action) => `${names.get(from)} --> ${names.get(to)}: ${action}`),
  );
  const legal = Object.entries(MOVES).flatMap(([action, { from, to }]) =>
    to === null ? [] : from.map((status) => `${status} --> ${to}: ${action}`),
  );
  assert.deepEqual(drawn.toSorted(), legal.toSorted());
});
