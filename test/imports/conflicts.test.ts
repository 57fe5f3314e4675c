import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { published } from '../world/change-feed.ts';
import { createWorld } from '../world/client.ts';
import { type Answer, call, startTestService, type TestService } from '../world/service.ts';

/** Lines whose identifier is in use (docs/imports.md, Records that exist). */

let service: TestService;
let world: Awaited<ReturnType<typeof createWorld>>;
let account: number;

before(async () => {
  service = await startTestService();
  world = await createWorld(service, 'Acme Ltd', { payment_approvals_enabled: true, authorisation_workflow: '4-eyes' });
  const opened = await service.operator('POST', '/currency-accounts', { client_id: world.clientId, currency: 'EUR' });
  account = opened.body.account_id;
});
after(() => service.stop());

let unique = 0;
const fresh = (prefix: string) => `${prefix}-${(unique += 1)}`;

function send(path: string, records: object[], token = service.operatorToken): Promise<Answer> {
  const raw = records.map((record) => `${JSON.stringify(record)}\n`).join('');
  return call(`${service.operatorUrl}/imports/${path}`, 'POST', {
    raw,
    token,
    headers: { 'content-type': 'application/x-ndjson' },
  });
}

/** A record of each kind, and values that another one would have, by field. */
function kinds(): Record<string, { record: Record<string, unknown>; others: Record<string, unknown> }> {
  const { client_id, contact_id, trade_id, beneficiary_id } = world.base;
  return {
    clients: {
      record: { client_id: fresh('C'), client_name: 'Bolt', statement_push_secret: 'hush', became_client: null },
      others: { client_name: 'Bolt Ltd', statement_push_secret: 'other', status: 'disabled', fx_enabled: false },
    },
    contacts: {
      record: {
        contact_id: fresh('P'),
        name: 'Ida',
        email: `${fresh('ida')}@example.com`,
        password: 'correct horse',
        clients: [{ client_id, permissions: ['can_manage_payments', 'can_authorise_payments'] }],
      },
      others: {
        name: 'Ada',
        password: 'battery staple',
        phone: '+44 20 7946 0000',
        language: 'de',
        approval_mails: false,
        clients: [{ client_id, permissions: ['can_manage_payments'] }],
      },
    },
    beneficiaries: {
      record: {
        client_id,
        beneficiary_id: fresh('B'),
        beneficiary_name: 'Müller',
        iban: 'DE89 3704 0044 0532 0130 00',
      },
      others: { beneficiary_name: 'Maier', iban: 'GB29NWBK60161331926819', beneficiary_blocked: true },
    },
    trades: {
      record: {
        ...{ client_id, contact_id, trade_id: fresh('T'), buy_currency: 'EUR', sell_currency: 'GBP' },
        ...{ buy_amount: 1_170, rate: '1.170', status: 'Created', maturity_date: '2027-01-01' },
      },
      others: { status: 'Funds In Full', rate: 1.18, maturity_date: '2027-01-02', reference: 'x' },
    },
    payments: {
      record: {
        ...{ client_id, contact_id, trade_id, beneficiary_id, payment_id: fresh('X'), amount: '100.00' },
        ...{ payment_currency: 'EUR', payment_date: '2026-12-01', status: 'Payment complete', sent_date: null },
        ...{ created_date: '2026-07-01', reference: 'Invoice 1', uuid: '7F5B1B3C-2B7E-4C57-9A1F-1D4A3A7D9C11' },
      },
      others: { amount: 100.01, payment_date: '2026-12-02', created_date: '2026-07-02', status: 'Executing Payment' },
    },
    transactions: {
      record: {
        ...{ client_id, currency_account_id: account, transaction_id: fresh('TX'), kind: 'DEBIT_TRANSACTION' },
        ...{
          amount: { amount: 10.5, currency: 'EUR' },
          creditor_account: { iban: 'X' },
          booking_datetime: '2026-07-01T08:00:00Z',
        },
      },
      others: {
        amount: { amount: '10.51', currency: 'EUR' },
        creditor_account: { iban: 'Y' },
        booking_datetime: '2026-07-01T08:00:01Z',
        kind: 'CREDIT_TRANSACTION',
      },
    },
  };
}

