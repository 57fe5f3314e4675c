import assert from 'node:assert/strict';
import { randomInt, randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { keysOf } from '../../src/beneficiaries/account-key.ts';
import { LOCKS } from '../../src/database/locks.ts';
import { connectTo, OWN_LOCKS } from '../world/cells.ts';
import { longestTurn } from '../world/longest-turn.ts';
import { type OrdersWorld, ordersWorld } from '../world/orders.ts';
import { type Answer, call, startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';

/** Many beneficiaries that a client sends at once (instructions, second page, 8). */

let service: TestService;
before(async () => {
  service = await startTestService();
});
after(() => service.stop());

const refusal = ({ status, body }: Answer) => [status, body?.code];
const PAYEE = { country_code: 'DE', bank_country_code: 'DE', bank_currency_code: 'EUR' };
const IBAN = 'DE89370400440532013000';
/** An IBAN of GB with a number of its own, and the right check digits. */
function british(number: number): string {
  const bban = `NWBK601613${String(number).padStart(8, '0')}`;
  const digits = [...`${bban}GB00`].map((sign) => Number.parseInt(sign, 36)).join('');
  return `GB${String(98n - (BigInt(digits) % 97n)).padStart(2, '0')}${bban}`;
}
const briton = (number: number, fields: object = {}) => ({
  ...{ name: `Payee ${number}`, country_code: 'GB', bank_country_code: 'GB', bank_currency_code: 'GBP' },
  ...{ iban: british(number), ...fields },
});

/** What a client does with many payees. */
function payeesOf(world: OrdersWorld) {
  const get = async (id: string) => (await world.ask('GET', `/mass-beneficiaries/${id}`)).body;
  const send = (rows: unknown, query = '', token = world.token) =>
    service.client(token, 'POST', `/mass-beneficiaries?client_id=${world.clientId}${query}`, { body: rows });
  const ended = async (id: string) => {
    await until(async () => ['created', 'failed'].includes((await get(id)).status), { seconds: 60 });
    return get(id);
  };
  return {
    ...{ get, send, ended },
    /** Sends rows and waits until they are done. */
    done: async (rows: unknown, token?: string) => {
      const sent = await send(rows, '', token);
      assert.equal(sent.status, 202, sent.text);
      assert.deepEqual(Object.keys(sent.body), ['mass_beneficiary_id', 'status']);
      assert.equal(sent.body.status, 'queued');
      return ended(sent.body.mass_beneficiary_id);
    },
    errors: async (id: string, query = '&page_size=1000') =>
      (await world.ask('GET', `/mass-beneficiaries/${id}/errors`, undefined, query)).body,
    made: (id: string, query = '&page_size=1000') =>
      world.ask('GET', `/mass-beneficiaries/${id}/beneficiaries`, undefined, query),
    csv: (text: string | Buffer, query = '', headers: object = {}) =>
      call(`${service.api}/mass-beneficiaries?client_id=${world.clientId}${query}`, 'POST', {
        ...{ token: world.token, raw: text as string },
        headers: { 'content-type': 'text/csv', ...headers },
      }),
    payees: async () => (await world.ask('GET', '/beneficiaries', undefined, '&page_size=1000')).body,
  };
}
interface Fault {
  code: string;
  message: string;
  details: string;
  request_index: number;
}
const told = (errors: Fault[]) => errors.map(({ request_index: index, code }) => [index, code]);

describe('a list of JSON', () => {
  test('each row is judged alone; received is created and errored; a row with several faults counts once', async () => {
    const world = await ordersWorld(service);
    const files = payeesOf(world);
    await world.ask('POST', '/beneficiaries', { name: 'Known', ...PAYEE, iban: IBAN });
    const rows = [
      { name: 'Good', ...PAYEE, iban: IBAN },
      { name: 'Bad', ...PAYEE, iban: 'DE89370400440532013001', bank_currency_code: 'ZZZ', colour: 'red' },
      { name: ' Known ', ...PAYEE, iban: 'DE89 3704 0044 0532 0130 00' },
      7,
      { ...PAYEE, iban: IBAN, city: null, name: 'Good' },
      { name: 'GOOD', ...PAYEE, iban: IBAN },
      {
        name: 'Rouble',
        country_code: 'DE',
        bank_country_code: 'DE',
        bank_currency_code: 'RUB',
        iban: IBAN,
        swift_code: 'COBADEFFXXX',
      },
      { name: 'Mails', ...PAYEE, iban: IBAN, email_notification: true },
      [],
      { name: 'Last', ...PAYEE, iban: IBAN, email_notification: true, email_addresses: ['a@b.example'] },
    ];
    const done = await files.done(rows);
    const { mass_beneficiary_id: id } = done;
    assert.deepEqual(done, {
      ...{ mass_beneficiary_id: id, status: 'created', rows_received: 10, rows_created: 2, rows_errored: 8 },
    });
    const errors = await files.errors(id);
    assert.deepEqual(told(errors), [
      [1, 'invalid_currency'],
      [1, 'invalid_iban'],
      [1, 'unknown_field'],
      [2, 'beneficiary_duplicate'],
      [3, 'invalid_format'],
      [4, 'duplicate_row'],
      [5, 'beneficiary_duplicate'],
      [6, 'currency_not_allowed'],
      [7, 'required'],
      [8, 'invalid_format'],
    ]);
    assert.deepEqual(Object.keys(errors[0]), ['code', 'message', 'details', 'request_index']);
    assert.match(errors[1].details, /^iban: must be an IBAN/);
    assert.deepEqual((await files.errors(id, '&page=2&page_size=4')).length, 4);
    const made = await files.made(id);
    assert.equal(made.headers.get('x-total-count'), '2');
    assert.deepEqual(
      made.body.map(({ request_index: index }: Fault) => index),
      [0, 9],
    );
    assert.match(errors[6].details, new RegExp(made.body[0].beneficiary_id));
    const { body: payee } = await world.ask('GET', `/beneficiaries/${made.body[0].beneficiary_id}`);
    assert.deepEqual([payee.name, payee.aml_status, payee.bank_accounts[0].iban], ['Good', 'Pending Review', IBAN]);
    const second = await files.made(id, '&page=2&page_size=1');
    assert.deepEqual(second.body, [made.body[1]]);
    const again = await files.done(rows.slice(0, 1));
    assert.deepEqual([again.status, again.rows_created, again.rows_errored], ['failed', 0, 1]);
  });

  test('more rows than one batch takes are made once each, in their order', async () => {
    const world = await ordersWorld(service);
    const files = payeesOf(world);
    const first = randomInt(10_000_000, 90_000_000);
    const rows = Array.from({ length: 600 }, (_, n) => briton(first + n, n % 100 === 7 ? { iban: 'GB00' } : {}));
    const done = await files.done(rows);
    assert.deepEqual([done.rows_received, done.rows_created, done.rows_errored], [600, 594, 6], `from ${first}`);
    const { body: made } = await files.made(done.mass_beneficiary_id);
    const payees = (await files.payees()).filter(({ name }: { name: string }) => name.startsWith('Payee '));
    assert.equal(payees.length, 594);
    assert.deepEqual(
      payees.map((payee: { beneficiary_id: string }) => payee.beneficiary_id),
      made.map((each: { beneficiary_id: string }) => each.beneficiary_id),
    );
    assert.deepEqual(payees[8].name, `Payee ${first + 9}`);
  });

  test('a body that is no list of 1 to 5,000 is refused, and so is who may not', async () => {
    const world = await ordersWorld(service);
    const files = payeesOf(world);
    for (const body of [{}, [], 'x', Array(5_001).fill({})]) {
      const refused = await files.send(body);
      assert.deepEqual(refusal(refused), [400, 'invalid_body'], refused.text);
      assert.equal(refused.body.errors, undefined);
    }
    const { token } = await world.clerk(['can_create_payments']);
    assert.deepEqual(refusal(await files.send([briton(1)], '', token)), [403, 'permission_denied']);
    const large = await files.send([briton(1, { city: 'x'.repeat(8_388_608) })]);
    assert.deepEqual(refusal(large), [413, 'payload_too_large']);
    for (const path of ['', '/errors', '/beneficiaries']) {
      const address = `/mass-beneficiaries/${randomUUID()}${path}`;
      assert.deepEqual(refusal(await world.ask('GET', address)), [404, 'mass_beneficiary_not_found']);
      assert.deepEqual(refusal(await world.ask('GET', `/mass-beneficiaries/x${path}`)), [
        404,
        'mass_beneficiary_not_found',
      ]);
    }
    const done = await files.done([briton(2)]);
    const other = await ordersWorld(service);
    for (const path of ['', '/errors', '/beneficiaries'])
      assert.deepEqual(refusal(await other.ask('GET', `/mass-beneficiaries/${done.mass_beneficiary_id}${path}`)), [
        ...[404, 'mass_beneficiary_not_found'],
      ]);
  });

  test('a key makes it once', async () => {
    const world = await ordersWorld(service);
    const files = payeesOf(world);
    const headers = { 'idempotency-key': randomUUID() };
    const post = (body: unknown) =>
      service.client(world.token, 'POST', `/mass-beneficiaries?client_id=${world.clientId}`, { body, headers });
    const [one, other] = await Promise.all([post([briton(1)]), post([briton(1)])]);
    assert.deepEqual([one.status, one.text], [202, other.text]);
    assert.deepEqual(refusal(await post([briton(2)])), [409, 'idempotency_conflict']);
    await files.ended(one.body.mass_beneficiary_id);
    assert.equal((await files.payees()).length, 2);
  });
});

test('validate_only judges all rows at once, and keeps nothing', async () => {
  const world = await ordersWorld(service);
  const files = payeesOf(world);
  const rows = [briton(1), briton(2, { iban: 'GB00' }), briton(3), briton(1), briton(1, { city: 'York' }), { name: 7 }];
  const tried = await files.send(rows, '&validate_only=true');
  assert.equal(tried.status, 200, tried.text);
  assert.deepEqual([tried.body.rows_received, tried.body.rows_errored], [6, 4]);
  assert.deepEqual(told(tried.body.errors).slice(0, 3), [
    [1, 'invalid_iban'],
    [3, 'duplicate_row'],
    [4, 'beneficiary_duplicate'],
  ]);
  assert.match(tried.body.errors[2].details, /row 0 of the file/);
  assert.equal((await files.payees()).length, 1);
  const { rows: kept } = await service.query('select 1 from mass_beneficiaries where client_id = $1', [world.clientId]);
  assert.equal(kept.length, 0);
  assert.deepEqual(refusal(await files.send(rows, '&validate_only=yes')), [400, 'invalid_parameter']);
  const many = Array.from({ length: 5_000 }, (_, n) => briton(10_000_000 + n));
  const all = await files.send(many, '&validate_only=true');
  assert.deepEqual(all.body, { rows_received: 5_000, rows_errored: 0, errors: [] });
  const csv = await files.csv('name,iban\nA,B\n', '&validate_only=true');
  assert.deepEqual([csv.status, csv.body.rows_received, csv.body.rows_errored], [200, 1, 1]);
});

test('rows that are only faults are all told, and keep nobody waiting', async () => {
  const world = await ordersWorld(service);
  const files = payeesOf(world);
  const noise = (names: number) => Object.fromEntries(Array.from({ length: names }, (_, n) => [`field ${n}`, n]));
  const many = Array.from({ length: 2_000 }, () => noise(100));
  const { result: sent, longest } = await longestTurn(() => files.send(many, '&validate_only=true'));
  assert.deepEqual([sent.status, sent.body.rows_errored], [200, 2_000]);
  assert.equal(sent.body.errors.filter((error: Fault) => error.request_index === 7).length, 15);
  assert.ok(longest < 3_000, `${longest} ms`);
  const done = await files.done(many);
  assert.deepEqual([done.status, done.rows_errored], ['failed', 2_000]);
  for (const row of [noise(100_000), briton(1, { email_addresses: Array(100_000).fill('x') })]) {
    const one = await files.send([row], '&validate_only=true');
    assert.deepEqual([one.status, one.body.rows_errored], [200, 1]);
    assert.ok(one.body.errors.length < 20);
  }
});

describe('a CSV', () => {
  const HEADER = 'name,country_code,bank_country_code,bank_currency_code,iban,email_notification,email_addresses,city';

  test('makes the same payees as JSON', async () => {
    const world = await ordersWorld(service);
    const files = payeesOf(world);
    const line = (name: string, mails: string, addresses: string) => `${name},DE,DE,EUR,${IBAN},${mails},${addresses},`;
    const text = [
      HEADER,
      line('"Müller, Söhne"', 'true', 'a@b.example;c@d.example'),
      line('Two', 'false', ''),
      line('Three', 'yes', ''),
      line('Four', 'true', ''),
      'Five,DE',
      line('Two', 'false', ''),
      line('Six', '', 'nobody'),
    ].join('\r\n');
    const sent = await files.csv(`\ufeff${text}\r\n`);
    assert.equal(sent.status, 202, sent.text);
    const done = await files.ended(sent.body.mass_beneficiary_id);
    assert.deepEqual([done.rows_received, done.rows_created, done.rows_errored], [7, 2, 5]);
    const errors = await files.errors(done.mass_beneficiary_id);
    assert.deepEqual(
      told(errors).filter(([index]) => index !== 4),
      [
        [2, 'invalid_format'],
        [3, 'required'],
        [5, 'duplicate_row'],
        [6, 'invalid_format'],
      ],
    );
    const short = errors.find(({ request_index: index }: Fault) => index === 4);
    assert.equal(short.details, 'the row has 2 cells, and the header 8');
    const { body: made } = await files.made(done.mass_beneficiary_id);
    const { body: payee } = await world.ask('GET', `/beneficiaries/${made[0].beneficiary_id}`);
    assert.deepEqual(
      [payee.name, payee.email_notification, payee.email_addresses, payee.city],
      ['Müller, Söhne', true, ['a@b.example', 'c@d.example'], null],
    );
  });

  test('an empty line is no row, and the rows below keep their places', async () => {
    const world = await ordersWorld(service);
    const files = payeesOf(world);
    const line = (name: string, city = '') => `${name},DE,DE,EUR,${IBAN},,,${city}`;
    const text = [HEADER, line('One'), '', line('Two'), ' ', line('Two', 'Bonn'), ',,,,,,,', ''].join('\n');
    const tried = await files.csv(text, '&validate_only=true');
    assert.deepEqual([tried.status, tried.body.rows_received, tried.body.rows_errored], [200, 4, 2], tried.text);
    const places = (errors: Fault[]) => [...new Set(errors.map(({ request_index: index }) => index))];
    assert.deepEqual(places(tried.body.errors), [4, 5]);
    assert.match(tried.body.errors[0].details, /row 2 of the file/);
    const done = await files.ended((await files.csv(text)).body.mass_beneficiary_id);
    assert.deepEqual([done.rows_received, done.rows_created, done.rows_errored], [4, 2, 2]);
    assert.deepEqual(places(await files.errors(done.mass_beneficiary_id)), [4, 5]);
    const { body: made } = await files.made(done.mass_beneficiary_id);
    assert.deepEqual(places(made), [0, 2]);
  });

  for (const [name, text] of [
    ['an unknown column', 'name,colour\nA,red\n'],
    ['a column twice', 'name,name\nA,A\n'],
    ['a quote that never ends', 'name\n"A\n'],
    ['a header alone', 'name\n'],
    ['nothing', ''],
    ['5,001 rows', `name\n${'A\n'.repeat(5_001)}`],
    ['NUL', 'name\nA\0\n'],
    ['no UTF-8', Buffer.from('name\n\xff\n', 'latin1')],
  ] as const)
    test(`${name}: 400`, async () => {
      const world = await ordersWorld(service);
      assert.deepEqual(refusal(await payeesOf(world).csv(text)), [400, 'invalid_body']);
    });
});

describe('in the middle', () => {
  /** Rows of which one batch was made when something happens, while the next one is being made. @returns the identifier */
  async function inTheMiddle(world: OrdersWorld, token: string, happens: () => Promise<unknown>): Promise<string> {
    const files = payeesOf(world);
    const first = randomInt(10_000_000, 90_000_000);
    const rows = Array.from({ length: 600 }, (_, n) => briton(first + n));
    const { name_key: name, paid_account: account } = keysOf({
      beneficiary_name: `Payee ${first + 300}`,
      iban: british(first + 300),
    });
    const key = JSON.stringify([world.clientId, name, account]);
    const holder = await connectTo(service, world.clientId);
    const waiting = async () =>
      Number(
        (
          await holder.query(
            `select count(*) as n from pg_locks where locktype = 'advisory' and not granted and ${OWN_LOCKS}`,
          )
        ).rows[0].n,
      );
    try {
      await holder.query('begin');
      await holder.query('select pg_advisory_xact_lock($1, hashtext($2))', [LOCKS.payee, key]);
      const sent = await files.send(rows, '', token);
      assert.equal(sent.status, 202, sent.text);
      await until(async () => (await waiting()) === 1);
      let done = false;
      const happening = happens().finally(() => {
        done = true;
      });
      await until(async () => done || (await waiting()) > 1);
      await holder.query('commit');
      await happening;
      return sent.body.mass_beneficiary_id;
    } finally {
      await holder.end();
    }
  }

  for (const [name, code, change] of [
    [
      'a permission that is withdrawn',
      'permission_denied',
      (world: OrdersWorld, id: string) =>
        service.operator('PATCH', `/contacts/${id}`, { clients: [{ client_id: world.clientId, permissions: [] }] }),
    ],
    [
      'a contact that is disabled',
      'permission_denied',
      (_world: OrdersWorld, id: string) => service.operator('PATCH', `/contacts/${id}`, { status: 'disabled' }),
    ],
    [
      'a client that is disabled',
      'client_disabled',
      (world: OrdersWorld) => service.operator('PATCH', `/clients/${world.clientId}`, { status: 'disabled' }),
    ],
  ] as const)
    test(`${name}: the rest errs with ${code}`, async () => {
      const world = await ordersWorld(service);
      const clerk = await world.clerk(['can_manage_beneficiaries']);
      const id = await inTheMiddle(world, clerk.token, () => change(world, clerk.id));
      const read = async () => (await service.operator('GET', `/mass-beneficiaries/${id}`)).body;
      await until(async () => ['created', 'failed'].includes((await read()).status));
      const done = await read();
      assert.deepEqual(
        [done.status, done.rows_received, done.rows_created, done.rows_errored, done.created_by],
        ['created', 600, 500, 100, clerk.id],
      );
      assert.deepEqual(new Set(done.errors.map((error: Fault) => error.code)), new Set([code]));
      assert.deepEqual([done.errors[0].request_index, done.error_count], [500, 100]);
    });

  test('a worker that dies: each payee is made once', async () => {
    const world = await ordersWorld(service);
    const files = payeesOf(world);
    const id = await inTheMiddle(world, world.token, () =>
      service.query(
        `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and not granted and ${OWN_LOCKS}`,
      ),
    );
    const done = await files.ended(id);
    assert.deepEqual([done.status, done.rows_created, done.rows_errored], ['created', 600, 0]);
    const names = (await files.payees()).map(({ name }: { name: string }) => name);
    assert.deepEqual([names.length, new Set(names).size], [601, 601]);
  });

  test('a reset waits for the batch, and removes all of it', async () => {
    const world = await ordersWorld(service);
    const id = await inTheMiddle(world, world.token, async () => {
      const reset = await world.ask('POST', '/sandbox/reset');
      assert.equal(reset.status, 204, reset.text);
    });
    assert.equal((await payeesOf(world).made(id)).body.code, 'mass_beneficiary_not_found');
    for (const table of ['mass_beneficiaries', 'mass_beneficiary_rows', 'beneficiaries']) {
      const { rows } = await service.query(`select 1 from ${table} where client_id = $1`, [world.clientId]);
      assert.equal(rows.length, 0, table);
    }
  });
});

test('each status after the first is told once, and in the trail; the institution cannot change it', async () => {
  const world = await ordersWorld(service);
  const files = payeesOf(world);
  const done = await files.done([briton(1), briton(2, { iban: 'GB00' })]);
  const { mass_beneficiary_id: id } = done;
  const { rows } = await service.query(
    "select body from webhook_events where client_id = $1 and type = 'MASS_BENEFICIARY_STATUS_CHANGE' order by id",
    [world.clientId],
  );
  assert.deepEqual(
    rows.map(({ body }) => JSON.parse(body)),
    [{ data: [{ ...done, status: 'processing', rows_created: 0, rows_errored: 0 }] }, { data: [done] }],
  );
  const { body: audit } = await service.operator('GET', `/audit?entity=mass_beneficiary&entity_id=${id}`);
  assert.deepEqual(
    audit.map((row: { actor: string; action: string; after: { status: string } }) => [
      row.actor,
      row.action,
      row.after.status,
    ]),
    ['queued', 'processing', 'created'].map((status, index) => [
      ...[`contact:${world.ordererId}`, index === 0 ? 'create' : 'update', status],
    ]),
  );
  for (const patch of [{ status: 'created' }, { status: 'failed' }, { add_errors: [] }, { client_id: world.clientId }])
    assert.deepEqual(refusal(await service.operator('PATCH', `/mass-beneficiaries/${id}`, patch)), [
      ...[409, 'transition_not_allowed'],
    ]);
  const own = await service.operator('POST', '/mass-beneficiaries', {
    client_id: world.clientId,
    status: 'processing',
  });
  const error = { code: 'x', message: 'y', details: 'z', request_index: 4 };
  await service.operator('PATCH', `/mass-beneficiaries/${own.body.mass_beneficiary_id}`, {
    ...{ status: 'created', errors: [error, { ...error, code: 'w' }] },
  });
  const seen = await files.get(own.body.mass_beneficiary_id);
  assert.deepEqual(seen, {
    ...{ mass_beneficiary_id: own.body.mass_beneficiary_id, status: 'created' },
    ...{ rows_received: null, rows_created: null, rows_errored: 1 },
  });
  assert.deepEqual((await files.made(own.body.mass_beneficiary_id)).body, []);
  const last = await service.query(
    "select body from webhook_events where client_id = $1 and type = 'MASS_BENEFICIARY_STATUS_CHANGE' order by id desc limit 1",
    [world.clientId],
  );
  assert.deepEqual(JSON.parse(last.rows[0].body), { data: [seen] });
});
