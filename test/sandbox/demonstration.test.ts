import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { PAYMENT_STATUSES } from '../../src/payments/moves.ts';
import { ensureDemonstration } from '../../src/sandbox/demonstration/demonstration.ts';
import { fundingTrades } from '../../src/sandbox/demonstration/funding.ts';
import { DEMO_APPLICATION, DEMO_CONTACTS, DEMO_PASSWORD } from '../../src/sandbox/demonstration/institution.ts';
import { allPayments } from '../../src/sandbox/demonstration/payments.ts';
import { call, startTestService, type TestService } from '../world/service.ts';

describe('the demonstration institution', () => {
  let service: TestService;
  before(async () => {
    service = await startTestService();
    assert.equal(await ensureDemonstration(service.service.context), true);
  });
  after(() => service.stop());

  async function signIn(email: string): Promise<string> {
    const form = (fields: Record<string, string>) => new URLSearchParams(fields).toString();
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    const code = await call(`${service.auth}/authenticate`, 'POST', {
      raw: form({ email, password: DEMO_PASSWORD, client_id: DEMO_APPLICATION.client_id, state: 'demo' }),
      headers: { ...type, 'no-redirect': 'application/json' },
    });
    const basic = Buffer.from(`${DEMO_APPLICATION.client_id}:${DEMO_APPLICATION.client_secret}`).toString('base64');
    const token = await call(`${service.auth}/token`, 'POST', {
      raw: form({
        grant_type: 'authorization_code',
        code: code.body.code,
        redirect_uri: DEMO_APPLICATION.redirect_uri,
      }),
      headers: { ...type, authorization: `Basic ${basic}` },
    });
    assert.equal(token.status, 200, token.text);
    return token.body.access_token;
  }

  test('is made once', async () => {
    assert.equal(await ensureDemonstration(service.service.context), false);
    assert.equal((await service.operator('GET', '/clients')).body.length, 2);
  });

  test('every contact signs in with the printed password', async () => {
    for (const contact of DEMO_CONTACTS) {
      const token = await signIn(contact.email);
      for (const client of contact.clients) {
        const page = await service.client(token, 'GET', `/payments?client_id=${client.client_id}&page_size=1`);
        assert.equal(page.status, 200, page.text);
      }
    }
  });

  test('each client has payments in every state, in a dozen currencies, over a year', async () => {
    const { rows } = await service.query(
      `select client_id, count(*)::int as n, count(distinct status)::int as states, count(distinct payment_currency)::int as currencies,
         max(created)::date - min(created)::date as days, count(distinct multipayment_id)::int as multi, count(distinct mass_payment_id)::int as mass,
         count(*) filter (where created > now()) as future
       from payments group by client_id order by client_id`,
    );
    for (const row of rows) {
      assert.equal(row.states, PAYMENT_STATUSES.length);
      assert.ok(
        row.currencies >= 12 && row.days >= 340 && row.multi === 7 && row.mass === 2 && Number(row.future) === 0,
        JSON.stringify(row),
      );
    }
    assert.deepEqual(
      rows.map((row) => row.n),
      [268, 208],
    );
  });

  test('each client has three verified payees in pounds, euros and dollars, whose details are complete', async () => {
    const { rows } = await service.query(
      `select client_id, currency, count(*)::int as payees from beneficiaries
       where verified and active and not blocked and country_code is not null and bank_country_code is not null
         and currency = any('{GBP,EUR,USD}')
       group by client_id, currency order by client_id, currency`,
    );
    assert.deepEqual(
      rows.map(({ client_id, currency }) => `${client_id} ${currency}`),
      ['CLI000001', 'CLI000002'].flatMap((client) => ['EUR', 'GBP', 'USD'].map((currency) => `${client} ${currency}`)),
    );
    assert.ok(rows.every(({ payees }) => payees >= 3));
  });

  test('one payment that a client has ordered holds money of its account', async () => {
    const { body: holds } = await service.operator('GET', '/holds');
    assert.deepEqual(
      holds.map(({ state, currency_account_id: account }: { state: string; currency_account_id: number }) => [
        state,
        account,
      ]),
      [['open', 1]],
    );
    const [{ payment_id: id, amount, currency }] = holds;
    const { body: payment } = await service.operator('GET', `/payments/${id}`);
    assert.deepEqual(
      [payment.source, payment.funding_account_id, payment.amount, payment.payment_currency, payment.contact_id],
      ['client', 1, amount, currency, 'CON000001'],
    );
    const { body: trade } = await service.operator('GET', `/trades/${payment.trade_id}`);
    assert.deepEqual(
      [trade.source, trade.buy_currency, trade.sell_currency, trade.buy_amount, trade.reason],
      ['client', currency, currency, amount, payment.reason],
    );
    const { body: account } = await service.operator('GET', '/currency-accounts/1');
    assert.equal(Number(account.held), amount);
  });

  test('a client can see where to pay in, in each of three currencies', async () => {
    const token = await signIn('ada@ashdown.example');
    const { body } = await service.client(token, 'GET', '/account-details?client_id=CLI000001');
    assert.deepEqual(
      body.map(({ currency }: { currency: string }) => currency),
      ['EUR', 'GBP', 'USD'],
    );
  });

  test('three currencies have cut-offs, and holidays of three years', async () => {
    const { body } = await service.operator('GET', '/currencies');
    const years = [0, 1, 2].map((index) => String(new Date().getUTCFullYear() + index));
    for (const { currency, cutoff_time: time, holidays } of body) {
      assert.match(time, /^\d\d:\d\d$/, currency);
      const days: string[] = holidays.map(({ date }: { date: string }) => date);
      assert.deepEqual(days, days.toSorted());
      for (const year of years)
        assert.ok(days.filter((day) => day.startsWith(year)).length >= 6, `${currency} ${year}`);
    }
    assert.deepEqual(
      body.map(({ currency }: { currency: string }) => currency),
      ['EUR', 'GBP', 'USD'],
    );
  });

  test('states, approvals and dates fit each other', async () => {
    const { rows } = await service.query(
      `select p.payment_id, p.status, a.status as approval, a.remaining, json_array_length(a.authorisations)::int as given, p.authorised_by, p.authorised_date, p.rejected_date,
         p.cancelled_date, p.sent_date, p.created, (select count(*)::int from payment_approvers v where v.payment_id = p.id and v.may_authorise) as approvers
       from payments p left join payment_approvals a on a.payment_id = p.id`,
    );
    for (const row of rows) {
      const label = JSON.stringify(row);
      if (row.status === 'Payment pending of authorization')
        assert.ok(row.approval === 'Pending approval' && row.approvers > 0 && row.authorised_by === null, label);
      else if (row.status === 'Payment rejected')
        assert.ok(row.approval === 'Rejected' && row.rejected_date >= row.created, label);
      else if (row.status === 'Payment cancelled')
        assert.ok(row.approval === 'Cancelled' && row.cancelled_date >= row.created, label);
      else
        assert.ok(
          row.approval === 'Approved' && row.remaining === 0 && row.given > 0 && row.authorised_date >= row.created,
          label,
        );
      assert.equal(
        row.sent_date !== null,
        row.status === 'Payment complete' || row.status === 'Executing Payment',
        label,
      );
    }
    const token = await signIn('ada@ashdown.example');
    const mine = await service.client(token, 'GET', '/payments?client_id=CLI000001&status=pending_your_approval');
    assert.ok(mine.body.length > 0);
    const levels = await service.query(
      `select max(json_array_length(authorisations))::int as most from payment_approvals where client_id = 'CLI000002'`,
    );
    assert.equal(levels.rows[0].most, 2);
  });

  test('identifiers go on where the demonstration ends', async () => {
    const created = await service.operator('POST', '/clients', { client_name: 'Third' });
    assert.equal(created.body.client_id, 'CLI000003');
  });

  test('is the same on every machine, but for its days', () => {
    const made = (day: string) => {
      const payments = allPayments(day, new Date(`${day}T12:00:00Z`));
      return { payments, trades: fundingTrades(payments) };
    };
    assert.deepEqual(made('2026-07-01'), made('2026-07-01'));
    const dateless = ({ payments, trades }: ReturnType<typeof made>) => [
      payments.map(({ input, status, age, multipayment }) => {
        const { created_date: _created, payment_date: _date, reference: _reference, ...rest } = input;
        return { ...rest, status, age, multipayment };
      }),
      trades.map(({ order_date: _order, maturity_date: _maturity, ...rest }) => rest),
    ];
    assert.deepEqual(dateless(made('2026-11-21')), dateless(made('2026-07-01')));
  });
});
