import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { replaceConfiguration } from '../../src/approvals/configuration.ts';
import type { Rule } from '../../src/approvals/rules/ruleset.ts';
import { transaction } from '../../src/database/database.ts';
import { keepDigits } from '../../src/http/schemas/validation.ts';
import { type Line, MAX_LINE_BYTES, parseLine, readLines } from '../../src/imports/lines.ts';
import { parseJson } from '../../src/values/json.ts';
import { poolOfClient } from '../world/cells.ts';
import { createWorld } from '../world/client.ts';
import { type Answer, call, startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';

let service: TestService;
let world: Awaited<ReturnType<typeof createWorld>>;

before(async () => {
  service = await startTestService();
  world = await createWorld(service);
});
after(() => service.stop());

function ndjson(records: unknown[]): string {
  return records.map((record) => `${typeof record === 'string' ? record : JSON.stringify(record)}\n`).join('');
}

async function send(kind: string, body: string | Buffer, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(`${service.operatorUrl}/imports/${kind}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.operatorToken}`, 'content-type': 'application/x-ndjson', ...headers },
    body: body as string,
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
}

const load = (kind: string, records: unknown[], headers?: Record<string, string>) =>
  send(kind, ndjson(records), headers);

/** As callers load a fourth file at once: where it has waited for too long for its turn (429), it is sent again. */
const loadInTurn = (...file: Parameters<typeof load>) =>
  until(async () => {
    const answer = await load(...file);
    return answer.status !== 429 && answer;
  });

async function stored(paymentId: string) {
  const { rows } = await service.query('select * from payments where payment_id = $1', [paymentId]);
  return rows[0];
}

/** Gives a client approval rules in EUR. */
async function configure({ clientId }: typeof world, rules: Rule[], groups: Record<string, string[]>): Promise<void> {
  const named = Object.entries(groups).map(([name, ids]) => ({ name, users: ids.map((id) => ({ id })) }));
  await transaction(await poolOfClient(service.service.context.pool, clientId), (tx) =>
    replaceConfiguration(tx, { now: new Date(), actor: 'test', requestId: 'test' }, clientId, {
      groups: named,
      ruleset: { currency: 'EUR', rules },
    }),
  );
}

let unique = 0;
const fresh = (prefix: string) => `${prefix}-${(unique += 1)}`;

describe('lines', () => {
  async function lines(chunks: Buffer[]): Promise<Line[]> {
    const source = (async function* () {
      yield* chunks;
    })();
    return (await Array.fromAsync(readLines(source))).flat();
  }

  test('however a file is cut into chunks, its lines and their numbers are the same', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: fc.constantFrom('a', 'é', '\n', '\r', '{', '"') }),
        fc.array(fc.nat(20)),
        async (text, cuts) => {
          const bytes = Buffer.from(text);
          const chunks: Buffer[] = [];
          let start = 0;
          for (const cut of cuts) {
            chunks.push(bytes.subarray(start, start + cut));
            start += cut;
          }
          chunks.push(bytes.subarray(start));
          const expected = text.split('\n');
          if (expected.at(-1) === '') expected.pop();
          const found = await lines(chunks);
          assert.deepEqual(
            found.map((line) => line.bytes?.toString()),
            expected,
          );
          assert.deepEqual(
            found.map((line) => line.number),
            expected.map((_, index) => index + 1),
          );
        },
      ),
    );
  });

  test('a line of 64 KiB is read, a longer one is reported without being kept', async () => {
    const exact = 'x'.repeat(MAX_LINE_BYTES);
    const chunks = Buffer.from(`${exact}\n${exact}y\nshort\n${'z'.repeat(5 * MAX_LINE_BYTES)}`);
    for (const size of [1_000, 65_536, chunks.length]) {
      const pieces: Buffer[] = [];
      for (let at = 0; at < chunks.length; at += size) pieces.push(chunks.subarray(at, at + size));
      assert.deepEqual(
        (await lines(pieces)).map((line) => line.bytes?.length),
        [MAX_LINE_BYTES, undefined, 5, undefined],
      );
    }
  });

  test('the fast way reads the same numbers as the exact one', () => {
    const numeral = fc
      .tuple(
        fc.constantFrom('', '-'),
        fc.constantFrom('0', '1', '10', '250', '123456789012345', '98765432109876543'),
        fc.constantFrom('', '.5', '.50', '.05', '.0', '.123456789', '.10203', '.00000001'),
        fc.constantFrom('', 'e5', 'E-3'),
      )
      .map((parts) => parts.join(''));
    // A number so small that a double prints it with an exponent is the only difference, and reads as the same decimal.
    const decimalOf = (value: unknown) =>
      typeof value === 'number' && /e/.test(String(value)) ? value.toFixed(12).replace(/0+$/, '') : String(value);
    fc.assert(
      fc.property(
        numeral,
        fc.constantFrom('{"amount":%}', '{"a":"x","amount": %,"b":true}', '{"list":[1,%]}'),
        (number, shape) => {
          const text = shape.replace('%', number);
          const schema = { properties: { amount: { type: 'number' }, list: { items: { type: 'number' } } } };
          const flat = (value: unknown) => {
            keepDigits(schema, value);
            return JSON.stringify(value, (_key, each) =>
              typeof each === 'number' || typeof each === 'string' ? decimalOf(each) : each,
            );
          };
          assert.equal(flat(parseLine({ number: 2, bytes: Buffer.from(text) })), flat(parseJson(text)));
        },
      ),
      { numRuns: 2_000 },
    );
  });
});

