import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Daily } from '../../src/process/daily.ts';

/** A task with its clock; `fails` makes its next runs fail. */
function daily(mayWait?: (day: string) => Promise<boolean>) {
  const state = { now: new Date('2026-11-22T23:59:59Z'), runs: [] as string[], fails: false };
  const task = new Daily({
    clock: { now: () => state.now },
    run: async (now) => {
      state.runs.push(now.toISOString().slice(0, 10));
      if (state.fails) throw new Error('locked');
    },
    ...(mayWait && { mayWait }),
  });
  return { state, task };
}

test('a daily task runs once for each UTC day, to which the clock may jump', async () => {
  const { state, task } = daily();
  for (const moment of [
    '2026-11-22T23:59:59Z',
    '2026-11-23T00:00:00Z',
    '2026-11-23T12:00:00Z',
    '2027-01-01T00:00:00Z',
    '2026-11-23T13:00:00Z',
  ]) {
    state.now = new Date(moment);
    await task.keep();
    await task.keep();
  }
  assert.deepEqual(state.runs, ['2026-11-22', '2026-11-23', '2027-01-01', '2026-11-23']);
});

test('a run that failed waits a minute, unless it may not', async () => {
  const patient = daily();
  patient.state.fails = true;
  await assert.rejects(patient.task.keep(), /locked/);
  await patient.task.keep();
  assert.equal(patient.state.runs.length, 1);

  const asked: string[] = [];
  const urgent = daily(async (day) => {
    asked.push(day);
    return false;
  });
  urgent.state.fails = true;
  await assert.rejects(urgent.task.keep(), /locked/);
  urgent.state.fails = false;
  await urgent.task.keep();
  await urgent.task.keep();
  assert.deepEqual([urgent.state.runs.length, asked], [2, ['2026-11-22']]);
});
