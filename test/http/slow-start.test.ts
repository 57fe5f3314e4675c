import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Context } from '../../src/context.ts';
import { createServer } from '../../src/http/server/server.ts';
import { PATIENCE } from '../../src/process/patience.ts';
import { log } from '../world/database.ts';

const MINUTE_MS = 60_000;

test('a listener waits for what it needs, however slow the machine is', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const app = createServer({ name: 'client', context: { log, patience: PATIENCE } as Context });
  let begun = () => {};
  const beginning = new Promise<void>((resolve) => {
    begun = resolve;
  });
  let finish = () => {};
  app.addHook('onReady', () => {
    begun();
    return new Promise<void>((resolve) => {
      finish = resolve;
    });
  });
  const ready = Promise.resolve(app.ready()).then(
    () => 'ready',
    (error: Error) => error.message,
  );
  await beginning;
  t.mock.timers.tick(MINUTE_MS);
  finish();
  assert.equal(await ready, 'ready');
});
