import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Secret, TOTP } from 'otpauth';
import { createSubscriber } from '../world/graphql.ts';
import { type Answer, call, startTestService, type TestService } from '../world/service.ts';
import {
  authorizeUrl,
  createApplication,
  createPerson,
  signInHeadless,
  type TestApplication,
  Visitor,
} from '../world/visitor.ts';

/** What every listener takes and refuses of numbers, texts and identifiers (docs/decisions.md, 1). */

let service: TestService;
let world: Awaited<ReturnType<typeof createSubscriber>>;
let application: TestApplication;

before(async () => {
  service = await startTestService();
  world = await createSubscriber(service);
  application = await createApplication(service);
});
after(() => service.stop());

/** A call to the operator interface whose body is this text. */
const raw = (method: string, path: string, text: string): Promise<Answer> =>
  call(`${service.operatorUrl}${path}`, method, {
    raw: text,
    token: service.operatorToken,
    headers: { 'content-type': 'application/json' },
  });

/** A call to the client API, or a form or query of the authorization server, whose text is this one. */
const client = (method: string, path: string, text?: string): Promise<Answer> =>
  call(`${service.api}${path}${path.includes('?') ? '&' : '?'}client_id=${world.clientId}`, method, {
    token: world.token,
    ...(text === undefined ? {} : { raw: text, headers: { 'content-type': 'application/json' } }),
  });

async function importLines(kind: string, lines: string[]): Promise<Answer> {
  return call(`${service.operatorUrl}/imports/${kind}`, 'POST', {
    raw: `${lines.join('\n')}\n`,
    token: service.operatorToken,
    headers: { 'content-type': 'application/x-ndjson' },
  });
}

function refused(answer: Answer, field: string, what = ''): void {
  assert.equal(answer.status, 400, `${what}: ${answer.status} ${answer.text}`);
  assert.ok(answer.body.details.startsWith(`${field}:`), `${what}: ${answer.body.details} is not about ${field}`);
}

