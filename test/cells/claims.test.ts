import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { sweepClaims } from '../../src/database/cells/identifier-sweep.ts';
import { migrate } from '../../src/database/migrate.ts';
import { accessToken } from '../world/access-token.ts';
import { createWorld } from '../world/client.ts';
import { createClusterDatabase, createEmptyDatabase, log } from '../world/database.ts';
import { createSubscriber } from '../world/graphql.ts';
import { type Answer, startTestService, type TestService } from '../world/service.ts';

/** Identifiers that callers give are unique over all cells (docs/decisions/0020), in one PostgreSQL or on a Citus cluster. */
type World = Awaited<ReturnType<typeof createWorld>>;
let service: TestService;
/** Each claim is a transaction of its own. */
let distributed: boolean;
/** Two clients of one cell, and one of another. */
let first: World;
let neighbour: World;
let other: World;
before(async () => {
  const cluster = await createClusterDatabase();
  distributed = cluster !== undefined;
  const database = cluster ?? (await createEmptyDatabase());
  await migrate(database.url, log, { cells: 2, trialCells: true });
  service = await startTestService({}, database);
  first = await createWorld(service, 'First');
  other = await createWorld(service, 'Other');
  neighbour = await createWorld(service, 'Neighbour');
  const cells = await Promise.all([first, other, neighbour].map(cellOf));
  assert.deepEqual(cells, [1, 2, 1]);
});
after(() => service?.stop());

async function cellOf({ clientId }: World): Promise<number> {
  return (await service.query('select cell from clients where client_id = $1', [clientId])).rows[0].cell;
}

const create = (path: string, body: object) => service.operator('POST', path, body);
const shown = ({ status, body }: Answer) => ({ status, code: body.code, message: body.message, details: body.details });

async function load(kind: string, records: object[], query = ''): Promise<Answer> {
  const response = await fetch(`${service.operatorUrl}/imports/${kind}${query}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.operatorToken}`, 'content-type': 'application/x-ndjson' },
    body: records.map((record) => `${JSON.stringify(record)}\n`).join(''),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
}

let made = 0;
const fresh = () => `GIVEN-${(made += 1)}`;

const accounts = new Map<string, Promise<number>>();
function currencyAccount({ clientId }: World): Promise<number> {
  const found =
    accounts.get(clientId) ??
    create('/currency-accounts', { client_id: clientId, currency: 'EUR' }).then(
      ({ body }) => body.account_id as number,
    );
  accounts.set(clientId, found);
  return found;
}

async function booking(world: World) {
  return {
    client_id: world.clientId,
    currency_account_id: await currencyAccount(world),
    kind: 'CREDIT_TRANSACTION',
    amount: { amount: '1.00', currency: 'EUR' },
  };
}

const trade = ({ base }: World) => ({
  client_id: base.client_id,
  contact_id: base.contact_id,
  buy_currency: 'EUR',
  sell_currency: 'GBP',
  buy_amount: 1,
  rate: 1.2,
});

const multiPayment = ({ beneficiaryId }: World, fields: object) => ({
  ...{ trade: 0, beneficiary_id: beneficiaryId, amount: 1, payment_currency: 'EUR', payment_date: '2026-12-01' },
  ...fields,
});

interface Noun {
  path: string;
  field: string;
  id: () => string;
  body: (world: World) => object | Promise<object>;
}

const NOUNS: Noun[] = [
  { path: '/payments', field: 'payment_id', id: fresh, body: (world) => world.base },
  { path: '/trades', field: 'trade_id', id: fresh, body: trade },
  {
    path: '/beneficiaries',
    field: 'beneficiary_id',
    id: fresh,
    body: ({ clientId }) => ({ client_id: clientId, beneficiary_name: 'B' }),
  },
  {
    path: '/accounts',
    field: 'account_id',
    id: randomUUID,
    body: ({ clientId }) => ({ client_id: clientId, currency: 'EUR' }),
  },
  { path: '/transactions', field: 'transaction_id', id: fresh, body: booking },
  {
    path: '/mass-beneficiaries',
    field: 'mass_beneficiary_id',
    id: randomUUID,
    body: ({ clientId }) => ({ client_id: clientId }),
  },
  {
    path: '/multipayments',
    field: 'multipayment_unique_id',
    id: randomUUID,
    body: (world) => ({
      client_id: world.clientId,
      contact_id: world.contactId,
      trades: [trade(world)],
      payments: [multiPayment(world, {})],
    }),
  },
];