test('skip: the same content is unchanged; other content is refused, and the first field that differs is named', async () => {
  for (const [kind, { record, others }] of Object.entries(kinds())) {
    const path = `${kind}?on_conflict=skip`;
    const first = await send(path, [record, record]);
    assert.deepEqual(first.body, { accepted: 1, unchanged: 1, rejected: 0, errors: [] }, `${kind}: ${first.text}`);
    const again = await send(path, [record]);
    assert.deepEqual(again.body, { accepted: 0, unchanged: 1, rejected: 0, errors: [] }, `${kind}: ${again.text}`);
    const found = await service.operator('GET', `/imports/${again.headers.get('import-id')}`);
    assert.deepEqual([found.body.unchanged, found.body.lines_read], [1, 1]);
    for (const [field, value] of Object.entries(others)) {
      const other = await send(path, [{ ...record, [field]: value }]);
      assert.deepEqual([other.body.accepted, other.body.unchanged, other.body.rejected], [0, 0, 1], kind);
      const [error] = other.body.errors;
      assert.deepEqual([error.line, error.code], [1, 'already_exists'], other.text);
      assert.ok(error.details.startsWith(`body.${field}: `), `${kind}: ${error.details}`);
    }
    const rejected = await send(`${kind}?on_conflict=reject`, [record]);
    assert.equal(rejected.body.errors[0].code, 'already_exists');
  }
});

/** The changes of a record, as the feed shows them once all are published. */
async function changesOf(entity: string, id: string): Promise<{ version: number; action: string; data: unknown }[]> {
  await published(service);
  const found = [];
  let page = (await service.operator('GET', `/changes?entities=${entity}&limit=1000`)).body;
  for (;;) {
    found.push(...page.changes.filter((change: { entity_id: string }) => change.entity_id === id));
    if (!page.more) return found;
    page = (await service.operator('GET', `/changes?entities=${entity}&limit=1000&after=${page.cursor}`)).body;
  }
}

test('update: changes as PATCH does, creates what does not exist, and leaves what is the same', async () => {
  const made = kinds();
  const given: Record<string, [string, string, object]> = {
    clients: ['client_id', 'client', { client_name: 'Bolt Ltd', statement_push_secret: 'other' }],
    contacts: ['contact_id', 'contact', { name: 'Ada', password: 'battery staple', clients: [] }],
    beneficiaries: ['beneficiary_id', 'beneficiary', { beneficiary_name: 'Maier', iban: 'GB29NWBK60161331926819' }],
    trades: ['trade_id', 'trade', { status: 'Funds In Full' }],
  };
  for (const [kind, [idField, entity, change]] of Object.entries(given)) {
    const { record } = made[kind] as { record: Record<string, unknown> };
    const id = record[idField] as string;
    const other = { ...(kinds()[kind]?.record as Record<string, unknown>) };
    const path = `${kind}?on_conflict=update`;
    assert.equal((await send(path, [record])).body.accepted, 1);
    // Only what is to change, the same twice, a line that changes nothing, and one that is new.
    const answer = await send(path, [{ [idField]: id, ...change }, { [idField]: id, ...change }, record, other]);
    const [accepted, unchanged] = [answer.body.accepted, answer.body.unchanged];
    assert.deepEqual([accepted, unchanged, answer.body.rejected], [3, 1, 0], `${kind}: ${answer.text}`);
    const final = await send(path, [{ ...record, ...change }]);
    assert.deepEqual([final.body.accepted, final.body.unchanged], [1, 0], final.text);
    const changes = await changesOf(entity as string, id);
    assert.deepEqual(
      changes.map(({ version, action }) => [version, action]),
      [
        [1, 'import'],
        [2, 'update'],
        [3, 'update'],
      ],
      kind,
    );
    const folder = kind === 'beneficiaries' ? 'beneficiaries' : kind;
    const read = await service.operator('GET', `/${folder}/${id}`);
    assert.deepEqual(changes.at(-1)?.data, read.body, 'the feed shows the record as it is');
  }
});

