import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { migrate } from '../../src/database/migrate.ts';
import { readMigrations } from '../../src/database/schema.ts';
import { searchPayments } from '../../src/payments/search/search.ts';
import { readSearch } from '../../src/payments/search/search-parameters.ts';
import { createEmptyDatabase, log } from '../world/database.ts';

/** The last schema without kept totals. */
const BEFORE_TOTALS = 4;
const PAYMENTS = 100_000;

test('a migration that adds kept totals counts the payments that exist', async () => {
  const database = await createEmptyDatabase();
  const pool = new pg.Pool({ connectionString: database.url, max: 1 });
  pool.on('error', () => {});
  try {
    const migrations = await readMigrations();
    await migrate(database.url, log, { migrations: migrations.filter(({ number }) => number <= BEFORE_TOTALS) });
    await pool.query(`
      insert into clients (client_id, client_name, status, fx_enabled, mass_payments_customer, authorisation_workflow,
          payment_approvals_enabled, payment_creator_approval_enabled, created_at)
        values ('CLI', 'c', 'enabled', true, false, 'simple', false, false, now());
      insert into contacts (contact_id, name, email, second_factor, trusted_access, created_at)
        values ('CON', 'c', 'c@example.com', 'none', false, now());
      insert into beneficiaries (beneficiary_id, client_id, beneficiary_name, active, authorised, blocked, completed, verified, created_at)
        values ('BEN', 'CLI', 'b', true, true, false, true, false, now());
      insert into trades (trade_id, client_id, contact_id, status, trade_type, rate_symbol, rate, buy_currency, sell_currency, buy_amount,
          sell_amount, order_date, synthetic, created_at)
        values ('TRD', 'CLI', 'CON', 'Created', 'spot', 'GBPEUR', 1.17, 'EUR', 'GBP', 117, 100, '2026-01-05', false, now());
      insert into payments (client_id, payment_id, contact_id, trade_id, beneficiary_id, uuid, scheme, amount, payment_currency, status,
          invoice_required, ordered_by_name, beneficiary_name, created, payment_date, authorisation_workflow)
        select 'CLI', 'P' || i, 'CON', 'TRD', 'BEN', gen_random_uuid(), 'SWIFT', i % 1000, (array['EUR','USD'])[1 + i % 2],
          case when i % 4 = 0 then 'Payment complete' else 'Executing Payment' end::payment_status, false, 'x', 'b',
          timestamptz '2026-01-01Z' + i * interval '1 minute', date '2026-01-03' + i / 1440, 'simple'
        from generate_series(1, ${PAYMENTS}) i`);
    await migrate(database.url, log);
    const view = {
      clientId: 'CLI',
      viewer: 'CON',
      now: new Date(),
      apiUrl: 'http://api',
      trackingCutoff: '2020-01-01',
    };
    const total = async (query: object) => (await searchPayments(pool, view, readSearch(query))).total;
    for (const rolledUp of [false, true]) {
      if (rolledUp) await pool.query(`select roll_up_payment_totals(${2 * PAYMENTS})`);
      assert.equal(await total({}), PAYMENTS);
      assert.equal(await total({ status: 'complete' }), PAYMENTS / 4);
      assert.equal(await total({ payment_currency: 'EUR' }), PAYMENTS / 2);
      assert.equal(await total({ beneficiary_id: 'BEN' }), PAYMENTS);
      assert.equal(await total({ amount: 499, amount_range: 'over' }), PAYMENTS / 2);
    }
  } finally {
    await pool.end();
    await database.drop();
  }
});
