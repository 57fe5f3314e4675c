import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BookingQueue } from '../../src/accounts/booking-queue.ts';
import { SILENCE } from '../../src/database/fault.ts';
import { Problem } from '../../src/values/errors.ts';

/** Whose turn it is to book, without a database. */

/** A queue whose turns end when the test says so. */
function held() {
  const turns: { calls: readonly string[]; end: PromiseWithResolvers<(string | Problem | undefined)[]> }[] = [];
  const begin = (calls: readonly string[]) => {
    const end = Promise.withResolvers<(string | Problem | undefined)[]>();
    turns.push({ calls, end });
    return end.promise;
  };
  const queue = new BookingQueue<string, string>({
    alone: async (call) => {
      const [answer] = await begin([call]);
      if (typeof answer === 'string') return answer;
      throw answer;
    },
    together: begin,
  });
  return { queue, turns };
}
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('one that comes alone begins at once, and those that come meanwhile share the next turn', async () => {
  const { queue, turns } = held();
  const first = queue.book('A', '1');
  const others = ['2', '3', '4'].map((call) => queue.book('A', call));
  const elsewhere = queue.book('B', '5');
  assert.deepEqual(
    turns.map(({ calls }) => calls),
    [['1'], ['5']],
  );
  turns[1]?.end.resolve(['five']);
  assert.equal(await elsewhere, 'five');
  turns[0]?.end.resolve(['one']);
  assert.equal(await first, 'one');
  await settled();
  assert.deepEqual(turns[2]?.calls, ['2', '3', '4']);
  const refusal = new Problem('invalid_body', 'body: no');
  turns[2]?.end.resolve(['two', refusal, undefined]);
  assert.equal(await others[0], 'two');
  await assert.rejects(others[1] as Promise<string>, refusal);
  await settled();
  assert.deepEqual(turns[3]?.calls, ['4'], 'one without an answer is booked alone');
  turns[3]?.end.resolve(['four']);
  assert.equal(await others[2], 'four');
  const later = queue.book('A', '6');
  await settled();
  assert.deepEqual(turns[4]?.calls, ['6']);
  turns[4]?.end.resolve(['six']);
  assert.equal(await later, 'six');
});

test('a turn that waits in vain ends the wait of all behind it', async () => {
  for (const message of [SILENCE, 'timeout exceeded when trying to connect']) {
    const { queue, turns } = held();
    const calls = ['1', '2', '3'].map((call) => queue.book('A', call));
    turns[0]?.end.reject(new Error(message));
    const ended = await Promise.allSettled(calls);
    assert.deepEqual(
      ended.map((each) => each.status === 'rejected' && each.reason.message),
      [message, message, message],
    );
    assert.equal(turns.length, 1);
    queue.book('A', '4').catch(() => {});
    assert.equal(turns.length, 2);
  }
});

test('another failure is that of its own turn', async () => {
  const { queue, turns } = held();
  const calls = ['1', '2', '3', '4'].map((call) => queue.book('A', call));
  turns[0]?.end.reject(new Error('Connection terminated'));
  await assert.rejects(calls[0] as Promise<string>, /terminated/);
  await settled();
  assert.deepEqual(turns[1]?.calls, ['2', '3', '4']);
  const next = queue.book('A', '5');
  turns[1]?.end.reject(new Error('Connection terminated'));
  for (const call of calls.slice(1)) await assert.rejects(call, /terminated/);
  await settled();
  assert.deepEqual(turns[2]?.calls, ['5']);
  turns[2]?.end.resolve(['five']);
  assert.equal(await next, 'five');
});
