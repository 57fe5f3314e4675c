import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WhenLocked } from '../../src/database/database.ts';
import { SILENCE } from '../../src/database/fault.ts';
import { ChangeQueue } from '../../src/http/server/change-queue.ts';
import { Problem } from '../../src/values/errors.ts';

/** Whose turn it is to book, without a database. */

interface Turn {
  calls: readonly string[];
  whenLocked: WhenLocked;
  end: PromiseWithResolvers<(string | Problem | undefined)[]>;
}

/** A queue whose turns end when the test says so. */
function held() {
  const turns: Turn[] = [];
  const queue = new ChangeQueue<string, string>((calls, whenLocked) => {
    const end = Promise.withResolvers<(string | Problem | undefined)[]>();
    turns.push({ calls, whenLocked, end });
    return end.promise;
  });
  const book = (account: string, call: string) => queue.run(0, account, call);
  return { queue, book, turns, begun: () => turns.map(({ calls }) => calls.join(' ')) };
}
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('one that comes alone begins at once, and those that come meanwhile share the next turn', async () => {
  const { book, turns, begun } = held();
  const first = book('A', 'a1');
  const others = ['a2', 'b1', 'b2', 'c1'].map((call) => book(call[0]?.toUpperCase() ?? '', call));
  assert.deepEqual(begun(), ['a1']);
  turns[0]?.end.resolve(['a1 booked']);
  assert.equal(await first, 'a1 booked');
  await settled();
  assert.deepEqual(begun().slice(1), ['a2 b1 b2 c1']);
  const refusal = new Problem('invalid_body', 'body: no');
  turns[1]?.end.resolve(['a2 booked', 'b1 booked', refusal, 'c1 booked']);
  assert.deepEqual(await Promise.all([others[0], others[1], others[3]]), ['a2 booked', 'b1 booked', 'c1 booked']);
  await assert.rejects(others[2] as Promise<string>, refusal);
  const later = book('A', 'a3');
  assert.deepEqual(begun().slice(2), ['a3']);
  turns[2]?.end.resolve(['a3 booked']);
  assert.equal(await later, 'a3 booked');
});

test('a turn leaves out the bookings of a locked account, which then wait without the others', async () => {
  const { book, turns, begun } = held();
  const first = book('Z', 'z1');
  const calls = ['b1', 'b2', 'c1'].map((call) => book(call[0]?.toUpperCase() ?? '', call));
  turns[0]?.end.resolve(['z1 booked']);
  await first;
  await settled();
  assert.deepEqual(begun().slice(1), ['b1 b2 c1']);
  assert.equal(turns[1]?.whenLocked, 'leave out');
  turns[1]?.end.resolve([undefined, undefined, 'c1 booked']);
  assert.equal(await calls[2], 'c1 booked');
  await settled();
  assert.deepEqual(begun().slice(2), ['b1 b2']);
  assert.equal(turns[2]?.whenLocked, 'wait');
  const behind = book('B', 'b3');
  const elsewhere = book('D', 'd1');
  assert.deepEqual(begun().slice(3), ['d1'], 'the locked account takes no turn of others');
  turns[3]?.end.resolve(['d1 booked']);
  assert.equal(await elsewhere, 'd1 booked');
  turns[2]?.end.resolve(['b1 booked', undefined]);
  assert.equal(await calls[0], 'b1 booked');
  await settled();
  assert.deepEqual(begun().slice(4), ['b2'], 'one that still cannot share is booked alone');
  turns[4]?.end.resolve(['b2 booked']);
  assert.equal(await calls[1], 'b2 booked');
  await settled();
  assert.deepEqual(begun().slice(5), ['b3']);
  turns[5]?.end.resolve(['b3 booked']);
  assert.equal(await behind, 'b3 booked');
});

test('bookings of different cells share no transaction', async () => {
  const { queue, turns, begun } = held();
  for (const cell of [0, 1]) for (const n of [1, 2, 3]) void queue.run(cell, `${cell}-${n}`, `${cell}-${n}`);
  assert.deepEqual(begun(), ['0-1', '1-1']);
  turns[0]?.end.resolve(['booked']);
  await settled();
  assert.deepEqual(begun().slice(2), ['0-2 0-3']);
});

test('a turn that waits in vain ends the wait of all behind it', async () => {
  for (const message of [SILENCE, 'timeout exceeded when trying to connect']) {
    const { book, turns } = held();
    const calls = ['1', '2', '3'].map((call) => book('A', call));
    turns[0]?.end.reject(new Error(message));
    const ended = await Promise.allSettled(calls);
    assert.deepEqual(
      ended.map((each) => each.status === 'rejected' && each.reason.message),
      [message, message, message],
    );
    assert.equal(turns.length, 1);
    book('A', '4').catch(() => {});
    assert.equal(turns.length, 2);
  }
});

test('a locked account that is never free ends the wait of its own bookings only', async () => {
  const { book, turns, begun } = held();
  const own = [book('A', 'a1'), book('A', 'a2')];
  turns[0]?.end.resolve([undefined]);
  await settled();
  assert.equal(turns[1]?.whenLocked, 'wait');
  const other = book('B', 'b1');
  const waiting = book('C', 'c1');
  turns[1]?.end.reject(new Error(SILENCE));
  for (const call of own) await assert.rejects(call, new RegExp(SILENCE));
  turns[2]?.end.resolve(['b1 booked']);
  assert.equal(await other, 'b1 booked');
  await settled();
  assert.deepEqual(begun(), ['a1', 'a1', 'b1', 'c1']);
  turns[3]?.end.resolve(['c1 booked']);
  assert.equal(await waiting, 'c1 booked');
});

test('another failure is that of its own turn', async () => {
  const { book, turns, begun } = held();
  const calls = ['1', '2', '3', '4'].map((call) => book('A', call));
  turns[0]?.end.reject(new Error('Connection terminated'));
  await assert.rejects(calls[0] as Promise<string>, /terminated/);
  await settled();
  assert.deepEqual(begun().slice(1), ['2 3 4']);
  const next = book('A', '5');
  turns[1]?.end.reject(new Error('Connection terminated'));
  for (const call of calls.slice(1)) await assert.rejects(call, /terminated/);
  await settled();
  assert.deepEqual(begun().slice(2), ['5']);
  turns[2]?.end.resolve(['five']);
  assert.equal(await next, 'five');
});
