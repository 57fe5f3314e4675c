import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Secret, TOTP } from 'otpauth';
import pg from 'pg';
import { MOVED_TABLES } from '../../src/database/cells/tables.ts';
import { LOCKS } from '../../src/database/locks.ts';
import { migrate } from '../../src/database/migrate.ts';
import { rowsOf } from '../../src/relocation/relocation.ts';
import { OWN_LOCKS } from '../world/cells.ts';
import { lombard } from '../world/command.ts';
import { createClusterDatabase, createEmptyDatabase, log, type TestDatabase } from '../world/database.ts';
import { FX_OPEN, moveClock } from '../world/exchange.ts';
import { filesOf, NEW, ROW } from '../world/files.ts';
import { ordersWorld } from '../world/orders.ts';
import { type Answer, startTestService, type TestService } from '../world/service.ts';
import { treasuryOf } from '../world/treasury.ts';
import { until } from '../world/until.ts';

/** A client that orders is moved to another cell: nothing is lost, no hold stays, no key is forgotten (docs/scale.md, Cells). */

const ORDERING = ['can_create_payments', 'can_manage_multipayments', 'can_manage_beneficiaries', 'can_trade'];
/** Rows of the file that is made while its client moves. */
const ROWS = 400;

let database: TestDatabase;
let service: TestService;
before(async () => {
  database = (await createClusterDatabase()) ?? (await createEmptyDatabase());
  await migrate(database.url, log, { cells: 2, trialCells: true });
  service = await startTestService({}, { url: database.url, drop: async () => {} });
  await moveClock(service, FX_OPEN);
  await service.operator('PUT', '/exchange-rates', { base_currency: 'GBP', rates: { EUR: 1.185, USD: 1.25 } });
  // A quote outlives the move, which takes a minute on a slow machine.
  await service.operator('PUT', '/pricing', { quote_seconds: 3_600 });
});
after(async () => {
  await service?.stop();
  await database?.drop();
});

const totp = (secret: string) =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({
    timestamp: service.service.context.clock.now().getTime(),
  });

/** The cell of a client, and where it goes. */
async function homeOf(clientId: string): Promise<{ cell: number; moves_to: number | null }> {
  return (await service.query('select cell, moves_to from clients where client_id = $1', [clientId])).rows[0];
}

/** Starts the move of a client to the other cell. */
async function move(clientId: string) {
  const { cell } = await homeOf(clientId);
  const to = cell === 1 ? 2 : 1;
  const command = lombard(['cells', 'move-client', clientId, `public_cell_${to}`], { DATABASE_URL: database.url });
  return {
    from: `public_cell_${cell}`,
    to: `public_cell_${to}`,
    done: command.ended.then(({ code, stderr }) => assert.deepEqual([code, stderr], [0, ''])),
  };
}

/** How many rows a client has in each table of a cell. */
async function rowsIn(schema: string, clientId: string): Promise<[string, number][]> {
  const counted: [string, number][] = [];
  for (const table of MOVED_TABLES) {
    const text = `select count(*)::int as n from ${schema}.${table} where ${rowsOf(table, `${schema}.`)}`;
    counted.push([table, (await service.query(text, [clientId])).rows[0].n]);
  }
  return counted;
}

