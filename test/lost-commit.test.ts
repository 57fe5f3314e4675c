import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { audit } from '../src/audit/record.ts';
import { connect } from '../src/database/database.ts';
import { requireStanding } from '../src/database/lost-commit.ts';
import { createPool } from '../src/database/pools.ts';
import { type ApprovalsWorld, approvalsWorld } from './world/approvals.ts';
import { ONE_CELL } from './world/cells.ts';
import { createDatabase, log } from './world/database.ts';
import { type PageCall, pageSession } from './world/page-session.ts';
import { startTestService, type TestService } from './world/service.ts';
import { until } from './world/until.ts';
import { Wire } from './world/wire.ts';

/** The connection breaks while a transaction commits. What the service says is what the database has. */

/** `before`: the commit never arrives. `meanwhile`: it arrives. `after`: its answer gets lost. */
type When = 'before' | 'meanwhile' | 'after';

/** Stands between the service and its database, and cuts the connection of a transaction that says something. */
class Cutter extends Wire {
  #armed: { says: string[]; when: When } | undefined;
  cuts = 0;

  /** @param says texts that the statements of the transaction, or their values, have: all of them */
  arm(when: When, ...says: string[]): void {
    this.#armed = { when, says };
    this.cuts = 0;
  }

  protected carry(near: Socket, far: Socket): void {
    let said = '';
    let answerIsLost = false;
    const cut = () => {
      this.cuts += 1;
      near.destroy();
      far.destroy();
    };
    far.on('data', (data) => (answerIsLost ? cut() : near.write(data)));
    near.on('data', (data) => {
      said += data.toString('latin1');
      if (!said.includes('commit\0')) return void far.write(data);
      const { says, when } = this.#armed ?? {};
      // Only what the transaction itself has said.
      const meant = says?.every((text) => said.includes(text, said.lastIndexOf('begin\0')));
      said = '';
      if (!meant) return void far.write(data);
      this.#armed = undefined;
      if (when === 'before') return cut();
      answerIsLost = when === 'after';
      far.write(data, () => when === 'meanwhile' && cut());
    });
  }
}

let cutter: Cutter;
let service: TestService;
let world: ApprovalsWorld;
let page: PageCall;

before(async () => {
  const database = await createDatabase();
  cutter = new Cutter(new URL(database.url));
  service = await startTestService({}, { ...database, url: await cutter.open(new URL(database.url)) });
  world = await approvalsWorld(service, ['Ann']);
  await world.configure({ A: ['Ann'] }, [['0', [['A']]]]);
  page = (await pageSession(service, world.person('Ann').id)).call;
});
after(async () => {
  await service.stop();
  cutter.close();
});

const approveAll = (ids: string[]) =>
  page('POST', `/app/data/approvals?client_id=${world.clientId}`, { payment_ids: ids });
const statusOf = async (id: string) => (await world.payment(id)).status;
const PENDING = 'Payment pending of authorization';
/** The name of the statement that authorises payments. */
const AUTHORISES = 'payments-authorise';

test('an approval of several whose answer was lost is told as it stands: all of them, or none', async () => {
  for (const [when, stands] of [
    ['after', true],
    ['before', false],
  ] as const) {
    const ids = [await world.create(), await world.create(), await world.create()];
    const [, second = ''] = ids;
    // Work that follows the creation names the payment too, and copies its fields to the first cell.
    cutter.arm(when, second, AUTHORISES);
    const { status, body } = await approveAll(ids);
    assert.equal(cutter.cuts, 1);
    if (stands) assert.deepEqual(body, { approved: ids, failed: [] }, when);
    else assert.equal(status, 502, when);
    for (const id of ids) assert.equal((await statusOf(id)) === PENDING, !stands, when);
  }
});

