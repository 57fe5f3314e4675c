import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { defaultPrograms, NO_DEFAULT_POSTGRESQL } from '../world/default-postgresql.ts';
import { CHECK_NAMES } from './checks.ts';
import { FAULTS, type Fault } from './faults.ts';
import { runRounds } from './rounds.ts';

/** A short run of `npm run faults`: the faults that are soon over. The long run has all of them (docs/faults.md). */
const QUICK = ['kill -9, process 0', 'kill -9 of the database'];
const SEED = Number(process.env.LOMBARD_TEST_SEED ?? Date.now() % 100_000);
const skip = defaultPrograms() ? false : NO_DEFAULT_POSTGRESQL;

/** Sockets of processes that were killed can stay behind; they hold nobody up. */
const EXIT_AFTER_MS = 1_000;
after(() => void setTimeout(() => process.exit(), EXIT_AFTER_MS).unref());

/** What somebody who wants to see the checks fail does to the data. Each of them has something to find. */
const TAMPERING: Fault = {
  name: 'somebody changes the data',
  inflict: ({ databases }) =>
    databases.command(
      'alter table audit disable trigger all',
      `delete from audit where id = (select max(id) from audit where entity = 'transaction' and action = 'create' and request_id like 'F%')`,
      `delete from delivery.events where id = (select min(id) from delivery.events where type = 'PAYMENT_STATUS_CHANGE')`,
      `update currency_accounts set balance = balance + 1`,
      `update payment_approvals set authorisations = json_build_array(authorisations->0, authorisations->0) where json_array_length(authorisations) = 1`,
      'update payment_totals set n = n + 1',
      `update contacts set phone = '+442079460000'`,
    ),
};

test('processes and connections break under a workload of all changes: nothing is lost, and nothing is done twice', {
  skip,
  timeout: 170_000,
}, async (t) => {
  t.diagnostic(`seed ${SEED}`);
  const faults = FAULTS.filter(({ name }) => QUICK.includes(name));
  assert.equal(faults.length, QUICK.length);
  const rounds = [faults, [TAMPERING]];
  const [lasting, tampered] = await runRounds({
    small: true,
    seed: SEED,
    faults: (round) => rounds[round],
    say: (line) => t.diagnostic(line),
  });
  assert.deepEqual(lasting, []);
  assert.deepEqual(
    tampered?.map((finding) => finding.slice(0, finding.indexOf(':'))),
    CHECK_NAMES,
  );
});