test('a client that orders is moved: nothing is lost, no hold stays, no key is forgotten', {
  timeout: 300_000,
}, async () => {
  const world = await ordersWorld(service, { funds: '10000.00', client: { fx_enabled: true } });
  const { clientId, account } = world;
  const files = filesOf(service, world);
  const treasury = treasuryOf(service, world);
  // An account in pounds, which exchanges are paid from.
  const { body: pounds } = await service.operator('POST', '/currency-accounts', {
    client_id: clientId,
    currency: 'GBP',
  });
  const paidIn = await service.operator('POST', '/transactions', {
    ...{ client_id: clientId, currency_account_id: pounds.account_id, kind: 'CREDIT_TRANSACTION' },
    amount: { amount: '5000.00', currency: 'GBP' },
  });
  assert.equal(paidIn.status, 201, paidIn.text);

  // What waits: a payment, a multi payment, a file that is judged, one that is refused, a pain.001, payees, two quotes.
  const before = await world.pays('10.00');
  await world.pays('11.00', { beneficiary_id: world.beneficiaryId });
  const multi = await service.client(
    world.token,
    'POST',
    `/multipayments?client_id=${clientId}&sell_currency=EUR&funding_account_id=${account}&reason=other`,
    {
      body: [files.row(20), files.row(21)],
    },
  );
  assert.equal(multi.status, 201, multi.text);
  const waiting = await files.judged(files.file([files.row(30), { ...ROW, payment_amount: 31, ...NEW }]));
  assert.equal(waiting.mass_payment_status, 'Processed');
  const taken = treasury.file({ messageId: 'MOVED' });
  assert.equal((await treasury.send(taken.xml)).status, 202);
  await treasury.settled('MOVED');
  const quote = async () => {
    const asked = await world.ask(
      'POST',
      '/quotes',
      { amount: 100, operation: 'sell', buy_currency: 'EUR', sell_currency: 'GBP', trade_type: 'spot' },
      '&quote_type=quote',
    );
    assert.equal(asked.status, 201, asked.text);
    return asked.body.quote_id as string;
  };
  const [booked, open] = [await quote(), await quote()];
  const drawn = (quoteId: string, amount: string) =>
    world.order([world.payment(amount)], { quote_id: quoteId, funding_account_id: pounds.account_id, reason: 'other' });
  const first = await drawn(booked, '50.00');
  assert.equal(first.status, 201, first.text);
  const tradeId: string = first.body[0].trade_id;

  // It orders all the time, each order under a key, sent again until it is answered.
  const answers = new Map<string, Answer>();
  const refused: Answer[] = [];
  let ended = false;
  const orders = async (name: string) => {
    for (let n = 0; !ended; n += 1) {
      const key = `${name}-${n}`;
      for (;;) {
        const answer = await world.order([world.payment('1.00')], undefined, { headers: { 'idempotency-key': key } });
        if (answer.status !== 503 && answer.status !== 502) {
          answers.set(key, answer);
          break;
        }
        refused.push(answer);
        await pause(50);
      }
      await pause(30);
    }
  };
  const ordering = [orders('one'), orders('two')];
  await until(() => answers.size >= 4);
  const running = await files.send(
    files.file(
      Array.from({ length: ROWS }, (_, n) => files.row(1, { payment_reference: `Row ${n}` })),
      { auto_commit: true },
    ),
  );
  assert.equal(running.status, 202, running.text);
  const moved = await move(clientId);
  await until(async () => (await homeOf(clientId)).moves_to !== null);
  await moved.done;
  const at = answers.size;
  await until(() => answers.size >= at + 4);
  ended = true;
  await Promise.all(ordering);
  assert.ok(refused.length > 0);

  // Everything is in the other cell.
  assert.deepEqual(
    (await rowsIn(moved.from, clientId)).filter(([name, rows]) => rows > 0 && name !== 'sandbox_requests'),
    [],
  );
  for (const [key, answer] of answers) assert.equal(answer.status, 201, `${key}: ${answer.text}`);
  // The file that was under way is made there, once.
  const made = await files.reaches(running.body.mass_payment_id, 'Created', 'Failed');
  assert.deepEqual([made.mass_payment_status, made.payments_summary.payments_created], ['Created', ROWS]);
  const { rows: rowsPaid } = await service.query(
    `select count(*)::int as n, count(distinct request_index)::int as rows from ${moved.to}.payments where client_id = $1 and mass_payment_id = $2`,
    [clientId, running.body.mass_payment_id],
  );
  assert.deepEqual(rowsPaid, [{ n: ROWS, rows: ROWS }]);

  // Keys: each answer is given again, and nothing is paid twice.
  for (const [key, answer] of answers) {
    const again = await world.order([world.payment('1.00')], undefined, { headers: { 'idempotency-key': key } });
    assert.deepEqual([again.status, again.text], [answer.status, answer.text]);
    assert.equal(again.headers.get('idempotency-replayed'), 'true');
  }
  assert.equal((await treasury.send(taken.xml)).status, 409);

  // Holds: those of the orders, and the account says as much.
  const held = async (accountId: number) => {
    const { rows } = await service.query(
      `select coalesce(sum(amount), 0)::text as held from ${moved.to}.holds where client_id = $1 and currency_account_id = $2 and closed_at is null`,
      [clientId, accountId],
    );
    const { body } = await service.operator('GET', `/currency-accounts/${accountId}`);
    assert.equal(Number(body.held), Number(rows[0].held));
    return Number(body.held);
  };
  const { rows: live } = await service.query(
    `select sum(amount)::text as amount from ${moved.to}.payments where client_id = $1 and source = 'client' and funding_account_id = $2`,
    [clientId, account],
  );
  assert.equal(await held(account), Number(live[0].amount));
  assert.equal(await held(pounds.account_id), 100);

  // What waited goes on: the quote, the trade, the file, the multi payment, the payment.
  const second = await drawn(open, '60.00');
  assert.equal(second.status, 201, second.text);
  assert.equal((await drawn(booked, '1.00')).body.code, 'quote_used');
  const drawdown = await world.order([world.payment('20.00')], { trade_id: tradeId });
  assert.equal(drawdown.status, 201, drawdown.text);
  const funds = await until(async () => {
    const { body } = await world.ask('GET', `/trades/${tradeId}/funds`);
    return Number(body.allocated_amount) === 70 && body;
  });
  assert.equal(funds.unallocated_amount, '47.91');
  assert.equal((await files.confirm(waiting.mass_payment_id)).status, 202);
  const confirmed = await files.reaches(waiting.mass_payment_id, 'Created', 'Failed');
  assert.deepEqual([confirmed.mass_payment_status, confirmed.payments_summary.payments_created], ['Created', 2]);
  const rejected = await world.ask('DELETE', `/multipayments/${multi.body.multipayment_id}`, { reason: 'Twice' });
  assert.equal(rejected.status, 204, rejected.text);
  await world.act(before, 'cancel');
  await held(account);
  // All of it ends, and no hold stays.
  const { rows: all } = await service.query(
    `select payment_id from ${moved.to}.payments where client_id = $1 and source = 'client' and phase not in (4, 5) and funding_account_id = $2`,
    [clientId, account],
  );
  for (let n = 0; n < all.length; n += 5)
    await Promise.all(all.slice(n, n + 5).map(({ payment_id: id }) => world.act(id, 'cancel')));
  assert.equal(await held(account), 0);
  assert.deepEqual((await world.funds())[0], '10000.00');

  // The totals of searches count what is there.
  for (const path of ['/payments', '/trades']) {
    const table = path.slice(1);
    const { rows } = await service.query(`select count(*)::int as n from ${moved.to}.${table} where client_id = $1`, [
      clientId,
    ]);
    await until(async () => Number((await world.ask('GET', path)).headers.get('x-total-count')) === rows[0].n);
  }
});