test('update: what PATCH does not change, and what lacks a field of a new record, is refused', async () => {
  const { trades, beneficiaries } = kinds();
  await send('trades', [trades?.record as object]);
  const trade = await send('trades?on_conflict=update', [{ ...trades?.record, rate: 1.18, status: 'Closed' }]);
  assert.deepEqual(
    [trade.body.errors[0].code, trade.body.errors[0].details.split(':')[0]],
    ['already_exists', 'body.rate'],
  );
  await send('beneficiaries', [beneficiaries?.record as object]);
  const another = await createWorld(service, 'Other Ltd');
  const moved = await send('beneficiaries?on_conflict=update', [
    { ...beneficiaries?.record, client_id: another.clientId },
    { beneficiary_id: fresh('B'), beneficiary_name: 'New' },
    { ...beneficiaries?.record, beneficiary_id: fresh('B') },
  ]);
  assert.deepEqual(
    moved.body.errors.map((error: { line: number; code: string; details: string }) => [
      error.line,
      error.code,
      error.details,
    ]),
    [
      [1, 'already_exists', 'body.client_id: is not that of the record that exists'],
      [2, 'invalid_body', 'body.client_id: is required'],
    ],
  );
  assert.equal(moved.body.accepted, 1);
  for (const kind of ['payments', 'transactions']) {
    const refused = await send(`${kind}?on_conflict=update`, []);
    assert.deepEqual([refused.status, refused.body.code], [400, 'invalid_parameter']);
    assert.match(refused.body.details, /^query\.on_conflict: /);
  }
  assert.equal((await send('clients?on_conflict=maybe', [])).status, 400);
});

test('update: a changed contact approves what waits; a line at fault costs only itself', async () => {
  const payment = await world.pay();
  assert.equal(payment.body.status, 'Payment pending of authorization');
  const record = { contact_id: fresh('P'), name: 'Ida', email: `${fresh('ida')}@example.com`, clients: [] };
  const rival = { contact_id: fresh('P'), name: 'Eve', email: `${fresh('eve')}@example.com`, clients: [] };
  await send('contacts', [record, rival]);
  const answer = await send('contacts?on_conflict=update', [
    { contact_id: record.contact_id, clients: [{ client_id: world.clientId }] },
    { contact_id: rival.contact_id, email: record.email },
    { contact_id: rival.contact_id, clients: [{ client_id: 'nobody' }] },
  ]);
  assert.deepEqual(
    [answer.body.accepted, answer.body.errors.map((error: { line: number; code: string }) => [error.line, error.code])],
    [
      1,
      [
        [2, 'already_exists'],
        [3, 'client_not_found'],
      ],
    ],
    answer.text,
  );
  const acted = await service.operator('POST', `/payments/${payment.body.payment_id}/actions`, {
    action: 'authorise',
    contact_id: record.contact_id,
  });
  assert.equal(acted.body.status, 'Validating beneficiary information', acted.text);
});

test('update of a trade notifies where that is asked for', async () => {
  const record = kinds().trades?.record as { trade_id: string };
  const told = async () => {
    const { rows } = await service.query(
      `select body::json -> 'data' -> 0 ->> 'status' as status from webhook_events where body like $1 order by id`,
      [`%"${record.trade_id}"%`],
    );
    return rows.map((row) => row.status);
  };
  await send('trades', [record]);
  await send('trades?on_conflict=update', [{ trade_id: record.trade_id, status: 'Funds In Full' }]);
  assert.deepEqual(await told(), []);
  await send('trades?on_conflict=update&notify=true', [{ trade_id: record.trade_id, status: 'Closed' }]);
  assert.deepEqual(await told(), ['Closed']);
});