describe('POST /imports/{kind}', () => {
  test('a contact without a list of permissions gets the five of old, created, changed or imported', async () => {
    const five = [
      ...['can_authorise_payments', 'can_manage_payments', 'can_manage_multipayments'],
      ...['can_manage_permissions', 'can_manage_webhooks'],
    ];
    const { client_id } = world.base;
    const contact = (id: string) => ({
      contact_id: id,
      name: 'Ida',
      email: `${id}@example.com`,
      clients: [{ client_id }],
    });
    const [single, imported] = [fresh('FIVE'), fresh('FIVE')];
    assert.equal((await service.operator('POST', '/contacts', contact(single))).status, 201);
    assert.equal((await load('contacts', [contact(imported)])).body.accepted, 1);
    const changed = (await world.hire('Changed', {}, [])).contactId;
    const { status } = await service.operator('PATCH', `/contacts/${changed}`, { clients: [{ client_id }] });
    assert.equal(status, 200);
    for (const id of [single, imported, changed])
      assert.deepEqual((await service.operator('GET', `/contacts/${id}`)).body.clients, [
        { client_id, permissions: five },
      ]);
  });

  test('the six kinds go in, each usable by the next', async () => {
    const client = fresh('IMP');
    const contact = fresh('IMPC');
    const answers = [
      await load('clients', [{ client_id: client, client_name: 'Imported Ltd' }]),
      await load('contacts', [
        {
          contact_id: contact,
          name: 'Ida Import',
          email: `${contact}@example.com`,
          password: 'correct horse',
          clients: [{ client_id: client, permissions: ['can_manage_payments'] }],
        },
      ]),
      await load('beneficiaries', [
        {
          client_id: client,
          beneficiary_id: `${client}-B`,
          beneficiary_name: 'Müller',
          iban: 'DE89 3704 0044 0532 0130 00',
          swift_code: 'cobadeffxxx',
        },
      ]),
      await load('trades', [
        {
          client_id: client,
          contact_id: contact,
          trade_id: `${client}-T`,
          buy_currency: 'EUR',
          sell_currency: 'GBP',
          buy_amount: 1170,
          rate: 1.17,
        },
      ]),
      await load('payments', [
        {
          client_id: client,
          contact_id: contact,
          trade_id: `${client}-T`,
          beneficiary_id: `${client}-B`,
          payment_id: `${client}-P`,
          amount: 12.5,
          payment_currency: 'EUR',
          payment_date: '2026-05-05',
        },
      ]),
    ];
    assert.deepEqual(
      answers.map((answer) => [answer.status, answer.body]),
      answers.map(() => [200, { accepted: 1, rejected: 0, errors: [] }]),
    );
    const beneficiary = await service.operator('GET', `/beneficiaries/${client}-B`);
    assert.equal(beneficiary.body.iban, 'DE89370400440532013000');
    assert.equal(beneficiary.body.swift_code, 'COBADEFFXXX');
    const trade = await service.operator('GET', `/trades/${client}-T`);
    assert.match(trade.text, /"sell_amount":1000[,.]/);
    assert.deepEqual((await service.operator('GET', `/contacts/${contact}`)).body.clients, [
      { client_id: client, permissions: ['can_manage_payments'] },
    ]);
    const payment = await service.operator('GET', `/payments/${client}-P`);
    assert.equal(payment.body.status, 'Validating beneficiary information');
    assert.equal(payment.body.ordered_by_name, 'Ida Import');
    const { rows } = await service.query('select password_hash from contacts where contact_id = $1', [contact]);
    assert.match(rows[0].password_hash, /^\$argon2id\$/);
  });

  test('the example lines of docs/imports.md go in', async () => {
    const page = readFileSync(new URL('../../docs/imports.md', import.meta.url), 'utf8');
    const examples = [...page.matchAll(/^\| (\w+) \| `(\{.*\})` \|$/gm)].map(
      (match) => [match[1] as string, match[2] as string] as const,
    );
    assert.deepEqual(
      examples.map(([kind]) => kind),
      ['clients', 'contacts', 'beneficiaries', 'trades', 'payments', 'transactions'],
    );
    for (const [kind, line] of examples) {
      const account =
        kind === 'transactions'
          ? (await service.operator('POST', '/currency-accounts', { client_id: 'C-1001', currency: 'EUR' })).body
              .account_id
          : 0;
      const answer = await send(kind, line.replace('"currency_account_id":1', `"currency_account_id":${account}`));
      assert.deepEqual(answer.body, { accepted: 1, rejected: 0, errors: [] }, kind);
    }
  });

  test('a record imported and one created by the single call are stored alike', async () => {
    const fields = {
      reference: 'Back\\slash\ttab "quote" €\nline',
      fee_amount: '1.10',
      fee_currency: 'GBP',
      charges: 'SHA',
      scheme: 'SEPA',
      invoice_required: true,
    };
    const [single, imported] = [fresh('same'), fresh('same')];
    await world.pay({ ...fields, payment_id: single });
    assert.equal((await load('payments', [{ ...world.base, ...fields, payment_id: imported }])).body.accepted, 1);
    const comparable = ({
      id: _id,
      uuid: _uuid,
      payment_id: _payment,
      created: _created,
      ...rest
    }: Record<string, unknown>) => rest;
    assert.deepEqual(comparable(await stored(imported)), comparable(await stored(single)));
  });

  test('bad lines are reported with their numbers and reasons, and the rest goes in', async () => {
    const ok = () => ({ ...world.base, payment_id: fresh('mixed') });
    const known = fresh('known');
    await load('payments', [{ ...world.base, payment_id: known }]);
    const twice = fresh('twice');
    const answer = await send(
      'payments',
      [
        JSON.stringify(ok()),
        '{"not json',
        '',
        JSON.stringify({ ...ok(), client_id: 'NOBODY' }),
        JSON.stringify({ ...ok(), contact_id: 'NOBODY' }),
        JSON.stringify({ ...ok(), trade_id: 'NONE' }),
        JSON.stringify({ ...ok(), beneficiary_id: 'NONE' }),
        JSON.stringify({ ...ok(), payment_id: known }),
        JSON.stringify({ ...ok(), payment_id: twice }),
        JSON.stringify({ ...ok(), payment_id: twice }),
        JSON.stringify({ ...ok(), amount: -1 }),
        JSON.stringify({ ...ok(), payment_date: '2026-02-30' }),
        JSON.stringify({ ...ok(), colour: 'red' }),
        JSON.stringify({ ...ok(), reference: 'nul \0 byte' }),
        JSON.stringify({ ...ok(), payment_currency: undefined }),
        '[1,2]',
        `"${'x'.repeat(MAX_LINE_BYTES)}"`,
        JSON.stringify({ ...ok(), cancelled_by: 'someone' }),
        JSON.stringify(ok()),
      ].join('\n'),
    );
    assert.equal(answer.status, 200);
    assert.deepEqual(
      answer.body.errors.map((error: { line: number; code: string; details: string }) => [
        error.line,
        error.code,
        error.details.split(':')[0],
      ]),
      [
        [2, 'invalid_body', 'line'],
        [4, 'client_not_found', 'body.client_id'],
        [5, 'contact_not_found', 'body.contact_id'],
        [6, 'trade_not_found', 'body.trade_id'],
        [7, 'beneficiary_not_found', 'body.beneficiary_id'],
        [8, 'already_exists', 'body.payment_id'],
        [10, 'already_exists', 'body.payment_id'],
        [11, 'invalid_body', 'body.amount'],
        [12, 'invalid_body', 'body.payment_date'],
        [13, 'invalid_body', 'body.colour'],
        [14, 'invalid_body', 'body.reference'],
        [15, 'invalid_body', 'body.payment_currency'],
        [16, 'invalid_body', 'body'],
        [17, 'payload_too_large', 'line'],
        [18, 'invalid_body', 'body.cancelled_by'],
      ],
    );
    assert.equal(answer.body.accepted, 3);
    assert.equal(answer.body.rejected, 15);
  });

  test('on_error=stop keeps what stands before the first bad line and nothing after it', async () => {
    const ids = Array.from({ length: 6 }, () => fresh('stop'));
    const records = ids.map((id, index) => ({
      ...world.base,
      payment_id: id,
      ...(index === 3 ? { trade_id: 'NONE' } : {}),
    }));
    const answer = await load('payments?on_error=stop', records);
    assert.deepEqual([answer.body.accepted, answer.body.rejected, answer.body.errors[0].line], [3, 1, 4]);
    const { rows } = await service.query('select payment_id from payments where payment_id = any($1) order by id', [
      ids,
    ]);
    assert.deepEqual(
      rows.map((row) => row.payment_id),
      ids.slice(0, 3),
    );
    const broken = await send(
      'payments?on_error=stop',
      `${JSON.stringify({ ...world.base, payment_id: fresh('stop') })}\nnot json\n${'x'.repeat(3_000_000)}`,
    );
    assert.deepEqual([broken.body.accepted, broken.body.rejected, broken.body.errors[0].line], [1, 1, 2]);
  });

  test('a thousand errors are listed, all are counted', async () => {
    const answer = await send('clients', 'nonsense\n'.repeat(12_345));
    assert.deepEqual([answer.body.accepted, answer.body.rejected, answer.body.errors.length], [0, 12_345, 1_000]);
    assert.equal(answer.body.errors[999].line, 1_000);
  });

  describe('what the checks of a batch cannot foresee', () => {
    before(async () => {
      await service.query(`create function public.refuse_evil() returns trigger language plpgsql as $$
        begin if new.reference = 'evil' then raise exception 'evil' using errcode = '22000'; end if; return new; end $$`);
      await service.query(
        'create trigger refuse_evil before insert on payments for each row execute function refuse_evil()',
      );
    });
    after(() => service.query('drop trigger refuse_evil on payments'));

    test('costs only the lines at fault', async () => {
      const records = Array.from({ length: 1_000 }, (_, index) => ({
        ...world.base,
        payment_id: fresh('evil'),
        reference: index === 17 || index === 900 ? 'evil' : 'good',
      }));
      const answer = await load('payments', records);
      assert.deepEqual(
        [answer.body.accepted, answer.body.errors.map((error: { line: number }) => error.line)],
        [998, [18, 901]],
      );
    });

    test('lets no payment pass that the first attempt refused, nor one without the approval that it needs', async () => {
      const own = await createWorld(service, 'Retried plc', { payment_approvals_enabled: true });
      await configure(own, [{ minimum_threshold: '10', groups: [{ one_of: [{ all_of: ['a'] }] }] }], {
        a: [own.contactId, (await own.hire('P')).contactId],
      });
      const ids = [fresh('retried'), fresh('retried'), fresh('retried')] as const;
      const answer = await load('payments', [
        { ...own.base, payment_id: ids[0], reference: 'evil' },
        { ...own.base, payment_id: ids[1], payment_currency: 'XTS' },
        { ...own.base, payment_id: ids[2], amount: 500 },
      ]);
      assert.deepEqual(
        answer.body.errors.map((error: { line: number; code: string }) => [error.line, error.code]),
        [
          [1, 'invalid_parameter'],
          [2, 'exchange_rate_missing'],
        ],
      );
      assert.deepEqual(await Promise.all(ids.map(async (id) => (await stored(id))?.status)), [
        undefined,
        undefined,
        'Payment pending of authorization',
      ]);
    });
  });

  test('payments keep the status, the uuid and the dates of the core', async () => {
    const id = fresh('core');
    const uuid = '7d1fd2c2-98c7-4a4a-9a3a-0d6f0a7d9a11';
    await load('payments', [
      {
        ...world.base,
        payment_id: id,
        status: 'Payment complete',
        uuid,
        created_date: '2026-03-01T09:00:00Z',
        payment_date: '2026-03-03',
        authorised_by: 'Someone',
        authorised_date: '2026-03-02',
        sent_date: '2026-03-03T07:30:00+01:00',
        amount: '10.50',
      },
      {
        ...world.base,
        payment_id: `${id}-c`,
        status: 'Payment cancelled',
        cancelled_by: 'X',
        cancelled_date: '2026-06-15',
      },
    ]);
    const { body, text } = await service.operator('GET', `/payments/${id}`);
    assert.match(text, /"amount":10\.50,/);
    assert.deepEqual(
      [body.status, body.uuid, body.created_date, body.authorised_by, body.authorised_date],
      ['Payment complete', uuid, '2026-03-01T09:00:00+00:00', 'Someone', '2026-03-02T00:00:00+00:00'],
    );
    assert.match(body.payment_receipt, /type=pr/);
    assert.equal((await stored(id)).sent_date.toISOString(), '2026-03-03T06:30:00.000Z');
    assert.equal((await service.operator('GET', `/payments/${id}-c`)).body.cancelled_date, '2026-06-15T00:00:00+01:00');
  });

  test('a pending payment has its approval opened, whether the core says so or the workflow does', async () => {
    const eyes = await createWorld(service, 'Eyes Ltd', {
      authorisation_workflow: '4-eyes',
      payment_approvals_enabled: true,
    });
    const approver = await eyes.hire('Approver');
    const [said, decided, done] = [fresh('eyes'), fresh('eyes'), fresh('eyes')];
    await load('payments', [
      { ...eyes.base, payment_id: said, status: 'Payment pending of authorization' },
      { ...eyes.base, payment_id: decided },
      { ...eyes.base, payment_id: done, status: 'Waiting for payment date' },
    ]);
    for (const id of [said, decided]) {
      const payment = (await service.operator('GET', `/payments/${id}`)).body;
      assert.equal(payment.status, 'Payment pending of authorization');
      assert.equal(payment.approvals_workflow.minimum_remaining_authorisations, 1);
      const authorised = await service.operator('POST', `/payments/${id}/actions`, {
        action: 'authorise',
        contact_id: approver.contactId,
      });
      assert.equal(authorised.body.status, 'Validating beneficiary information');
    }
    assert.equal(
      (await service.operator('GET', `/payments/${done}`)).body.approvals_workflow.n_eyes_plus_status,
      'Approved',
    );
  });

  test('approvals opened by the batch and by the single call are the same, creation as an approval among them', async () => {
    const own = await createWorld(service, 'Rules plc', {
      payment_approvals_enabled: true,
      payment_creator_approval_enabled: true,
    });
    const [first, second] = [(await own.hire('P')).contactId, (await own.hire('P')).contactId];
    await configure(
      own,
      [
        { minimum_threshold: '10', groups: [{ one_of: [{ all_of: ['a'] }] }] },
        {
          minimum_threshold: '100',
          groups: [{ one_of: [{ all_of: ['a'] }] }, { one_of: [{ all_of: ['b'] }, { all_of: ['c'] }] }],
        },
        { minimum_threshold: '1000', groups: [{ one_of: [{ all_of: ['c', 'c'] }] }] },
      ],
      { a: [own.contactId, first], b: [second], c: [first, second] },
    );
    const records = [5, 50, 500, 5_000].flatMap((amount) =>
      [own.contactId, first, second].map((contact) => ({ ...own.base, contact_id: contact, amount })),
    );
    const singles = records.map((record) => ({ ...record, payment_id: fresh('rule-single') }));
    const batch = records.map((record) => ({ ...record, payment_id: fresh('rule-batch') }));
    for (const record of singles) assert.equal((await service.operator('POST', '/payments', record)).status, 201);
    assert.equal((await load('payments', batch)).body.accepted, batch.length);
    const seen = async (records: { payment_id: string }[]) =>
      Promise.all(
        records.map(async ({ payment_id: id }) => {
          const { rows } = await service.query(
            `select p.status, p.authorised_by, a.requirement::text, a.remaining, a.status as approval, a.state, (select json_agg(x ->> 'contact_id') from json_array_elements(a.authorisations) x) as given,
               (select json_agg(array[v.contact_id, v.may_authorise::text, v.may_reject::text] order by v.contact_id) from payment_approvers v where v.payment_id = p.id) as approvers
             from payments p left join payment_approvals a on a.payment_id = p.id where p.payment_id = $1`,
            [id],
          );
          return rows[0];
        }),
      );
    const expected = await seen(singles);
    assert.deepEqual(await seen(batch), expected);
    // The cases are in it: none needed, complete by creation, half by creation, plain.
    assert.deepEqual([...new Set(expected.map((row) => `${row.approval} ${row.given?.length ?? 0}`))].sort(), [
      'Approved 1',
      'Pending approval 0',
      'Pending approval 1',
      'null 0',
    ]);
  });

  test('a contact imported later may approve what was pending before', async () => {
    const eyes = await createWorld(service, 'Late Ltd', {
      authorisation_workflow: '4-eyes',
      payment_approvals_enabled: true,
    });
    const id = fresh('late');
    await load('payments', [{ ...eyes.base, payment_id: id }]);
    const contact = fresh('LATE');
    await load('contacts', [
      { contact_id: contact, name: 'Late', email: `${contact}@example.com`, clients: [{ client_id: eyes.clientId }] },
    ]);
    const { rows } = await service.query(
      'select a.contact_id from payment_approvers a join payments p on p.id = a.payment_id where p.payment_id = $1',
      [id],
    );
    assert.deepEqual(
      rows.map((row) => row.contact_id),
      [contact],
    );
  });

  test('transactions keep running balances in the order of their lines, exactly', async () => {
    const account = (
      await service.operator('POST', '/currency-accounts', { client_id: world.clientId, currency: 'EUR' })
    ).body.account_id;
    const other = (await service.operator('POST', '/currency-accounts', { client_id: world.clientId, currency: 'USD' }))
      .body.account_id;
    await service.operator('POST', '/transactions', {
      client_id: world.clientId,
      currency_account_id: account,
      kind: 'CREDIT_TRANSACTION',
      amount: { amount: '0.10', currency: 'EUR' },
    });
    const line = (id: string, on: number, kind: string, amount: unknown, currency = 'EUR') => ({
      client_id: world.clientId,
      currency_account_id: on,
      transaction_id: id,
      kind,
      amount: { amount, currency },
    });
    const prefix = fresh('tx');
    const answer = await load('transactions', [
      line(`${prefix}-1`, account, 'CREDIT_TRANSACTION', '0.2'),
      line(`${prefix}-2`, other, 'CREDIT_TRANSACTION', '5', 'USD'),
      line(`${prefix}-3`, account, 'CREDIT_TRANSACTION', '1', 'USD'),
      line(`${prefix}-4`, account, 'DEBIT_TRANSACTION', '100.005'),
      line(`${prefix}-5`, 999_999, 'DEBIT_TRANSACTION', '1'),
      line(`${prefix}-1`, account, 'DEBIT_TRANSACTION', '1'),
      line(`${prefix}-6`, other, 'DEBIT_TRANSACTION', '5.00', 'USD'),
    ]);
    assert.deepEqual(
      answer.body.errors.map((error: { line: number; code: string }) => [error.line, error.code]),
      [
        [3, 'invalid_body'],
        [5, 'currency_account_not_found'],
        [6, 'already_exists'],
      ],
    );
    const { rows } = await service.query(
      `select transaction_id, balance_after from transactions where transaction_id like $1 order by id`,
      [`${prefix}-%`],
    );
    assert.deepEqual(
      rows.map((row) => [row.transaction_id.slice(prefix.length), row.balance_after]),
      [
        ['-1', '0.30'],
        ['-2', '5'],
        ['-4', '-99.705'],
        ['-6', '0.00'],
      ],
    );
    const balances = await service.query(
      'select balance from currency_accounts where account_id = any($1) order by account_id',
      [[account, other]],
    );
    assert.deepEqual(
      balances.rows.map((row) => row.balance),
      ['-99.705', '0.00'],
    );
  });

  test('bookings, imports and returns at once lose no amount, whichever account comes first', async () => {
    const own = await createWorld(service, 'Booked at once');
    const accounts = new Map<string, number>();
    for (const currency of ['EUR', 'JPY']) {
      const opened = await service.operator('POST', '/currency-accounts', { client_id: own.clientId, currency });
      accounts.set(currency, opened.body.account_id);
    }
    const line = (index: number) => {
      const currency = index % 2 ? 'EUR' : 'JPY';
      return {
        client_id: own.clientId,
        currency_account_id: accounts.get(currency),
        kind: index % 3 ? 'CREDIT_TRANSACTION' : 'DEBIT_TRANSACTION',
        amount: { amount: '1', currency },
      };
    };
    const imports = [0, 1, 0].map((shift) =>
      load(
        'transactions',
        Array.from({ length: 700 }, (_, index) => line(index + shift)),
      ),
    );
    const payment = { ...own.base, amount: '2' };
    const paid = await Promise.all(Array.from({ length: 8 }, () => service.insist('/payments', payment)));
    for (const { status, text } of paid) assert.equal(status, 201, text);
    const steps = ['validate', 'send', 'start_return', 'return'];
    const returned = steps.flatMap((action) =>
      paid.slice(0, 6).map(({ body }) => ({ payment_id: body.payment_id, action })),
    );
    const returns = loadInTurn('payment-actions', returned);
    const post = async (path: string, body: object) => {
      const { status, text } = await service.insist(path, body);
      assert.ok(status === 200 || status === 201, text);
    };
    const single = async (paymentId: string) => {
      for (const action of steps) await post(`/payments/${paymentId}/actions`, { action });
    };
    const bookings = Array.from({ length: 40 }, (_, index) => post('/transactions', line(index)));
    await Promise.all([...bookings, ...paid.slice(6).map(({ body }) => single(body.payment_id))]);
    for (const { body, text } of await Promise.all([...imports, returns])) assert.equal(body.rejected, 0, text);

    const { rows } = await service.query(
      `select a.currency, a.balance, t.amount, t.balance_after from currency_accounts a
       join transactions t on t.client_id = a.client_id and t.currency_account_id = a.account_id
       where a.client_id = $1 order by t.id`,
      [own.clientId],
    );
    for (const currency of accounts.keys()) {
      const lines = rows.filter((row) => row.currency === currency);
      let balance = 0;
      for (const { amount, balance_after: after } of lines) {
        balance += Number(amount);
        assert.equal(Number(after), balance);
      }
      assert.equal(Number(lines[0].balance), balance);
    }
    assert.equal(rows.length, 3 * 700 + 40 + 8);
  });

  test('a drawdown finds its parent on an earlier line, not on a later or a refused one', async () => {
    const trade = {
      client_id: world.clientId,
      contact_id: world.contactId,
      buy_currency: 'EUR',
      sell_currency: 'GBP',
      buy_amount: 10,
      rate: 2,
    };
    const [parent, bad] = [fresh('forward'), fresh('forward')];
    const answer = await load('trades', [
      { ...trade, trade_id: fresh('draw'), parent_trade_id: parent },
      { ...trade, trade_id: parent, trade_type: 'forward' },
      { ...trade, trade_id: fresh('draw'), parent_trade_id: parent },
      { ...trade, trade_id: bad, contact_id: 'NOBODY' },
      { ...trade, trade_id: fresh('draw'), parent_trade_id: bad },
    ]);
    assert.deepEqual(
      answer.body.errors.map((error: { line: number; code: string }) => [error.line, error.code]),
      [
        [1, 'trade_not_found'],
        [4, 'contact_not_found'],
        [5, 'trade_not_found'],
      ],
    );
  });

  test('contacts: emails whatever their case, passwords, second factors, unknown clients', async () => {
    const email = `${fresh('dup')}@Example.com`;
    const contact = (fields: object) => ({
      name: 'N',
      email: `${fresh('c')}@example.com`,
      clients: [{ client_id: world.clientId }],
      ...fields,
    });
    const answer = await load('contacts', [
      contact({ email }),
      contact({ email: email.toUpperCase() }),
      contact({ email: world.email.toUpperCase() }),
      contact({ password: 'short' }),
      contact({ second_factor: 'totp' }),
      contact({ second_factor: 'sms' }),
      contact({ clients: [{ client_id: 'NOBODY' }] }),
      contact({ clients: [{ client_id: world.clientId }, { client_id: world.clientId }] }),
    ]);
    assert.deepEqual(
      answer.body.errors.map((error: { line: number; code: string }) => [error.line, error.code]),
      [
        [2, 'already_exists'],
        [3, 'already_exists'],
        [4, 'invalid_body'],
        [5, 'invalid_body'],
        [6, 'invalid_body'],
        [7, 'client_not_found'],
        [8, 'invalid_body'],
      ],
    );
  });

  test('no notifications, unless asked for', async () => {
    const events = async () =>
      (await service.query('select type, body from webhook_events where client_id = $1 order by id', [world.clientId]))
        .rows;
    const before = (await events()).length;
    await load('payments', [{ ...world.base, payment_id: fresh('quiet') }]);
    await load('trades', [
      {
        client_id: world.clientId,
        contact_id: world.contactId,
        buy_currency: 'EUR',
        sell_currency: 'GBP',
        buy_amount: 10,
        rate: 2,
      },
    ]);
    assert.equal((await events()).length, before);
    const [loud, sent] = [fresh('loud'), fresh('loud')];
    await load('payments?notify=true', [
      { ...world.base, payment_id: loud },
      { ...world.base, payment_id: sent, status: 'Executing Payment' },
    ]);
    const told = (await events())
      .slice(before)
      .map(({ type, body }) => [type, JSON.parse(body).data[0].payment_id, JSON.parse(body).payment_webhook_status[0]]);
    assert.deepEqual(told, [
      ['PAYMENT_STATUS_CHANGE', loud, 'CREATED'],
      ['PAYMENT_STATUS_CHANGE', loud, 'AUTHORIZED'],
      ['PAYMENT_STATUS_CHANGE', sent, 'CREATED'],
      ['PAYMENT_STATUS_CHANGE', sent, 'SENT'],
    ]);
  });

  test('made identifiers step aside for given ones', async () => {
    const { rows } = await service.query(`select last_value::int as n from payment_numbers`);
    const next = `PAY${String(rows[0].n + 1).padStart(6, '0')}`;
    await service.query(`select setval('payment_numbers', $1)`, [rows[0].n]);
    const { payment_id: _none, ...base } = { ...world.base, payment_id: '' };
    const answer = await load('payments', [{ ...base, payment_id: next }, base, base]);
    assert.deepEqual(answer.body, { accepted: 3, rejected: 0, errors: [] });
  });

  test('an audit row for each batch proves which lines they were', async () => {
    const lines = ndjson([
      { client_id: fresh('AUD'), client_name: 'A' },
      { client_id: fresh('AUD'), client_name: 'B' },
    ]);
    const answer = await send('clients', lines, { 'x-request-id': 'import-audit' });
    assert.equal(answer.body.accepted, 2);
    const audit = await service.operator('GET', '/audit?entity=client&entity_id=import-audit');
    assert.deepEqual(audit.body[0].after, {
      first_line: 1,
      last_line: 2,
      accepted: 2,
      sha256: createHash('sha256').update(lines).digest('hex'),
    });
    assert.equal((await service.operator('GET', '/audit/verify')).body.valid, true);
  });

  test('compressed bodies are unpacked; bombs, nonsense and other encodings are refused', async () => {
    const record = { ...world.base, payment_id: fresh('gz') };
    assert.equal((await send('payments', gzipSync(ndjson([record])), { 'content-encoding': 'gzip' })).body.accepted, 1);
    const bomb = await send('payments', gzipSync(Buffer.alloc(50_000_000, '\n')), { 'content-encoding': 'gzip' });
    assert.deepEqual([bomb.status, bomb.body.code], [413, 'payload_too_large']);
    const nonsense = await send('payments', 'not gzip', { 'content-encoding': 'gzip' });
    assert.deepEqual([nonsense.status, nonsense.body.code], [400, 'invalid_body']);
    assert.equal((await send('payments', 'x', { 'content-encoding': 'br' })).status, 415);
    assert.equal((await send('payments', '<a/>', { 'content-type': 'application/xml' })).status, 415);
  });

  test('who may import, what may be imported', async () => {
    assert.equal((await send('houses', '{}')).status, 404);
    assert.equal((await send('payments?on_error=maybe', '{}')).status, 400);
    assert.equal((await send('payments', '{}', { authorization: 'Bearer wrong' })).status, 401);
    const support = await service.operator('POST', '/operator-tokens', { name: 'desk', role: 'support' });
    assert.equal((await send('payments', '{}', { authorization: `Bearer ${support.body.token}` })).status, 403);
    const put = await call(`${service.operatorUrl}/imports/payments`, 'PUT', { token: service.operatorToken });
    assert.equal(put.status, 405);
  });

  test('what has no body is refused, and no import of it is kept', async () => {
    const total = async () => (await service.operator('GET', '/imports')).headers.get('x-total-count');
    const before = await total();
    const none = await call(`${service.operatorUrl}/imports/payments`, 'POST', { token: service.operatorToken });
    const packed = await send('payments', gzipSync(''), { 'content-encoding': 'gzip' });
    for (const answer of [none, await send('payments', ''), packed]) {
      assert.deepEqual([answer.status, answer.body.code], [400, 'invalid_body'], answer.text);
      assert.match(answer.body.details, /^body: is required/);
    }
    assert.equal(await total(), before);
    assert.deepEqual((await send('payments', '\n')).body, { accepted: 0, rejected: 0, errors: [] });
  });

  test('Allow of an import names the methods that work there', async () => {
    const { headers } = await send('payments', '\n');
    const address = `/imports/${headers.get('import-id')}`;
    for (const method of ['POST', 'PUT', 'DELETE']) {
      const answer = await service.operator(method, address);
      assert.deepEqual([answer.status, answer.headers.get('allow')], [405, 'GET, HEAD'], method);
    }
    assert.equal((await service.operator('GET', address)).status, 200);
    const kind = await service.operator('PUT', '/imports/clients');
    assert.deepEqual([kind.status, kind.headers.get('allow')], [405, 'POST']);
  });
});

