import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultPrograms, NO_DEFAULT_POSTGRESQL } from '../world/default-postgresql.ts';
import { FAULTS } from './faults.ts';
import { runRounds } from './rounds.ts';

/** A short run of `npm run faults`: the faults that are soon over. The long run has all of them (docs/faults.md). */
const QUICK = ['kill -9, process 0', 'all connections break', 'kill -9 of the database'];
const SEED = Number(process.env.LOMBARD_TEST_SEED ?? Date.now() % 100_000);
const skip = defaultPrograms() ? false : NO_DEFAULT_POSTGRESQL;

test('processes and connections break under a workload of all changes: nothing is lost, and nothing is done twice', {
  skip,
  timeout: 170_000,
}, async (t) => {
  t.diagnostic(`seed ${SEED}`);
  const faults = FAULTS.filter(({ name }) => QUICK.includes(name));
  assert.equal(faults.length, QUICK.length);
  const findings = await runRounds({
    seed: SEED,
    faults,
    more: (rounds) => rounds === 0,
    say: (line) => t.diagnostic(line),
  });
  assert.deepEqual(findings, []);
});