test('a code that was asked for before a move is good after it, for a payment and for a file', {
  timeout: 120_000,
}, async () => {
  const world = await ordersWorld(service, { client: { approval_step_up: true } });
  const { clientId } = world;
  const clerk = await world.clerk(['can_authorise_payments', ...ORDERING]);
  const { body: secured } = await service.operator('PATCH', `/contacts/${clerk.id}`, { second_factor: 'totp' });
  const ask = (method: string, path: string, body?: unknown, query = '') =>
    service.client(clerk.token, method, `${path}?client_id=${clientId}${query}`, body === undefined ? {} : { body });
  const files = filesOf(service, world);
  const file = await files.judged(files.file([files.row(5)]), clerk.token);
  const order = await ask('POST', '/payments', {
    funding_account_id: world.account,
    reason: 'other',
    payments: [world.payment('7.00')],
  });
  assert.equal(order.status, 201, order.text);
  const paymentId: string = order.body[0].payment_id;
  const forPayment = await ask('POST', `/payments/${paymentId}/challenges`);
  const forFile = await ask('POST', `/mass-payments/${file.mass_payment_id}/challenges`);
  assert.deepEqual([forPayment.status, forFile.status], [201, 201], forFile.text);
  await (await move(clientId)).done;
  const code = (challenge: Answer) => ({
    challenge_id: challenge.body.challenge_id,
    verification_code: totp(secured.totp.secret),
  });
  const confirmed = await ask('POST', `/mass-payments/${file.mass_payment_id}/confirm`, code(forFile));
  assert.equal(confirmed.status, 202, confirmed.text);
  // A code of an authenticator counts once.
  await service.operator('PUT', '/clock', { advance_seconds: 31 });
  const approved = await ask('PATCH', `/payments/${paymentId}`, code(forPayment), '&action=authorise');
  assert.equal(approved.status, 204, approved.text);
  const made = await files.reaches(file.mass_payment_id, 'Created', 'Failed');
  assert.equal(made.mass_payment_status, 'Created');
  const [, held] = await world.funds();
  assert.equal(Number(held), 12);
});

test('a person is erased in the cell to which a client has gone, and no client goes while that is under way', {
  timeout: 120_000,
}, async () => {
  const world = await ordersWorld(service);
  const { clientId } = world;
  const name = `Leaving ${randomUUID()}`;
  const { contactId } = await world.hire(name, {}, ORDERING);
  assert.equal((await service.operator('PATCH', `/contacts/${contactId}`, { status: 'disabled' })).status, 200);
  const paid = await service.operator('POST', '/payments', { ...world.base, contact_id: contactId });
  assert.equal(paid.status, 201, paid.text);
  const eraser = new pg.Client({ connectionString: database.url });
  await eraser.connect();
  await eraser.query('select pg_advisory_lock($1)', [LOCKS.erasure]);
  const moved = await move(clientId);
  await until(
    async () =>
      (
        await service.query(
          `select from pg_locks where locktype = 'advisory' and classid = ${LOCKS.clientMove} and ${OWN_LOCKS}`,
        )
      ).rowCount,
  );
  // Longer than a client is announced before it goes.
  await pause(6_000);
  assert.deepEqual(await homeOf(clientId), { cell: Number(moved.from.at(-1)), moves_to: null });
  await eraser.end();
  await moved.done;
  const begun = await service.operator('POST', `/contacts/${contactId}/erase`);
  assert.equal(begun.status, 202, begun.text);
  await until(async () => (await service.operator('GET', `/erasures/${begun.body.erasure_id}`)).body.state === 'done');
  const { rows } = await service.query(`select ordered_by_name from ${moved.to}.payments where payment_id = $1`, [
    paid.body.payment_id,
  ]);
  assert.deepEqual(rows, [{ ordered_by_name: 'erased' }]);
  for (const schema of ['public', 'public_cell_1', 'public_cell_2'])
    for (const table of ['audit', 'changes', 'payments']) {
      const found = await service.query(`select count(*)::int as n from ${schema}.${table} t where t::text like $1`, [
        `%${name}%`,
      ]);
      assert.equal(found.rows[0].n, 0, `${schema}.${table}`);
    }
});