for (const { path, field, id: idOf, body } of NOUNS) {
  test(`${field}: given, or made and then given, it is refused in another cell as in the same one`, async () => {
    const id = idOf();
    const given = await create(path, { ...(await body(first)), [field]: id });
    assert.equal(given.status, 201, given.text);
    const there = shown(await create(path, { ...(await body(neighbour)), [field]: id }));
    const elsewhere = shown(await create(path, { ...(await body(other)), [field]: id }));
    assert.equal(there.status, 409, JSON.stringify(there));
    assert.equal(there.code, 'already_exists');
    assert.deepEqual(elsewhere, there);
    assert.deepEqual(shown(await create(path, { ...(await body(first)), [field]: id })), there);

    const own = await create(path, await body(first));
    assert.equal(own.status, 201, own.text);
    const copied = await create(path, { ...(await body(other)), [field]: own.body[field] });
    assert.deepEqual([copied.status, copied.body.code], [409, 'already_exists'], copied.text);
    const capitals = /^[0-9a-f-]{36}$/.test(id) ? id.toUpperCase() : id;
    if (field !== 'transaction_id')
      assert.equal((await create(path, { ...(await body(other)), [field]: capitals })).status, 409);
  });
}

test('a made identifier is never one that somebody has given in another cell', async () => {
  const number = Number((await create('/beneficiaries', beneficiary(first))).body.beneficiary_id.slice(3));
  const next = Array.from({ length: 5 }, (_, index) => `BEN${String(number + 1 + index).padStart(6, '0')}`);
  for (const id of next) assert.equal((await create('/beneficiaries', beneficiary(other, id))).status, 201);
  const single = await create('/beneficiaries', beneficiary(first));
  assert.equal(single.status, 201, single.text);
  assert.ok(!next.includes(single.body.beneficiary_id), single.body.beneficiary_id);

  const since = Number(single.body.beneficiary_id.slice(3));
  const ahead = Array.from({ length: 5 }, (_, index) => `BEN${String(since + 2 + index).padStart(6, '0')}`);
  for (const id of ahead) assert.equal((await create('/beneficiaries', beneficiary(other, id))).status, 201);
  const loaded = await load(
    'beneficiaries',
    Array.from({ length: 20 }, () => beneficiary(first)),
  );
  assert.deepEqual([loaded.body.accepted, loaded.body.rejected], [20, 0], loaded.text);
  const { rows } = await service.query(
    'select id, count(*) from (select beneficiary_id as id from public_cells.beneficiaries) b group by 1 having count(*) > 1',
  );
  assert.deepEqual(rows, []);
});

function beneficiary({ clientId }: World, id?: string) {
  return { client_id: clientId, beneficiary_name: 'B', ...(id === undefined ? {} : { beneficiary_id: id }) };
}

