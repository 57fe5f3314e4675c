/** When the tasks of a cell run, and who is woken, as a table of what happens to it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CellRhythm, cellsInTurn, inRhythm, inTurn, restAmong } from '../../src/database/cells/activity.ts';
import { startTestService } from '../world/service.ts';
import { createStatementWorld } from '../world/statements.ts';

test('a task has a turn in a cell where something was written since the last one', () => {
  const rhythm = new CellRhythm(1);
  const [task, other] = [{}, {}];
  const turns = (...tasks: object[]) => tasks.map((each) => rhythm.takesTurn(each));
  assert.deepEqual(turns(task, task), [true, false], 'the first turn, and then none');
  rhythm.stir();
  assert.deepEqual(turns(task, other, task, other), [true, true, false, false], 'one for each task after a write');
  rhythm.againFor(task);
  assert.deepEqual(turns(task, other, task), [true, false, false], 'one more for a task that left something behind');
  rhythm.againFor(task, 60_000);
  assert.deepEqual(turns(task), [false], 'not before its time');
  rhythm.stir();
  assert.deepEqual(turns(task), [true], 'a write comes first');
  rhythm.stir();
  rhythm.againFor(task, 60_000);
  assert.deepEqual(turns(task), [true], 'also one that came during the turn');
});

test('a task that may wait rests between its turns, the longer the more cells there are', () => {
  const rhythm = new CellRhythm(1);
  const task = {};
  rhythm.stir();
  assert.ok(rhythm.takesTurn(task, 60_000), 'the first turn');
  rhythm.stir();
  assert.equal(rhythm.takesTurn(task, 60_000), false, 'a write waits for the next one');
  assert.ok(rhythm.takesTurn(task, 0), 'and has it when the rest is over');
  rhythm.stir();
  rhythm.againFor(task);
  assert.ok(rhythm.takesTurn(task, 60_000), 'what was left behind does not wait');
  assert.deepEqual([2, 8, 32, 1_000].map(restAmong), [250, 1_000, 4_000, 4_000]);
});

test('tasks are woken by the first write after a pause', () => {
  const rhythm = new CellRhythm(1);
  let woken = 0;
  rhythm.wakes({ wake: () => void (woken += 1) });
  assert.equal(rhythm.busy, false);
  rhythm.stir();
  rhythm.stir();
  assert.deepEqual([rhythm.busy, woken], [true, 1]);
});

test('a task of one cell runs as often as it asks where something is written', async () => {
  const rhythm = new CellRhythm(1);
  let runs = 0;
  const asked = { intervalMs: () => 250, run: async () => void (runs += 1) };
  const task = inRhythm({ rhythm }, asked);
  const interval = task.intervalMs as () => number;
  assert.ok(interval() > 1_000, 'a long one in a cell where nothing happens');
  rhythm.stir();
  assert.equal(interval(), 250);
  await task.run();
  await task.run();
  assert.equal(runs, 1);
  rhythm.stir();
  await task.run();
  assert.equal(runs, 2);
});

test('a task that fails in a cell has another turn there, and only there', async () => {
  const [one, other] = [{ rhythm: new CellRhythm(1) }, { rhythm: new CellRhythm(2) }];
  const worked: number[] = [];
  const work = inTurn<typeof one>({}, async ({ rhythm }) => {
    worked.push(rhythm.cell);
    if (rhythm === one.rhythm && worked.length === 1) throw new Error('the cell does not answer');
  });
  await assert.rejects(work(one), /does not answer/);
  for (const cell of [other, one, other, one]) await work(cell);
  assert.deepEqual(worked, [1, 2, 1]);
});

test('a database with one cell has no rhythm', () => {
  const task = { intervalMs: 250, run: async () => {} };
  assert.equal(inRhythm({}, task), task);
  const cells = [{}];
  assert.deepEqual([cellsInTurn(cells, task), cellsInTurn(cells, task)], [cells, cells]);
});

test('a commit wakes who does what it has left, before the answer; a refusal wakes nobody', async () => {
  // Nobody works in this process beside who listens here.
  const service = await startTestService({ LOMBARD_ROLES: 'api,auth,operator' });
  try {
    const world = await createStatementWorld(service, ['EUR']);
    const woken: string[] = [];
    const { activity } = service.service.context;
    activity.listen(
      { work: ['events', 'queue'], wake: (_cells, left) => void woken.push(`engine: ${[...left].sort().join(' ')}`) },
      { work: ['changes'], wake: () => void woken.push('publisher') },
      { work: ['statements'], wake: () => void woken.push('statements') },
    );
    const nothing = {
      client_id: world.clientId,
      currency_account_id: world.accounts.get('EUR'),
      kind: 'CREDIT_TRANSACTION',
    };
    assert.equal((await service.operator('POST', '/transactions', nothing)).status, 400);
    assert.deepEqual(woken, []);
    await world.book('EUR', 'CREDIT_TRANSACTION', '5.00');
    assert.deepEqual(woken.splice(0), ['engine: audit changes events', 'publisher']);
    const asked = await world.ask({ date_from: '2026-01-01', date_to: '2026-01-31' });
    assert.equal(asked.status, 202, asked.text);
    assert.deepEqual(woken.splice(0), ['publisher', 'statements']);
  } finally {
    await service.stop();
  }
});
