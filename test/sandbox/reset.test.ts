import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { LOCKS } from '../../src/database/locks.ts';
import { ensureDemonstration } from '../../src/sandbox/demonstration/demonstration.ts';
import { accessToken } from '../world/access-token.ts';
import { published } from '../world/change-feed.ts';
import { copyOf } from '../world/feed-copy.ts';
import { listening } from '../world/ports.ts';
import { createIntegrator } from '../world/sandbox.ts';
import { call, startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';

let service: TestService;
let ada: string;
let edith: string;
before(async () => {
  service = await startTestService();
  await ensureDemonstration(service.service.context);
  ada = await accessToken(service, 'CON000001');
  edith = await accessToken(service, 'CON000004');
});
after(() => service.stop());

const one = (method: string, path: string, body?: unknown) => ask(ada, 'CLI000001', method, path, body);
const two = (method: string, path: string, body?: unknown) => ask(edith, 'CLI000002', method, path, body);
function ask(token: string, client: string, method: string, path: string, body?: unknown) {
  const address = `${path}${path.includes('?') ? '&' : '?'}client_id=${client}`;
  return service.client(token, method, address, body === undefined ? {} : { body });
}

/** What a client sees. */
async function picture(get: typeof one) {
  const payments = await get('GET', '/payments?page_size=1000');
  const config = await get('GET', '/approvals-workflow/config');
  const accounts = await get('GET', '/accounts/currency-accounts');
  const byId = payments.body.toSorted((a: { payment_id: string }, b: { payment_id: string }) =>
    a.payment_id < b.payment_id ? -1 : 1,
  );
  return { total: payments.headers.get('x-total-count'), payments: byId, config: config.body, accounts: accounts.body };
}

describe('the demonstration', () => {
  test('has what the examples of the description name', async () => {
    const { body: described } = await call(`${service.api}/openapi.json`, 'GET');
    const idOf = (path: string, method: string) => {
      const parameter = described.paths[path][method].parameters.find((each: { in: string }) => each.in === 'path');
      const examples = parameter.schema.examples ?? parameter.examples ?? [parameter.example];
      const example = Object.values(examples)[0] as string | { value: string };
      return typeof example === 'string' ? example : example.value;
    };
    const id = idOf('/payments/{payment_id}', 'patch');
    assert.equal((await one('PATCH', `/payments/${id}?action=authorise`)).status, 204, id);
    const multipayment = idOf('/multipayments/{multipayment_id}', 'delete');
    assert.equal((await one('DELETE', `/multipayments/${multipayment}`)).status, 204, multipayment);
    const { schema, examples, example } =
      described.paths['/approvals-workflow/config'].post.requestBody.content['application/json'];
    const named = examples && Object.values(examples as Record<string, { value: unknown }>)[0]?.value;
    const resolved = schema.$ref ? described.components.schemas[schema.$ref.split('/').at(-1)] : schema;
    const configuration = example ?? named ?? resolved.examples?.[0] ?? resolved.example;
    assert.ok(configuration);
    const replaced = await one('POST', '/approvals-workflow/config', configuration);
    assert.equal(replaced.status, 200, replaced.text);
  });

  test('has payments to approve and multi payments to reject, several times, of each client', async () => {
    assert.equal((await one('POST', '/sandbox/reset')).status, 204);
    for (const get of [one, two]) {
      const mine = (await get('GET', '/payments?status=pending_your_approval&page_size=1000')).body;
      assert.ok(mine.length >= 20, String(mine.length));
      const open = [
        ...new Set(mine.map((payment: { multipayment_id: string | null }) => payment.multipayment_id)),
      ].filter(Boolean);
      assert.ok(open.length >= 4);
      assert.equal((await get('DELETE', `/multipayments/${open[0]}`)).status, 204);
      const { payment_id: id } = mine.find((payment: { multipayment_id: string | null }) => !payment.multipayment_id);
      assert.equal((await get('PATCH', `/payments/${id}?action=authorise`)).status, 204);
    }
  });
});

describe('POST /sandbox/reset', () => {
  test('makes the data of the demonstration again, of this client only', async (t) => {
    // What the demonstration says depends on the day and on the minute, and pictures are compared.
    const moment = service.service.context.clock.now();
    t.mock.method(service.service.context.clock, 'now', () => moment);
    assert.equal((await one('POST', '/sandbox/reset')).status, 204);
    const before = { one: await picture(one), two: await picture(two) };
    await one('POST', '/sandbox/trigger', { event: 'PAYMENT_STATUS_CHANGE:RETURNED' });
    await one('POST', '/sandbox/trigger', { event: 'TRADE_STATUS_CHANGE:Closed' });
    await one('POST', '/sandbox/trigger', { event: 'CREDIT_TRANSACTION' });
    await one('POST', '/statements/accounts', { date_from: '2026-07-01', date_to: '2026-07-02' });
    await one('POST', '/approvals-workflow/config', {
      groups: [{ name: 'all', scope: 'payments', users: [{ id: 'CON000001' }] }],
      ruleset: { currency: 'GBP', rules: [{ minimum_threshold: 0, groups: [{ one_of: [{ all_of: ['all'] }] }] }] },
    });
    await service.operator('POST', '/currency-accounts', { client_id: 'CLI000001', currency: 'JPY' });
    const changed = await picture(one);
    assert.notDeepEqual(changed.accounts, before.one.accounts);
    assert.notDeepEqual(changed.config, before.one.config);
    const count = async (table: string, where = 'true') =>
      (await service.query(`select count(*)::int as n from ${table} where ${where}`)).rows[0].n;
    const audited = await count('audit');
    assert.equal((await one('POST', '/sandbox/reset')).status, 204);
    assert.deepEqual(await picture(one), before.one);
    assert.deepEqual(await picture(two), before.two);
    assert.equal(await count('audit'), audited + 1);
    const { rows } = await service.query(
      'select actor, action, entity, entity_id, client_id, after from audit order by id desc limit 1',
    );
    assert.deepEqual(rows[0], {
      actor: 'contact:CON000001',
      action: 'action',
      entity: 'client',
      entity_id: 'CLI000001',
      client_id: 'CLI000001',
      after: { action: 'reset' },
    });
    assert.equal(await count('webhook_events', "client_id = 'CLI000001'"), 0);
    assert.equal(await count('statement_requests', "client_id = 'CLI000001'"), 0);
    // New identifiers go on; the documented mass beneficiary is there.
    const made = await one('POST', '/sandbox/payments', {});
    assert.equal(made.status, 201, made.text);
    const errors = await one('GET', '/mass-beneficiaries/3f1b8a52-6c0d-4f5e-9b1e-2f6a7c8d9e01/errors');
    assert.equal(errors.body.length, 2);
    assert.equal((await two('POST', '/sandbox/reset')).status, 204);
    assert.deepEqual((await picture(two)).config, before.two.config);
  });

  test('frees the keys of what it removes', async () => {
    const order = () =>
      service.client(ada, 'POST', '/beneficiaries?client_id=CLI000001', {
        headers: { 'idempotency-key': 'before-and-after-the-reset' },
        body: {
          ...{ name: 'Neu GmbH', country_code: 'DE', bank_country_code: 'DE', bank_currency_code: 'EUR' },
          iban: 'DE02120300000000202051',
        },
      });
    const before = await order();
    assert.equal(before.status, 201, before.text);
    assert.equal((await order()).headers.get('idempotency-replayed'), 'true');
    assert.equal((await one('POST', '/sandbox/reset')).status, 204);
    const after = await order();
    assert.deepEqual([after.status, after.headers.get('idempotency-replayed')], [201, null]);
    assert.equal((await one('GET', `/beneficiaries/${after.body.beneficiary_id}`)).status, 200);
  });

  test('works again and again, also where people have lost what the demonstration gave them', async () => {
    const clients = [{ client_id: 'CLI000001', permissions: ['can_manage_payments'] }];
    assert.equal((await service.operator('PATCH', '/contacts/CON000003', { clients })).status, 200);
    assert.equal((await one('POST', '/sandbox/reset')).status, 204);
    assert.equal((await one('POST', '/sandbox/reset')).status, 204);
  });

  test('lets what the institution makes again under the same identifier go on counting its versions', async () => {
    const own = await createIntegrator(service, { payment_approvals_enabled: true, authorisation_workflow: '4-eyes' });
    const { clientId, contactId } = own;
    const [trade, payee, first, second] = Array.from({ length: 4 }, () => randomUUID());
    const imports = async (kind: string, lines: object[]) => {
      const raw = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
      const headers = { 'content-type': 'application/x-ndjson' };
      const { body } = await call(`${service.operatorUrl}/imports/${kind}`, 'POST', {
        ...{ token: service.operatorToken, headers, raw },
      });
      assert.equal(body.accepted, lines.length, JSON.stringify(body));
    };
    const make = async () => {
      const post = async (path: string, body: object) => {
        const { status, text } = await service.operator('POST', path, body);
        assert.equal(status, 201, text);
      };
      const deal = { buy_currency: 'EUR', sell_currency: 'GBP', buy_amount: 100, rate: 1.17 };
      await post('/trades', { client_id: clientId, contact_id: contactId, trade_id: trade, ...deal });
      const account = { iban: 'DE89370400440532013000', currency: 'EUR' };
      await post('/beneficiaries', {
        ...{ client_id: clientId, beneficiary_id: payee, beneficiary_name: 'Müller GmbH', ...account },
      });
      const payment = { ...own.base, trade_id: trade, beneficiary_id: payee };
      await post('/payments', { ...payment, payment_id: first });
      await imports('payments', [{ ...payment, payment_id: second, status: 'Payment complete' }]);
      const decided = await service.operator('POST', `/payments/${first}/actions`, {
        ...{ action: 'authorise', contact_id: (await own.join('Approver')).contactId },
      });
      assert.equal(decided.status, 200, decided.text);
    };
    await make();
    for (let times = 0; times < 2; times += 1) {
      assert.equal((await own.ask('POST', '/sandbox/reset')).status, 204);
      await make();
    }
    await published(service);
    const { body: feed } = await service.operator('GET', `/changes?client_id=${clientId}&limit=1000`);
    const told = Map.groupBy<string, { entity: string; entity_id: string; version: number }>(
      feed.changes,
      ({ entity, entity_id: id }) => `${entity} ${id}`,
    );
    for (const [record, changes] of told)
      assert.deepEqual(
        changes.map(({ version }) => version),
        changes.map((_, index) => index + 1),
        record,
      );
    for (const id of [`trade ${trade}`, `beneficiary ${payee}`, `payment ${first}`, `payment ${second}`])
      assert.ok((told.get(id)?.length ?? 0) >= 5, `${id}: ${told.get(id)?.length}`);
  });

  test('tells the feed of each approval, and counts its versions without gaps', async () => {
    for (const resets of [0, 1, 2]) {
      if (resets > 0) assert.equal((await two('POST', '/sandbox/reset')).status, 204);
      await published(service);
      const { body: feed } = await service.operator('GET', '/changes?entities=approval&client_id=CLI000002&limit=1000');
      assert.equal(feed.more, false);
      const versions = Map.groupBy<string, { entity_id: string; version: number }>(
        feed.changes,
        (each) => each.entity_id,
      );
      for (const [id, told] of versions)
        assert.deepEqual(
          told.map(({ version }) => version),
          told.map((_, index) => index + 1),
          id,
        );
      const { rows } = await service.query(
        `select p.payment_id || '/' || (a.value->>'contact_id') as id
         from payment_approvals pa join payments p on p.id = pa.payment_id, json_array_elements(pa.authorisations) a
         where p.client_id = 'CLI000002' order by 1`,
      );
      assert.ok(rows.length > 0);
      assert.deepEqual(
        [...copyOf(feed.changes).values()].map((change) => change.entity_id).toSorted(),
        rows.map((row) => row.id).toSorted(),
      );
    }
  });

  test('works with the rates that the institution has set, and leaves them', async () => {
    const { body: former } = await service.operator('GET', '/exchange-rates');
    const rates = await service.operator('PUT', '/exchange-rates', { base_currency: 'GBP', rates: { USD: 1.3 } });
    assert.equal(rates.status, 200, rates.text);
    const reset = await two('POST', '/sandbox/reset');
    assert.equal(reset.status, 204, reset.text);
    assert.deepEqual((await service.operator('GET', '/exchange-rates')).body, rates.body);
    await service.operator('PUT', '/exchange-rates', former[0]);
  });

  test('leaves nothing of trades that are gone to be added to them', async (t) => {
    const client = await createIntegrator(service);
    // Nobody adds up meanwhile, in any cell.
    const adding = new pg.Client({ connectionString: service.databaseUrl });
    await adding.connect();
    t.after(() => adding.end());
    await adding.query(
      'select pg_advisory_lock($1::bigint + (cell << 32)) from generate_series(0::bigint, 9) as cell',
      [LOCKS.paymentTotals],
    );
    const paid = await service.operator('POST', '/payments', client.base);
    assert.equal(paid.status, 201, paid.text);
    const left = async () =>
      (await service.query('select from trade_allocation_deltas where client_id = $1', [client.clientId])).rowCount;
    assert.equal(await left(), 1);
    assert.equal((await client.ask('POST', '/sandbox/reset')).status, 204);
    assert.equal(await left(), 0);
  });

  test('what others make meanwhile is removed and told of, or stays', async (t) => {
    const client = await createIntegrator(service);
    assert.equal((await client.ask('POST', '/sandbox/trigger', { event: 'TRADE_STATUS_CHANGE:Created' })).status, 201);
    // Removing begins with this table: it waits there, after it has told the feed what it removes.
    const other = new pg.Client({ connectionString: service.databaseUrl });
    await other.connect();
    t.after(() => other.end());
    const { rows: cells } = await service.query(
      'select quote_ident(e.schema) as schema from clients c join cells e on e.number = c.cell where c.client_id = $1',
      [client.clientId],
    );
    await other.query(`begin; lock table ${cells[0].schema}.step_up_challenges in share mode`);
    const reset = client.ask('POST', '/sandbox/reset');
    await until(async () => {
      const { rows } = await service.query(
        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like 'delete from step_up%'",
      );
      return rows.length > 0;
    });
    const trade = await service.operator('POST', '/trades', {
      ...{ client_id: client.clientId, contact_id: client.contactId, trade_id: 'TRD-MEANWHILE' },
      ...{ buy_currency: 'EUR', sell_currency: 'GBP', buy_amount: '10.00', rate: '1.17', maturity_date: '2030-01-02' },
    });
    assert.equal(trade.status, 201, trade.text);
    await other.query('commit');
    assert.equal((await reset).status, 204);
    const { rows } = await service.query('select trade_id from trades where client_id = $1', [client.clientId]);
    await published(service);
    const { body: feed } = await service.operator(
      'GET',
      `/changes?entities=trade&client_id=${client.clientId}&limit=1000`,
    );
    assert.deepEqual(
      [...copyOf(feed.changes).values()].map((change) => change.entity_id),
      rows.map((row) => row.trade_id),
    );
  });

  test('a client that the demonstration did not make is empty; tokens, contacts, subscriptions and the log stay', async (t) => {
    const received: string[] = [];
    const receiver = createServer((request, response) => {
      request.resume().on('end', () => {
        received.push(String(request.headers['x-service-webhook']));
        response.writeHead(500).end();
      });
    });
    const port = await listening(receiver);
    t.after(() => receiver.close());
    const client = await createIntegrator(service);
    const created = await client.ask('POST', '/webhooks/graphql', {
      query: `mutation { createSubscription(input: {subscription: {url: "http://127.0.0.1:${port}/", active: true, types: [PAYMENT_STATUS_CHANGE]}}) { subscription { id } } }`,
    });
    assert.ok(created.body.data.createSubscription.subscription.id, created.text);
    await client.ask('POST', '/sandbox/trigger', { event: 'PAYMENT_STATUS_CHANGE:SENT' });
    assert.equal((await client.ask('POST', '/sandbox/reset')).status, 204);
    assert.deepEqual(await client.notified(), []);
    assert.deepEqual((await client.ask('GET', '/payments')).body, []);
    assert.deepEqual((await client.ask('GET', '/accounts/currency-accounts')).body, []);
    const queue = await service.query('select count(*)::int as n from webhook_queue where client_id = $1', [
      client.clientId,
    ]);
    assert.equal(queue.rows[0].n, 0);
    const kept = await client.ask('POST', '/webhooks/graphql', {
      query: '{ subscriptions { nodes { active notifications { totalCount } } } }',
    });
    assert.deepEqual(kept.body.data.subscriptions.nodes, [{ active: true, notifications: { totalCount: 0 } }]);
    assert.ok((await client.ask('GET', '/sandbox/requests')).body.length > 3);
    assert.equal((await client.ask('POST', '/sandbox/trigger', { event: 'PAYMENT_STATUS_CHANGE' })).status, 201);
  });
});