test('an import refuses the lines whose identifier another cell has, and takes the others', async () => {
  const [id, uuid] = [fresh(), randomUUID()];
  const line = (world: World, fields: object) => ({ ...world.base, ...fields });
  assert.equal((await load('payments', [line(first, { payment_id: id, uuid })])).body.accepted, 1);
  const loaded = await load('payments', [
    line(other, { payment_id: id }),
    line(other, { uuid: uuid.toUpperCase() }),
    line(other, { payment_id: fresh() }),
    line(other, {}),
    line(first, { payment_id: id }),
  ]);
  assert.deepEqual([loaded.body.accepted, loaded.body.rejected], [2, 3], loaded.text);
  assert.deepEqual(
    loaded.body.errors.map(({ line: number, code, details }: Record<string, unknown>) => [number, code, details]),
    [
      [1, 'already_exists', 'body.payment_id: is already in use'],
      [2, 'already_exists', 'body.uuid: is already the uuid of another payment'],
      [5, 'already_exists', 'body.payment_id: is already in use'],
    ],
  );
  // A UETR that was made in another cell.
  const { rows } = await service.query('select uuid from public_cells.payments where client_id = $1 limit 1', [
    first.clientId,
  ]);
  const copied = await load('payments', [line(other, { uuid: rows[0].uuid })]);
  assert.equal(copied.body.errors[0]?.details, 'body.uuid: is already the uuid of another payment', copied.text);
  // Of two lines with one identifier the earlier one gets it, whichever cell comes first.
  const twice = fresh();
  const both = await load('payments', [
    line(first, {}),
    line(other, { payment_id: twice }),
    line(first, { payment_id: twice }),
  ]);
  assert.deepEqual(
    both.body.errors.map(({ line: number }: { line: number }) => number),
    [3],
    both.text,
  );
  // What exists is compared, in whichever cell it is.
  const compared = await load('payments', [{ ...line(other, { payment_id: id }) }], '?on_conflict=skip');
  const same = await load('payments', [{ ...line(neighbour, { payment_id: id }) }], '?on_conflict=skip');
  assert.equal(compared.body.errors[0]?.details, 'body.client_id: is not that of the record that exists');
  assert.deepEqual(compared.body.errors, same.body.errors);
});

test('of twenty callers of two cells that give one identifier at once, one gets it', async () => {
  for (const [path, field, id] of [
    ['/payments', 'payment_id', fresh()],
    ['/accounts', 'account_id', randomUUID()],
  ] as const) {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => {
        const world = index % 2 === 0 ? first : other;
        const body = path === '/payments' ? world.base : { client_id: world.clientId, currency: 'EUR' };
        return create(path, { ...body, [field]: id });
      }),
    );
    const statuses = answers.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [201, ...Array(19).fill(409)], answers.find(({ status }) => status > 409)?.text);
    const imported = await Promise.all(
      [first, other, first, other].map((world) => load('payments', [{ ...world.base, payment_id: `${id}.loaded` }])),
    );
    assert.deepEqual(imported.map(({ body }) => body.accepted).sort(), [0, 0, 0, 1]);
  }
});

/** Lets the sweep look at the claims of a client as if it came an hour later. @returns those that are left */
async function swept({ clientId }: World): Promise<string[]> {
  const age = `update claims set claimed_at = claimed_at - interval '1 hour' where client_id = $1`;
  await service.query(age, [clientId]);
  await service.query('delete from claims_swept');
  await sweepClaims(service.service.context.backgroundPool);
  return claimsOf({ clientId });
}

async function claimsOf({ clientId }: { clientId: string }): Promise<string[]> {
  const { rows } = await service.query('select id from claims where client_id = $1', [clientId]);
  return rows.map(({ id }) => id);
}

test('a creation that fails keeps no identifier, and an unwritten claim is taken up by its client', async () => {
  const [tradeId, paymentId] = [fresh(), fresh()];
  const multi = (world: World) => ({
    client_id: world.clientId,
    contact_id: world.contactId,
    trades: [{ ...trade(world), trade_id: tradeId }],
    payments: [multiPayment(world, { payment_id: paymentId }), multiPayment(world, { trade: 7 })],
  });
  const failed = await create('/multipayments', multi(first));
  assert.equal(failed.status, 400, failed.text);
  if (distributed) {
    assert.equal((await create('/multipayments', multi(other))).status, 409);
    const left = await swept(first);
    assert.ok(left.length > 0 && !left.includes(tradeId) && !left.includes(paymentId), left.join());
  }
  const body = multi(other);
  const done = await create('/multipayments', { ...body, payments: body.payments.slice(0, 1) });
  assert.equal(done.status, 201, done.text);

  const orphan = fresh();
  await service.query(`insert into claims (field, id, client_id) values ('trade_id', $1, $2)`, [
    orphan,
    first.clientId,
  ]);
  assert.equal((await create('/trades', { ...trade(other), trade_id: orphan })).status, 409);
  assert.equal((await load('trades', [{ ...trade(first), trade_id: orphan }])).body.accepted, 1);
});