describe('Idempotency-Key', () => {
  test('the same file again gets the stored answer; another one a conflict', async () => {
    const record = { ...world.base, payment_id: fresh('idem') };
    const headers = { 'idempotency-key': fresh('key') };
    const first = await load('payments', [record], headers);
    const again = await load('payments', [record], headers);
    assert.equal(first.body.accepted, 1);
    assert.equal(again.text, first.text);
    assert.equal(again.headers.get('idempotency-replayed'), 'true');
    const other = await load('payments', [{ ...record, amount: 101 }], headers);
    assert.deepEqual([other.status, other.body.code], [409, 'idempotency_conflict']);
    const single = await service.operator('POST', '/payments', { ...record, payment_id: fresh('idem') }, { headers });
    assert.equal(single.body.code, 'idempotency_conflict');
  });

  test('of several at once one runs, and all get its answer', async () => {
    const records = Array.from({ length: 2_000 }, () => ({ ...world.base, payment_id: fresh('once') }));
    const headers = { 'idempotency-key': fresh('key') };
    const answers = await Promise.all(Array.from({ length: 4 }, () => loadInTurn('payments', records, headers)));
    assert.deepEqual(
      answers.map((answer) => answer.body.accepted),
      [2_000, 2_000, 2_000, 2_000],
    );
    assert.equal(answers.filter((answer) => answer.headers.get('idempotency-replayed') === 'true').length, 3);
  });
});
