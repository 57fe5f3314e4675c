import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SharedReads } from '../src/database/shared-reads.ts';
import { until } from './world/until.ts';

/** Readings that many callers want at once (src/database/shared-reads.ts). */

/** A thing whose readings end when they are told to. */
function slowThing() {
  const ends: ((fail?: Error) => void)[] = [];
  let value = 0;
  return {
    change: () => {
      value += 1;
    },
    read: () => {
      const found = value;
      const { promise, resolve, reject } = Promise.withResolvers<number>();
      ends.push((fail) => (fail ? reject(fail) : resolve(found)));
      return promise;
    },
    /** Ends the reading that began as the n-th. */
    end: async (n: number, fail?: Error) => {
      ends[n]?.(fail);
      await new Promise((resolve) => setImmediate(resolve));
    },
    get begun() {
      return ends.length;
    },
  };
}

test('who comes during a reading is told what stood when it came, with all others that came then', async () => {
  const [reads, thing] = [new SharedReads<number>(), slowThing()];
  const first = reads.read('a', thing.read);
  thing.change();
  const later = Array.from({ length: 5 }, () => reads.read('a', thing.read));
  assert.equal(thing.begun, 1);
  await thing.end(0);
  assert.equal(await first, 0);
  assert.equal(thing.begun, 2);
  // These came after the second reading began.
  thing.change();
  const last = reads.read('a', thing.read);
  await thing.end(1);
  assert.deepEqual(await Promise.all(later), [1, 1, 1, 1, 1]);
  await thing.end(2);
  assert.equal(await last, 2);
  assert.equal(thing.begun, 3);
});

test('different things are read beside each other, and one alone at once', async () => {
  const [reads, thing] = [new SharedReads<number>(), slowThing()];
  const both = [reads.read('a', thing.read), reads.read('b', thing.read)];
  assert.equal(thing.begun, 2);
  await thing.end(1);
  await thing.end(0);
  assert.deepEqual(await Promise.all(both), [0, 0]);
  const again = reads.read('a', thing.read);
  assert.equal(thing.begun, 3, 'nothing of the former reading is kept');
  await thing.end(2);
  assert.equal(await again, 0);
});

test('a reading that fails is the failure of those who shared it, and of nobody else', async () => {
  const [reads, thing] = [new SharedReads<number>(), slowThing()];
  const first = reads.read('a', thing.read);
  const second = reads.read('a', thing.read);
  const refused = assert.rejects(first, /gone/);
  await thing.end(0, new Error('gone'));
  await refused;
  await thing.end(1);
  assert.equal(await second, 0);
});

test('a reading that hangs does not hold up the readings of those who come later', async () => {
  const [reads, thing] = [new SharedReads<number>(), slowThing()];
  const hanging = reads.read('a', thing.read);
  thing.change();
  const later = reads.read('a', thing.read);
  await until(async () => thing.begun === 2);
  await thing.end(1);
  assert.equal(await later, 1);
  const again = reads.read('a', thing.read);
  await thing.end(2);
  assert.equal(await again, 1);
  await thing.end(0);
  assert.equal(await hanging, 0);
});
