import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { defaultPrograms, NO_DEFAULT_POSTGRESQL } from '../world/default-postgresql.ts';
import { CHECK_NAMES } from './checks.ts';
import { FAULTS, type Fault } from './faults.ts';
import { runRounds } from './rounds.ts';

/** A short run of `npm run faults`: the faults that are soon over. The long run has all of them (docs/faults.md). */
const QUICK = ['kill -9, process 0', 'kill -9 of the database'];
const SEED = Number(process.env.LOMBARD_TEST_SEED ?? Date.now() % 100_000);
const RECOVERY_SECONDS = 60;
/** Node waits for ever, at its end, for some requests to processes that were killed. By now everything is told. */
const EXIT_AFTER_MS = 1_000;
const skip = defaultPrograms() ? false : NO_DEFAULT_POSTGRESQL;

after(() => void setTimeout(() => process.exit(), EXIT_AFTER_MS));

/** What somebody who wants to see the checks fail does to the data and to a process. Each of them has something to find. */
const TAMPERING: Fault = {
  name: 'somebody changes the data',
  inflict: async ({ databases, workers }) => {
    workers[0]?.signal('SIGKILL');
    await databases.command(
      'alter table audit disable trigger all',
      `delete from audit where id = (select max(id) from audit where entity = 'transaction' and action = 'create' and request_id like 'F%')`,
      // Of a payment of an owner: what is told of erased persons is not looked at.
      `delete from webhook_events where id = (select min(e.id) from webhook_events e
         join payments p on p.payment_id = substring(e.body from '"payment_id":"([^"]+)"') and p.ordered_by_name like 'Owner of %'
         where e.type = 'PAYMENT_STATUS_CHANGE')`,
      // The accounts of statements stay right: one whose balance is wrong is not sent, and tried again for days.
      `update currency_accounts set balance = balance + 1, held = held + 1 where currency <> 'EUR'`,
      `update payment_approvals set authorisations = json_build_array(authorisations->0, authorisations->0) where json_array_length(authorisations) = 1`,
      'update trades set allocated = allocated + 1',
      'update mass_payments set made = made + 1',
      'update payment_totals set n = n + 1',
      `update contacts set phone = '+442079460000'`,
      `insert into approval_configurations (client_id, version, id, configuration, created_at, created_by)
         select client_id, version + 100, gen_random_uuid(), configuration, now(), 'nobody' from approval_configurations where version = 1`,
      'delete from mailbox',
      // What is sent after this moment leaves no history either: a replay would bring it back.
      'delete from attempts',
      `create function forget() returns trigger language plpgsql as 'begin return null; end'`,
      'create trigger forget before insert on attempts for each row execute function forget()',
      'update operator_tokens set revoked_at = null',
      'delete from change_consumers',
      'update audit set staff = null where staff is not null',
      `update contacts set name = 'Gone' where name = 'erased'`,
      `insert into audit (at, actor, request_id, action, entity, entity_id, client_id, after)
         select now(), 'nobody', 'forged', 'action', 'client', client_id, client_id, '{"action": "move", "from_cell": 0, "to_cell": 1}' from clients`,
      `insert into migrations (number, name, sha256, oldest_program) values (9999, 'of nobody', '', 1)`,
    );
  },
};

test('processes and connections break under a workload of all changes: nothing is lost, and nothing is done twice', {
  skip,
  timeout: 280_000,
}, async (t) => {
  t.diagnostic(`seed ${SEED}`);
  const faults = FAULTS.filter(({ name }) => QUICK.includes(name));
  assert.equal(faults.length, QUICK.length);
  const rounds = [faults, [TAMPERING]];
  const [lasting, tampered] = await runRounds({
    ...{ small: true, seed: SEED, recoverySeconds: RECOVERY_SECONDS },
    faults: (round) => rounds[round],
    // A test that has run out of time ends what it started.
    isOver: () => t.signal.aborted,
    say: (line) => t.diagnostic(line),
  });
  assert.deepEqual(lasting, []);
  assert.deepEqual(
    tampered?.map((finding) => finding.slice(0, finding.indexOf(':'))),
    CHECK_NAMES,
  );
});
