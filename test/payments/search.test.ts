import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { client, pay } from '../world/payments.ts';
import { startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';

/** GET /payments and GET /payments/{payment_id} over HTTP: parameters, fields, London days, tenants, paging. */

let service: TestService;
let token: string;
let other: string;

before(async () => {
  service = await startTestService();
  ({ token } = await client(service, 'ACME'));
  ({ token: other } = await client(service, 'OTHER'));
});
after(() => service.stop());

const search = (query: string, clientId = 'CLI-ACME', bearer = token) =>
  service.client(bearer, 'GET', `/payments?client_id=${clientId}${query && `&${query}`}`);
const idsOf = (answer: { body: { payment_id: string }[] }) => answer.body.map((payment) => payment.payment_id);

/** [query, field that the error names] */
const BAD: [string, string][] = [
  ['payment_ids=', 'payment_ids'],
  ['payment_ids=a,,b', 'payment_ids'],
  ['payment_ids=a,%20', 'payment_ids'],
  [`payment_ids=${Array.from({ length: 1_001 }, (_, i) => i).join(',')}`, 'payment_ids'],
  ['payment_ids=a%00', 'payment_ids'],
  ['payment_currency=', 'payment_currency'],
  ['payment_currency=eur', 'payment_currency'],
  ['payment_currency=EURO', 'payment_currency'],
  ['payment_currency=EUR,', 'payment_currency'],
  ['payment_currency=EUR;USD', 'payment_currency'],
  ['amount=5', 'amount_range'],
  ['amount_range=over', 'amount'],
  ['amount=5.5&amount_range=over', 'amount'],
  ['amount=x&amount_range=over', 'amount'],
  ['amount=&amount_range=over', 'amount'],
  ['amount=2147483648&amount_range=over', 'amount'],
  ['amount=-2147483649&amount_range=over', 'amount'],
  ['amount=5&amount_range=above', 'amount_range'],
  ['amount=5&amount_range=', 'amount_range'],
  ['amount=5&amount=6&amount_range=over', 'amount'],
  ['page=0', 'page'],
  ['page=-1', 'page'],
  ['page=1.5', 'page'],
  ['page=x', 'page'],
  ['page=', 'page'],
  ['page=2147483648', 'page'],
  ['page=1&page=2', 'page'],
  ['page_size=0', 'page_size'],
  ['page_size=1001', 'page_size'],
  ['page_size=ten', 'page_size'],
  ['order=up', 'order'],
  ['order=ASC', 'order'],
  ['order_by=amount', 'order_by'],
  ['order_by=', 'order_by'],
  ['status=Payment+complete', 'status'],
  ['status=', 'status'],
  ['status=pending&status=complete', 'status'],
  ['reference=a&reference=b', 'reference'],
  ['reference=%00', 'reference'],
  ['trade_id=%00', 'trade_id'],
  ['beneficiary_id=a%00', 'beneficiary_id'],
  ['mass_payment_id=%00', 'mass_payment_id'],
  ['mass_payment_external_reference_id=%00', 'mass_payment_external_reference_id'],
  ...['from_payment_date', 'to_payment_date', 'from_created_date', 'to_created_date'].flatMap(
    (name): [string, string][] =>
      [
        '2026-02-30',
        '2026-2-3',
        '20260203',
        '2026-13-01',
        '2026-01-01T00:00:00Z',
        'today',
        '',
        '0000-01-01',
        '2025-02-29',
      ].map((value) => [`${name}=${value}`, name]),
  ),
];

for (const [query, field] of BAD) {
  test(`400 for ${query.slice(0, 60)}`, async () => {
    const answer = await search(query);
    assert.equal(answer.status, 400, answer.text);
    assert.match(answer.body.code, /^(invalid|missing)_parameter$/);
    assert.ok(answer.body.details.startsWith(`query.${field}:`), answer.body.details);
    assert.deepEqual(Object.keys(answer.body), ['code', 'message', 'details']);
  });
}

const GOOD = [
  'payment_ids=a,%20b&payment_ids=c',
  'payment_currency=EUR,%20USD&payment_currency=GBP',
  'amount=2147483647&amount_range=below',
  'amount=-2147483648&amount_range=over',
  'amount=-123&amount_range=below',
  'amount=0&amount_range=equal',
  'page=2147483647&page_size=1000',
  'page_size=1',
  'order=desc&order_by=value_date',
  'reference=',
  'reference=%27%20or%201%3D1',
  'trade_id=nobody',
  'beneficiary_id=%F0%9F%98%80',
  'mass_payment_id=no-uuid',
  'mass_payment_external_reference_id=x',
  'from_payment_date=2026-12-01&to_payment_date=2026-01-01',
  'from_created_date=0001-01-01&to_created_date=9999-12-31',
  'from_payment_date=0001-01-01&to_payment_date=9999-12-31',
  'to_created_date=9999-12-31&status=complete',
  'to_created_date=0001-01-01',
  'to_payment_date=0001-01-30&status=complete',
  'from_created_date=2024-02-29',
  'unknown=1&unknown=2',
  'from_created_date=9999-12-31&status=pending&payment_currency=EUR',
];
for (const query of GOOD) {
  test(`200 for ${query}`, async () => {
    const answer = await search(query);
    assert.equal(answer.status, 200, answer.text);
    assert.match(answer.headers.get('x-total-count') ?? '', /^\d+$/);
    assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8');
    assert.ok(Array.isArray(answer.body));
  });
}

test('parameters are looked at after token, client and contact', async () => {
  assert.equal((await service.client('x'.repeat(43), 'GET', '/payments?client_id=CLI-ACME&page=0')).status, 401);
  assert.equal((await search('page=0', 'CLI-NOBODY')).status, 404);
  assert.equal((await service.client(token, 'GET', '/payments?page=0')).body.code, 'missing_parameter');
});

const KEYS = [
  'payment_id',
  'contact_id',
  'trade_id',
  'uuid',
  'is_uuid_used_for_tracking',
  'amount',
  'payment_currency',
  'fee_amount',
  'fee_currency',
  'reference',
  'status',
  'charges',
  'invoice_required',
  'ordered_by_name',
  'created_date',
  'payment_date',
  'authorised_by',
  'authorised_date',
  'cancelled_by',
  'cancelled_date',
  'rejected_by',
  'rejected_date',
  'authorisation_workflow',
  'approvals_workflow',
  'beneficiary_name',
  'beneficiary_id',
  'beneficiary_aml_id',
  'beneficiary_active',
  'beneficiary_authorised',
  'beneficiary_blocked',
  'beneficiary_completed',
  'beneficiary_verified',
  'account_number',
  'iban',
  'bank_identifier',
  'swift_code',
  'multipayment',
  'multipayment_id',
  'multipayment_unique_id',
  'payment_instruction',
  'payment_receipt',
];

test('a Payment has every field in the order of the specification, and the same text alone and in a list', async () => {
  const { token: bearer } = await client(service, 'FIELDS');
  await pay(service, 'FIELDS', [
    {
      payment_id: 'F1',
      amount: '12345678901234567.10',
      reference: 'tab\t"quoted" \\ \u2028 😀',
      created: '2026-07-01T09:15:00.123456Z',
    },
    {
      payment_id: 'F2',
      amount: '0.10',
      status: 'Executing Payment',
      sent_date: '2026-01-02T10:00:00Z',
      created: '2026-01-01T09:15:00Z',
    },
  ]);
  const list = await search('', 'CLI-FIELDS', bearer);
  const [second, first] = list.body;
  for (const payment of list.body) assert.deepEqual(Object.keys(payment), KEYS);
  assert.deepEqual(Object.keys(first.approvals_workflow), [
    'authorisations',
    'contact_authorisation_actions',
    'n_eyes_plus_status',
    'minimum_remaining_authorisations',
  ]);
  assert.match(list.text, /"amount":12345678901234567\.10,/);
  assert.match(list.text, /"amount":0\.10,/);
  assert.equal(first.reference, 'tab\t"quoted" \\ \u2028 😀');
  assert.equal(first.beneficiary_name, 'Müller "& Söhne"');
  assert.equal(first.created_date, '2026-07-01T10:15:00+01:00');
  assert.equal(second.created_date, '2026-01-01T09:15:00+00:00');
  assert.equal(first.payment_date, '2026-07-03');
  assert.equal(first.fee_amount, null);
  assert.equal(first.payment_receipt, null);
  assert.equal(second.payment_receipt, `${service.api}/documents?type=pr&id=F2&client_id=CLI-FIELDS`);
  assert.equal(first.payment_instruction, `${service.api}/documents?type=pi&id=F1&client_id=CLI-FIELDS`);
  assert.deepEqual(first.approvals_workflow, {
    authorisations: [],
    contact_authorisation_actions: { allowed: ['cancel'], executed: null },
    n_eyes_plus_status: 'Approved',
    minimum_remaining_authorisations: 0,
  });
  assert.deepEqual(second.approvals_workflow.contact_authorisation_actions, { allowed: [], executed: null });
  const alone = await service.client(bearer, 'GET', '/payments/F1?client_id=CLI-FIELDS');
  assert.equal(alone.status, 200);
  assert.ok(list.text.includes(alone.text), 'the list holds the text of the single payment');
});

test('is_uuid_used_for_tracking: SWIFT, younger than 124 days, neither invalid nor cancelled, after the cut-off', async () => {
  const DAY = 86_400_000;
  const ago = (days: number, seconds = 0) => new Date(Date.now() - days * DAY + seconds * 1_000).toISOString();
  const cases: [string, object, boolean][] = [
    ['K1', { created: ago(1) }, true],
    ['K2', { created: ago(1), scheme: 'SEPA' }, false],
    ['K3', { created: ago(124, 60) }, true],
    ['K4', { created: ago(124, -60) }, false],
    ['K5', { created: ago(1), status: 'Payment cancelled' }, false],
    ['K6', { created: ago(1), status: 'Payment complete' }, true],
  ];
  const { token: bearer } = await client(service, 'TRACK');
  await pay(
    service,
    'TRACK',
    cases.map(([payment_id, given]) => ({ payment_id, ...given })),
  );
  const answer = await search('', 'CLI-TRACK', bearer);
  const shown = Object.fromEntries(
    answer.body.map((p: { payment_id: string; is_uuid_used_for_tracking: boolean }) => [
      p.payment_id,
      p.is_uuid_used_for_tracking,
    ]),
  );
  assert.deepEqual(shown, Object.fromEntries(cases.map(([id, , tracked]) => [id, tracked]).sort()));
  const late = await startTestService({ LOMBARD_TRACKING_CUTOFF: '9000-01-01' });
  try {
    const { token: lateToken } = await client(late, 'TRACK');
    await pay(late, 'TRACK', [{ created: ago(1) }]);
    const [payment] = (await late.client(lateToken, 'GET', '/payments?client_id=CLI-TRACK')).body;
    assert.equal(payment.is_uuid_used_for_tracking, false);
  } finally {
    await late.stop();
  }
});

/** [created (UTC), its London day] around both clock changes of 2026 and a few others. */
const LONDON: [string, string][] = [
  ['2026-03-28T23:59:59.999Z', '2026-03-28'],
  ['2026-03-29T00:00:00Z', '2026-03-29'],
  ['2026-03-29T00:59:59Z', '2026-03-29'],
  ['2026-03-29T01:00:00Z', '2026-03-29'],
  ['2026-03-29T22:59:59.999999Z', '2026-03-29'],
  ['2026-03-29T23:00:00Z', '2026-03-30'],
  ['2026-06-30T22:59:59Z', '2026-06-30'],
  ['2026-06-30T23:00:00Z', '2026-07-01'],
  ['2026-10-24T22:59:59Z', '2026-10-24'],
  ['2026-10-24T23:00:00Z', '2026-10-25'],
  ['2026-10-25T00:30:00Z', '2026-10-25'],
  ['2026-10-25T01:30:00Z', '2026-10-25'],
  ['2026-10-25T23:59:59.999Z', '2026-10-25'],
  ['2026-10-26T00:00:00Z', '2026-10-26'],
  ['2025-12-31T23:59:59Z', '2025-12-31'],
  ['1970-06-01T23:30:00Z', '1970-06-02'],
];

for (const rolledUp of [false, true]) {
  test(`a created instant belongs to its London day (${rolledUp ? 'totals rolled up' : 'counted just now'})`, async () => {
    const word = rolledUp ? 'DAYS1' : 'DAYS2';
    const { token: bearer } = await client(service, word);
    await pay(
      service,
      word,
      LONDON.map(([created], n) => ({ payment_id: `${word}-${n}`, created })),
    );
    if (rolledUp) await untilRolledUp();
    for (const day of new Set(LONDON.map(([, each]) => each))) {
      const expected = LONDON.flatMap(([, each], n) => (each === day ? [`${word}-${n}`] : [])).sort();
      for (const extra of ['', '&status=pending', '&payment_currency=EUR&status=authorised', '&reference=none']) {
        const answer = await search(`from_created_date=${day}&to_created_date=${day}${extra}`, `CLI-${word}`, bearer);
        const wanted = extra === '&reference=none' ? [] : expected;
        assert.deepEqual(idsOf(answer).sort(), wanted, `${day} ${extra}`);
        assert.equal(answer.headers.get('x-total-count'), String(wanted.length), `${day} ${extra}`);
      }
      const from = await search(`from_created_date=${day}&page_size=1`, `CLI-${word}`, bearer);
      assert.equal(from.headers.get('x-total-count'), String(LONDON.filter(([, each]) => each >= day).length));
      const to = await search(`to_created_date=${day}&status=authorised&page_size=1`, `CLI-${word}`, bearer);
      assert.equal(to.headers.get('x-total-count'), String(LONDON.filter(([, each]) => each <= day).length));
    }
  });
}

async function untilRolledUp(): Promise<void> {
  await until(async () => (await service.query('select from payment_total_deltas limit 1')).rowCount === 0);
}

test('two clients never see each other, by any filter', async () => {
  await pay(service, 'ACME', [{ payment_id: 'MINE', reference: 'same' }]);
  await pay(service, 'OTHER', [{ payment_id: 'THEIRS', reference: 'same' }]);
  for (const query of [
    '',
    'reference=same',
    'payment_ids=MINE,THEIRS',
    'status=pending',
    'payment_currency=EUR',
    'amount=1&amount_range=over',
    'trade_id=TRD-ACME-1',
    'beneficiary_id=BEN-ACME-1',
    'from_created_date=2026-07-01',
  ]) {
    assert.deepEqual(idsOf(await search(query)), ['MINE'], query);
    const theirs = idsOf(await search(query, 'CLI-OTHER', other));
    assert.deepEqual(theirs, /ACME/.test(query) ? [] : ['THEIRS'], query);
  }
  assert.equal((await search('', 'CLI-OTHER')).body.code, 'client_not_found');
  assert.equal(
    (await service.client(token, 'GET', '/payments/THEIRS?client_id=CLI-ACME')).body.code,
    'payment_not_found',
  );
  assert.equal(
    (await service.client(token, 'GET', '/payments/THEIRS?client_id=CLI-OTHER')).body.code,
    'client_not_found',
  );
  assert.equal((await service.client(token, 'GET', '/payments/%00?client_id=CLI-ACME')).status, 404);
});

test('pages of an unchanging set neither repeat nor skip a payment; ties keep the order of insertion', async () => {
  const { token: bearer } = await client(service, 'PAGES');
  // Few instants and few days, so that nearly all payments tie.
  const given = Array.from({ length: 2_310 }, (_, n) => ({
    payment_id: `G${n}`,
    created: `2026-0${1 + (n % 3)}-01T12:00:00Z`,
    payment_date: `2026-0${1 + ((n >> 3) % 2)}-15`,
    status: n % 5 === 0 ? 'Payment complete' : 'Executing Payment',
  }));
  await pay(service, 'PAGES', given);
  for (const [orderBy, key] of [
    ['order_date', 'created'],
    ['value_date', 'payment_date'],
  ] as const) {
    for (const order of ['asc', 'desc']) {
      for (const [filter, keep] of [
        ['', () => true],
        ['&status=complete', (n: number) => n % 5 === 0],
        ['&status=authorised&payment_currency=EUR', (n: number) => n % 5 !== 0],
      ] as const) {
        const wanted = given
          .map((payment, n) => ({ ...payment, n }))
          .filter(({ n }) => keep(n))
          .sort((a, b) => (a[key] < b[key] ? -1 : a[key] > b[key] ? 1 : a.n - b.n))
          .map((payment) => payment.payment_id);
        if (order === 'desc') wanted.reverse();
        const seen: string[] = [];
        for (let page = 1; seen.length < wanted.length; page += 1) {
          const answer = await search(
            `order_by=${orderBy}&order=${order}&page=${page}&page_size=200${filter}`,
            'CLI-PAGES',
            bearer,
          );
          assert.equal(answer.headers.get('x-total-count'), String(wanted.length));
          if (answer.body.length === 0) break;
          seen.push(...idsOf(answer));
        }
        assert.deepEqual(seen, wanted, `${orderBy} ${order} ${filter}`);
      }
    }
  }
  const behind = await search('page=2147483647&page_size=1000', 'CLI-PAGES', bearer);
  assert.deepEqual([behind.text, behind.headers.get('x-total-count')], ['[]', '2310']);
});