test('the sweep leaves claims that have a record, and those that are young', async () => {
  if (!distributed) return assert.equal(await sweepClaims(service.service.context.backgroundPool), 0);
  const paid = [await first.pay(), await other.pay()].map(({ body }) => body.payment_id);
  const old = [fresh(), fresh()];
  for (const [index, world] of [first, other].entries())
    await service.query(`insert into claims (field, id, client_id) values ('payment_id', $1, $2)`, [
      old[index],
      world.clientId,
    ]);
  const before = await service.query('select count(*)::int as n from claims');
  await sweepClaims(service.service.context.backgroundPool);
  assert.deepEqual((await service.query('select count(*)::int as n from claims')).rows, before.rows);
  const left = [...(await swept(first)), ...(await swept(other))];
  assert.deepEqual(
    [...paid, ...old].map((id) => left.includes(id)),
    [true, true, false, false],
  );
});

test('identifiers lead the institution to the cell of the record', async () => {
  const subscriber = await createSubscriber(service, 'Subscriber');
  const id = await subscriber.subscribe({ types: ['PAYMENT_STATUS_CHANGE'] });
  const replayed = await service.operator('POST', `/subscriptions/${id}/replay`, { since: '2026-07-01T00:00:00Z' });
  assert.ok(replayed.status < 300, replayed.text);
  for (const world of [first, other]) {
    const paid = await world.pay();
    const path = `/payments/${paid.body.payment_id}`;
    assert.equal((await service.operator('GET', path)).body.client_id, world.clientId);
    const timeline = await service.operator('GET', `${path}/timeline`);
    assert.equal(timeline.status, 200, timeline.text);
    assert.equal((await service.operator('POST', `${path}/actions`, { action: 'validate' })).status, 200);
    const account = await create('/accounts', { client_id: world.clientId, currency: 'EUR' });
    const disabled = await service.operator('PATCH', `/accounts/${account.body.account_id}`, { status: 'Disabled' });
    assert.equal(disabled.status, 200, disabled.text);
  }
  assert.equal((await service.operator('GET', '/payments/NONE')).status, 404);
});

test('starting again gives up the identifiers of what it removes', async () => {
  const id = fresh();
  assert.equal((await create('/payments', { ...neighbour.base, payment_id: id })).status, 201);
  assert.equal((await create('/payments', { ...other.base, payment_id: id })).status, 409);
  const token = await accessToken(service, neighbour.contactId);
  const reset = await service.client(token, 'POST', `/sandbox/reset?client_id=${neighbour.clientId}`);
  assert.ok(reset.status < 300, reset.text);
  if (distributed) assert.equal((await create('/payments', { ...other.base, payment_id: id })).status, 409);
  assert.deepEqual(await (distributed ? swept(neighbour) : claimsOf(neighbour)), []);
  assert.equal((await create('/payments', { ...other.base, payment_id: id })).status, 201);
});

test('records from before there were several cells keep their identifiers', async () => {
  const made = await create('/clients', { client_name: 'Old' });
  assert.equal(made.status, 201, made.text);
  const clientId = made.body.client_id;
  await service.query('update clients set cell = 0 where client_id = $1', [clientId]);
  const old = await create('/beneficiaries', { ...beneficiary(first, 'OLD'), client_id: clientId });
  assert.equal(old.status, 201, old.text);
  await service.query(`delete from claims where id = 'OLD'`);
  const refused = await create('/beneficiaries', beneficiary(other, 'OLD'));
  assert.deepEqual([refused.status, refused.body.details], [409, 'body.beneficiary_id: is already in use']);
  const line = await load('beneficiaries', [beneficiary(other, 'OLD')]);
  assert.equal(line.body.rejected, 1, line.text);
});