describe('empty texts and what the database refuses', () => {
  const trade = () => ({
    client_id: world.clientId,
    contact_id: world.contactId,
    buy_currency: 'EUR',
    sell_currency: 'GBP',
    buy_amount: 10,
    rate: 1.17,
  });

  test('an empty parent_trade_id is a 400 that names it, in a single call, a multi payment and an import', async () => {
    const parent = { ...trade(), parent_trade_id: '' };
    refused(await service.operator('POST', '/trades', parent), 'body.parent_trade_id');
    for (const type of ['spot', 'drawdown'])
      refused(await service.operator('POST', '/trades', { ...parent, trade_type: type }), 'body.parent_trade_id');
    const { client_id: clientId, contact_id: contactId, ...booked } = parent;
    const multi = { client_id: clientId, contact_id: contactId, trades: [booked], payments: [] };
    refused(await service.operator('POST', '/multipayments', multi), 'body.trades[0].parent_trade_id');
    const answer = await importLines('trades', [JSON.stringify(trade()), JSON.stringify(parent)]);
    assert.deepEqual([answer.status, answer.body.accepted, answer.body.rejected], [200, 1, 1], answer.text);
    assert.ok(answer.body.errors[0].details.startsWith('body.parent_trade_id:'), answer.text);
  });

  test('no optional field takes an empty text for an absent one', async () => {
    const clientId = world.clientId;
    const refusals: [string, string, object, string][] = [
      ['POST', '/trades', { ...trade(), maturity_date: '' }, 'body.maturity_date'],
      ['POST', '/trades', { ...trade(), order_date: '' }, 'body.order_date'],
      ['POST', '/clients', { client_name: 'A', became_client: '' }, 'body.became_client'],
      ['POST', '/clients', { client_name: 'A', statement_push_url: '' }, 'body.statement_push_url'],
      ['POST', '/contacts', { name: 'A', email: 'a@b.example', phone: '', clients: [] }, 'body.phone'],
      [
        'POST',
        '/onboarding-events',
        { client_id: clientId, onboarding_status: 'x', became_client: '' },
        'body.became_client',
      ],
      ['POST', '/operator-tokens', { name: 'empty', role: 'core', expires_at: '' }, 'body.expires_at'],
      ['POST', `/payments`, { ...world.base, mass_payment_id: '' }, 'body.mass_payment_id'],
      ['POST', `/payments`, { ...world.base, fee_amount: '' }, 'body.fee_amount'],
    ];
    for (const [method, path, body, field] of refusals)
      refused(await service.operator(method, path, body), field, `${path} ${field}`);
    const lines = [
      { client_name: 'A', became_client: '' },
      { client_name: 'A', statement_push_url: '' },
    ];
    const imported = await importLines(
      'clients',
      lines.map((line) => JSON.stringify(line)),
    );
    assert.deepEqual([imported.status, imported.body.rejected], [200, 2], imported.text);
  });

  test('a value that a check constraint refuses is a 400 that names the field of the constraint', async () => {
    await service.query(
      "alter table beneficiaries add constraint beneficiaries_bank_identifier_check check (bank_identifier <> 'X')",
    );
    const beneficiary = { client_id: world.clientId, beneficiary_name: 'B', bank_identifier: 'x' };
    refused(await service.operator('POST', '/beneficiaries', beneficiary), 'body.bank_identifier');
    const answer = await importLines('beneficiaries', [
      JSON.stringify({ ...beneficiary, bank_identifier: 'y' }),
      JSON.stringify(beneficiary),
    ]);
    assert.deepEqual([answer.status, answer.body.accepted, answer.body.rejected], [200, 1, 1], answer.text);
    assert.ok(answer.body.errors[0].details.startsWith('body.bank_identifier:'), answer.text);
  });

  test('every check constraint is named after its table and the field that it is about', async () => {
    const { rows } = await service.query(
      `select r.relname as table, c.conname as name, array_agg(a.attname) as columns from pg_constraint c
       join pg_class r on r.oid = c.conrelid join pg_namespace n on n.oid = r.relnamespace
       join pg_attribute a on a.attrelid = r.oid and a.attnum = any(c.conkey)
       where c.contype = 'c' and not r.relispartition and n.nspname not in ('pg_catalog', 'information_schema') group by 1, 2`,
    );
    assert.ok(rows.length > 20);
    for (const { table, name, columns } of rows) {
      const field = name.slice(table.length + 1, -'_check'.length);
      assert.equal(name, `${table}_${field}_check`);
      assert.ok(String(columns).replace(/[{}"]/g, '').split(',').includes(field), `${name}: ${columns}`);
    }
  });
});

describe('numbers', () => {
  test('60.0 and 28.00 are the integers 60 and 28', async () => {
    const made = await raw(
      'POST',
      '/applications',
      '{"name":"N","redirect_uris":["https://n.example/"],"refresh_token_days":28.00}',
    );
    assert.equal(made.status, 201, made.text);
    assert.equal(made.body.refresh_token_days, 28);
    const secret = await raw('POST', `/applications/${made.body.client_id}/secret`, '{"overlap_seconds":60.0}');
    assert.equal(secret.body.overlap_seconds, 60, secret.text);
    const patch = (days: string) =>
      raw('PATCH', `/applications/${made.body.client_id}`, `{"refresh_token_days":${days}}`);
    assert.equal((await patch('290e-1')).body.refresh_token_days, 29);
    for (const number of ['28.5', '"28"', '1e400', '28000000000000000000'])
      refused(await patch(number), 'body.refresh_token_days', number);
    const moved = await raw('PUT', '/clock', '{"advance_seconds":0.50}');
    assert.equal(moved.status, 200, moved.text);
  });

  test('an account of 2^53 + 1 is not the one of 2^53', async () => {
    const booking = { client_id: world.clientId, kind: 'CREDIT_TRANSACTION', amount: { amount: '1', currency: 'EUR' } };
    const text = JSON.stringify({ ...booking, currency_account_id: 1 }).replace(':1}', ':9007199254740993}');
    refused(await raw('POST', '/transactions', text), 'body.currency_account_id');
    const answer = await importLines('transactions', [text]);
    assert.ok(answer.body.errors[0].details.startsWith('body.currency_account_id:'), answer.text);
  });

  test('a number is never a text, whatever way it is written', async () => {
    for (const number of ['1', '1.0', '1.50', '1e3', '12345678901234567890', '0.10']) {
      refused(await raw('POST', '/clients', `{"client_name":${number}}`), 'body.client_name', number);
      const imported = await importLines('clients', [`{"client_name": ${number}}`]);
      assert.equal(imported.body.errors[0].details, 'body.client_name: must be a text', number);
      const group = `{"groups":[{"name":${number},"users":[]}],"ruleset":{"currency":"EUR","rules":[]}}`;
      refused(await client('POST', '/approvals-workflow/config', group), 'body.groups[0].name', number);
      const day = `{"date_from":${number},"date_to":"2026-01-01"}`;
      refused(await client('POST', '/statements/accounts', day), 'body.date_from', number);
    }
  });

  test('amounts keep their digits: in a single call, an import, rates and rules', async () => {
    for (const amount of ['0.10', '1250.50', '12345678901234567.89', '100.00', '1e2']) {
      const body = JSON.stringify({ ...world.base, amount: 0 }).replace('"amount":0', `"amount":${amount}`);
      const made = await raw('POST', '/payments', body);
      assert.equal(made.status, 201, made.text);
      const plain = amount === '1e2' ? '100' : amount;
      assert.match(made.text, new RegExp(`"amount":${plain},`), amount);
      const imported = await importLines('payments', [body]);
      assert.equal(imported.body.accepted, 1, imported.text);
      const { rows } = await service.query('select amount::text from payments order by id desc limit 2');
      assert.deepEqual(
        rows.map((row) => row.amount),
        [plain, plain],
      );
    }
    const rates = await raw('PUT', '/exchange-rates', '{"base_currency":"GBP","rates":{"USD":1.234567890120}}');
    assert.match(rates.text, /1\.234567890120/);
    const rules =
      '{"groups":[{"name":"a","users":[{"id":"%"}]}],"ruleset":{"currency":"EUR","rules":[{"minimum_threshold":50000.10,"groups":[{"one_of":[{"all_of":["a"]}]}]}]}}';
    const replaced = await client('POST', '/approvals-workflow/config', rules.replace('%', world.contactId));
    assert.equal(replaced.status, 200, replaced.text);
    assert.match(replaced.text, /"minimum_threshold":50000\.10/);
  });
});

describe('currencies', () => {
  const wrong = ['QQQ', 'XXX', 'DEM', 'AAA'];

  test('what is none of ISO 4217 is a 400 that names the field, wherever a currency is given', async () => {
    const { clientId: client_id, contactId: contact_id } = world;
    const trade = { client_id, contact_id, buy_currency: 'EUR', sell_currency: 'GBP', buy_amount: 10, rate: 1.17 };
    const given: [string, string, (currency: string) => object, string][] = [
      ['POST', '/accounts', (currency) => ({ client_id, currency }), 'currency'],
      ['POST', '/currency-accounts', (currency) => ({ client_id, currency }), 'currency'],
      ['POST', '/beneficiaries', (currency) => ({ client_id, beneficiary_name: 'B', currency }), 'currency'],
      ['PATCH', `/beneficiaries/${world.beneficiaryId}`, (currency) => ({ currency }), 'currency'],
      ['POST', '/trades', (currency) => ({ ...trade, buy_currency: currency }), 'buy_currency'],
      ['POST', '/trades', (currency) => ({ ...trade, sell_currency: currency }), 'sell_currency'],
      ['POST', '/trades', (currency) => ({ ...trade, fee_currency: currency }), 'fee_currency'],
      ['POST', '/payments', (currency) => ({ ...world.base, payment_currency: currency }), 'payment_currency'],
      ['POST', '/payments', (currency) => ({ ...world.base, fee_currency: currency }), 'fee_currency'],
      ['PUT', '/exchange-rates', (currency) => ({ base_currency: currency, rates: { EUR: 1 } }), 'base_currency'],
      ['PUT', '/exchange-rates', (currency) => ({ base_currency: 'GBP', rates: { [currency]: 1 } }), 'rates'],
    ];
    for (const [method, path, body, field] of given)
      for (const currency of wrong) {
        const answer = await service.operator(method, path, body(currency));
        assert.equal(answer.status, 400, `${path} ${currency}: ${answer.text}`);
        const named = field === 'rates' ? `rates.${currency}` : field;
        assert.equal(answer.body.details, `body.${named}: must be a currency of ISO 4217, as EUR`, path);
      }
    for (const currency of wrong) {
      const config = { groups: [], ruleset: { currency, rules: [] } };
      const answer = await client('POST', '/approvals-workflow/config', JSON.stringify(config));
      assert.equal(answer.body.details, 'body.ruleset.currency: must be a currency of ISO 4217, as EUR');
      const { body } = await importLines('payments', [JSON.stringify({ ...world.base, payment_currency: currency })]);
      assert.equal(body.errors[0].details, 'body.payment_currency: must be a currency of ISO 4217, as EUR');
      // A search for one finds nothing.
      assert.deepEqual((await client('GET', `/payments?payment_currency=${currency},EUR`)).status, 200);
    }
  });

  test('the currencies in use are taken, rare ones and those of the last years too', async () => {
    for (const currency of ['CHF', 'JPY', 'BHD', 'VES', 'ZWG', 'XCG', 'XAF', 'SLE', 'BGN', 'HRK']) {
      const made = await service.operator('POST', '/currency-accounts', { client_id: world.clientId, currency });
      assert.equal(made.status, 201, made.text);
    }
  });
});

describe('texts that cannot be stored', () => {
  const broken: [string, string][] = [
    ['a high surrogate', '\\ud800'],
    ['a low surrogate', 'x\\udfffy'],
    ['two in the wrong order', '\\udc00\\ud800'],
    ['NUL', 'a\\u0000b'],
    ['a surrogate in capitals', '\\uD800'],
  ];

  for (const [what, written] of broken) {
    test(`${what} in a body: 400 that names the field`, async () => {
      refused(await raw('POST', '/clients', `{"client_name":"${written}"}`), 'body.client_name', what);
      refused(
        await raw('POST', '/contacts', `{"name":"A","email":"a@b.example","clients":[{"client_id":"${written}"}]}`),
        'body.clients[0].client_id',
      );
      refused(await raw('PUT', '/exchange-rates', `{"base_currency":"GBP","rates":{"${written}":1}}`), 'body.rates');
      refused(
        await client('POST', '/statements/accounts', `{"date_from":"${written}","date_to":"2026-01-01"}`),
        'body.date_from',
      );
      refused(
        await client('POST', '/approvals-workflow/config', `{"groups":[{"name":"${written}","users":[]}]}`),
        'body.groups[0].name',
      );
      const imported = await importLines('clients', [`{"client_name":"${written}"}`, '{"client_name":"good"}']);
      assert.deepEqual([imported.body.accepted, imported.body.rejected], [1, 1], imported.text);
      assert.ok(imported.body.errors[0].details.startsWith('body.client_name:'), imported.text);
    });

    test(`${what} in the body of an order: it is one of the faults`, async () => {
      const search = await client('POST', '/beneficiaries/search', `{"name":"${written}"}`);
      refused(search, 'body.name');
      assert.deepEqual(search.body.errors, [
        { code: 'invalid_format', message: search.body.message, details: search.body.details, request_index: null },
      ]);
      const list = await client('POST', '/payments/challenges', `{"payment_ids":["PAY1","${written}"]}`);
      refused(list, 'body.payment_ids[1]');
      assert.equal(list.body.errors[0].request_index, 1);
      const named = await client('POST', '/beneficiaries/search', `{"name":"A","${written}":1}`);
      refused(named, 'body');
      assert.deepEqual(named.body.errors, [
        { code: 'invalid_format', message: named.body.message, details: named.body.details, request_index: null },
      ]);
    });

    test(`${what} in the body of an order: all other faults stand beside it`, async () => {
      const ids = `[5,"${written}","PAY1","${written}"]`;
      const list = await client('POST', '/payments/challenges', `{"payment_ids":${ids},"note":"${written}"}`);
      assert.equal(list.status, 400, list.text);
      assert.deepEqual(
        list.body.errors.map(({ details, request_index: index }: { details: string; request_index: number | null }) => [
          details.split(':')[0],
          index,
        ]),
        [
          ['body.note', null],
          ['body.payment_ids[0]', 0],
          ['body.payment_ids[1]', 1],
          ['body.payment_ids[3]', 3],
        ],
      );
      assert.equal(list.body.details, list.body.errors[0].details);
    });

    test(`${what} in GraphQL, as a variable and in the document: 400 that names the field`, async () => {
      const create =
        'mutation ($subscription: SubscriptionInput!) { createSubscription(input: {subscription: $subscription}) { subscription { id } } }';
      const variable = `{"query":${JSON.stringify(create)},"variables":{"subscription":{"url":"https://a.example/","types":[],"secret":"${written}"}}}`;
      const sent = await client('POST', '/webhooks/graphql', variable);
      assert.equal(sent.status, 400, sent.text);
      assert.match(sent.body.errors[0].message, /^variables\.subscription\.secret: /);
      const literal = `{"query":"{ subscriptions(filter: {url: {equalTo: \\"${written.replaceAll('\\', '\\\\')}\\"}}) { totalCount } }"}`;
      const inDocument = await client('POST', '/webhooks/graphql', literal);
      assert.equal(inDocument.status, 400, inDocument.text);
    });
  }

  test('a name of a field that cannot be stored names the object that has it', async () => {
    refused(await raw('POST', '/clients', '{"client_name":"A","\\ud800":1}'), 'body');
    refused(await raw('POST', '/clients', '{"client_name":"A","a\\u0000b":1}'), 'body');
  });

  for (const written of ['%ED%A0%80', '%FF', 'a%00b', '%C3', '%ed%bf%bf']) {
    test(`${written} in a query: 400 that names the parameter`, async () => {
      refused(await client('GET', `/payments?reference=${written}`), 'query.reference');
      refused(await client('GET', `/payments?payment_ids=PAY1,${written}`), 'query.payment_ids');
      refused(await client('GET', `/documents?type=pi&id=${written}`), 'query.id');
      refused(await service.operator('GET', `/notifications?client_id=${written}`), 'query.client_id');
    });

    test(`${written} in a form or query of the authorization server: 400 that names the parameter`, async () => {
      const json = { accept: '*/*', 'no-redirect': 'application/json' };
      const headless = (fields: string) => new Visitor().post(`${service.auth}/authenticate`, fields, json);
      for (const name of ['email', 'password', 'state']) {
        const fields = { email: 'a@b.example', password: 'x', state: 's', [name]: '' };
        const form = Object.entries(fields).map(([key, value]) => `${key}=${key === name ? written : value}`);
        const answer = await headless(`client_id=${application.id}&${form.join('&')}`);
        assert.equal(answer.status, 400, answer.text);
        assert.match(answer.body.error_description, new RegExp(`^${name}: `), answer.text);
      }
      const token = await new Visitor().post(`${service.auth}/token`, `grant_type=authorization_code&code=${written}`, {
        ...json,
        authorization: application.basic,
      });
      assert.match(token.body.error_description, /^code: /, token.text);
      const asked = authorizeUrl(service, application, { state: undefined });
      const redirected = await new Visitor().get(`${asked}&state=${written}`);
      assert.equal(redirected.status, 302, redirected.text);
      assert.match(redirected.location?.searchParams.get('error_description') ?? '', /^state: /);
      const page = await new Visitor().get(`${service.auth}/authenticate?client_id=${written}`);
      assert.equal(page.status, 400);
      assert.match(page.text, /client_id/);
    });
  }

  test('a percent sign and a plus sign of their own are what they were', async () => {
    const paid = await world.pay({ reference: '100% a+b' });
    assert.equal(paid.status, 201);
    for (const reference of ['100%%20a%2Bb', '100%25+a%2bb'])
      assert.equal((await client('GET', `/payments?reference=${reference}`)).body.length, 1, reference);
  });
});

describe('verification codes', () => {
  test('what is not six digits is a wrong code; full-width digits and blanks are read', async () => {
    const person = await createPerson(service, { second_factor: 'totp' });
    const totp = new TOTP({ secret: Secret.fromBase32(person.totp ?? '') });
    const handle = async () => (await signInHeadless(service, application, person)).body.code as string;
    const verify = async (code: string) =>
      new Visitor().post(
        `${service.auth}/verify?client_id=${application.id}&code=${await handle()}`,
        { verification_code: code },
        { authorization: application.basic, accept: '*/*', 'no-redirect': 'application/json' },
      );
    for (const code of [
      'äöüäöü',
      '١٢٣٤٥٦',
      '１２３４５x',
      '12345',
      '1234567',
      'abcdef',
      '😀😀😀',
      '1'.repeat(2_000),
      '12\t345',
    ]) {
      const answer = await verify(code);
      assert.equal(answer.status, 400, `${code.slice(0, 20)}: ${answer.text}`);
      assert.equal(answer.body.error, 'invalid_grant', code.slice(0, 20));
    }
    const wide = [...totp.generate()].map((digit) => String.fromCodePoint(0xff10 + Number(digit))).join('');
    const answer = await verify(` ${wide.slice(0, 3)}\u3000${wide.slice(3)}`);
    assert.equal(answer.status, 200, answer.text);
  });
});

describe('identifiers given by a caller', () => {
  test('they begin with a letter or digit, and can be read', async () => {
    const bodies: [string, string, object][] = [
      ['/clients', 'client_id', { client_name: 'A' }],
      ['/contacts', 'contact_id', { name: 'A', email: 'dots@example.com', clients: [] }],
      ['/applications', 'client_id', { name: 'A', redirect_uris: ['https://a.example/'] }],
      ['/beneficiaries', 'beneficiary_id', { client_id: world.clientId, beneficiary_name: 'B' }],
      ['/payments', 'payment_id', world.base],
    ];
    for (const [path, field, body] of bodies) {
      for (const id of ['.', '..', '-', '_', '.a', '-a', '', 'a/b', 'ä', 'a'.repeat(65), ' a'])
        refused(await service.operator('POST', path, { ...body, [field]: id }), `body.${field}`, `${path} ${id}`);
      const made = await service.operator('POST', path, { ...body, [field]: 'A.b_c-1' });
      assert.equal(made.status, 201, made.text);
      assert.equal((await service.operator('GET', `${path}/A.b_c-1`)).status, 200);
      if (path === '/applications') continue;
      const imported = await importLines(path.slice(1), [
        JSON.stringify({ ...body, email: 'x@y.example', [field]: '..' }),
      ]);
      const told = imported.body.errors[0].details as string;
      assert.ok(told.startsWith(`body.${field}:`) || path !== '/contacts', told);
    }
  });
});

describe('the words of refusals', () => {
  test('each format is said in words, not as a pattern', async () => {
    const day = 'must be a calendar day as YYYY-MM-DD';
    const payment = { ...world.base };
    const told: [string, object, string][] = [
      ['/payments', { ...payment, payment_date: '1.12.2026' }, `body.payment_date: ${day}`],
      [
        '/payments',
        { ...payment, payment_currency: 'euro' },
        'body.payment_currency: must be three capital letters (ISO 4217)',
      ],
      ['/accounts', { client_id: world.clientId, currency: 'EUR', account_id: '1' }, 'body.account_id: must be a UUID'],
      [
        '/contacts',
        { name: 'Ada', email: 'ada', clients: [] },
        'body.email: must be an email address, as ada@acme.example',
      ],
      ['/operator-tokens', { name: 'x', scopes: [] }, 'body.scopes: must have at least 1 item'],
      ['/operator-tokens', { name: 'x', scopes: ['read', 'read'] }, 'body.scopes: must not name anything twice'],
    ];
    for (const [path, body, details] of told)
      assert.equal((await service.operator('POST', path, body)).body.details, details);
    const statement = await client('POST', '/statements/accounts', '{"date_from":"1.1.2026","date_to":"2026-01-31"}');
    assert.equal(statement.body.details, `body.date_from: ${day}`);
    const search = await client('GET', '/payments?from_payment_date=1.1.2026');
    assert.equal(search.status, 400);
    const head = await service.operator('GET', '/audit/verify?head=12:ab');
    assert.equal(
      head.body.details,
      'query.head: must be a position and its hash, as 120:9f86d0... (64 hexadecimal digits)',
    );
    assert.match(search.body.details, /^query\.from_payment_date: must be a calendar day/);
  });

  test('an id_token as bearer token is recognised', async () => {
    const answer = await call(`${service.api}/payments?client_id=${world.clientId}`, 'GET', { token: 'eyJh.eyJz.abc' });
    assert.equal(answer.status, 401);
    assert.match(answer.body.details, /id_token: send the access_token/);
  });

  test('a contact that cannot approve learns what it may do, and not what the institution may', async () => {
    const { body } = await world.pay();
    const answer = await client('PATCH', `/payments/${body.payment_id}?action=authorise`);
    assert.deepEqual([answer.status, answer.body.code], [409, 'approval_not_allowed']);
    assert.match(answer.body.details, /this contact may cancel it$/);
    assert.doesNotMatch(answer.body.details, /validate|invalidate|request_information/);
  });
});