test('while the server is still deciding, the service waits for what it decides', { skip: ONE_CELL }, async () => {
  const id = await world.create();
  await service.query(
    `create function wait_for_test() returns trigger language plpgsql as $$ begin perform pg_advisory_xact_lock(4711); return null; end $$`,
  );
  await service.query(
    `create constraint trigger wait_for_test after insert on audit deferrable initially deferred for each row
     when (new.entity_id = '${id}') execute function wait_for_test()`,
  );
  const [{ pid }] = (await service.query('select pg_backend_pid() as pid, pg_advisory_lock(4711)')).rows;
  cutter.arm('meanwhile', id, AUTHORISES);
  const answer = approveAll([id]);
  await until(async () => {
    const asking = `select from pg_stat_activity where datname = current_database() and application_name = 'lombard-lost-commit'
      and wait_event = 'transactionid'`;
    return (await service.query(asking)).rows.length > 0;
  });
  // It ends the session that has the lock.
  await service.query('select pg_terminate_backend($1)', [pid]).catch(() => {});
  assert.deepEqual((await answer).body, { approved: [id], failed: [] });
  await service.query('drop trigger wait_for_test on audit');
  assert.notEqual(await statusOf(id), PENDING);
});

test('single changes of contacts and of the institution', async () => {
  const [first, second] = [await world.create(), await world.create()];
  cutter.arm('after', first, AUTHORISES);
  assert.equal((await world.patch(world.person('Ann'), first, 'authorise')).status, 204);
  cutter.arm('before', second, AUTHORISES);
  const refused = await world.patch(world.person('Ann'), second, 'authorise');
  assert.deepEqual([refused.status, refused.body.code], [502, 'integration_error']);
  const name = 'A client of a lost answer';
  const make = () =>
    service.operator('POST', '/clients', { client_name: name }, { headers: { 'idempotency-key': name } });
  cutter.arm('after', name);
  const made = await make();
  assert.equal(made.status, 201, made.text);
  assert.equal(cutter.cuts, 1);
  assert.deepEqual((await make()).body, made.body);
});

test('an import tells how far it has got, and is done where it is', async () => {
  const send = async (name: string, lines: number) => {
    const records = Array.from({ length: lines }, (_, n) => ({ name, email: `${name}.${n}@example.com`, clients: [] }));
    const answer = await service.operator('POST', '/imports/contacts', undefined, {
      raw: records.map((record) => JSON.stringify(record)).join('\n'),
      headers: { 'content-type': 'application/x-ndjson' },
    });
    const { rows } = await service.query('select from contacts where name = $1', [name]);
    assert.equal(cutter.cuts, 1);
    return { ...answer, rows: rows.length };
  };
  // A batch has 500 lines.
  cutter.arm('after', 'first.0@');
  const broken = await send('first', 501);
  assert.deepEqual([broken.status, broken.rows], [502, 500], broken.text);
  assert.match(broken.body.details, /; lines 1 to 500 were processed: 500 accepted, 0 rejected$/);
  cutter.arm('before', 'none.0@');
  const none = await send('none', 3);
  assert.deepEqual([none.status, none.rows], [502, 0], none.text);
  assert.match(none.body.details, /; no line was imported$/);
  for (const says of ['last.0@', 'done']) {
    cutter.arm('after', says);
    const done = await send(says === 'done' ? 'end' : 'last', 3);
    assert.deepEqual([done.status, done.body.accepted, done.rows], [200, 3, 3], done.text);
  }
});

test('a number that a killed server gives again is not taken for the row that was lost', async () => {
  const pool = createPool(service.databaseUrl, log, { max: 1 });
  const tx = await connect(pool);
  try {
    tx.later('begin');
    const now = new Date();
    const entry = { action: 'update' as const, entity: 'client', entityId: world.clientId, before: 1, after: 2 };
    audit(tx, { now, actor: 'service:test', requestId: 'lost' }, { ...entry, entity: 'thing' });
    await tx.caughtUp();
    const { rows } = await tx.query("select currval(pg_get_serial_sequence('audit', 'id'))::int as id");
    const lost = new Error('Connection terminated unexpectedly');
    const another = () => new pg.Client({ connectionString: service.databaseUrl });
    await tx.query('rollback');
    const again = `insert into audit (id, at, actor, request_id, action, entity, entity_id) overriding system value
      values ($1, $2, 'service:test', 'another', 'update', 'thing', $3)`;
    await service.query(again, [rows[0]?.id, now, world.clientId]);
    await assert.rejects(requireStanding(tx, lost, another), lost);
  } finally {
    tx.release(true);
    await pool.end();
  }
});
