import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type pg from 'pg';
import { searchBeneficiaries } from '../../src/beneficiaries/client-search.ts';
import { judgePayees } from '../../src/beneficiaries/judgement.ts';
import { connectTo, isOnWorkers, ON_WORKERS } from '../world/cells.ts';
import { createWorld } from '../world/client.ts';
import { readBy, type Statement, statementsOf } from '../world/plans.ts';
import { startTestService, type TestService } from '../world/service.ts';

/** What reads beneficiaries walks an index, however many of the client were deleted. */

const DELETED = 20_000;
const ACTIVE = 2_000;

let service: TestService;
let db: pg.Client;
let clientId: string;

before(async () => {
  service = await startTestService({ LOMBARD_ROLES: 'api,operator' });
  ({ clientId } = await createWorld(service, 'Plans'));
  db = await connectTo(service, clientId);
  await db.query(
    `insert into beneficiaries (beneficiary_id, client_id, beneficiary_name, name_key, account_number, bank_identifier, iban, paid_account,
       currency, active, authorised, blocked, completed, verified, created_at)
     select 'B' || i, $1, 'Name ' || i, 'name ' || i, i::text, (i % 900)::text, 'IBAN' || i, i::text, 'EUR', i > $2, true, i % 5000 = 0,
       true, true, now() from generate_series(1, $3::int) i`,
    [clientId, DELETED, DELETED + ACTIVE],
  );
  await db.query('vacuum (analyze) beneficiaries');
});
after(async () => {
  await db.end();
  await service.stop();
});

const reading = (statements: Statement[]) => readBy(db, 'beneficiaries', statements);
const sentBy = (work: (tx: never) => Promise<unknown>) => statementsOf(db, work);

test('the list and each of its filters', async (t) => {
  if (await isOnWorkers(service)) return t.skip(ON_WORKERS);
  const search = (filters: object, page = 1) =>
    sentBy((tx) => searchBeneficiaries(tx, filters, { clientId, page, pageSize: 50 }));
  const cases: [object, string, number][] = [
    [{}, 'beneficiaries_active', ACTIVE + 51],
    [{ name: 'NAME 21000' }, 'beneficiaries_name', 2],
    [{ account_number: '21000' }, 'beneficiaries_account_number', 2],
    [{ iban: 'IBAN21000' }, 'beneficiaries_iban', 2],
    [{ bank_identifier: '300' }, 'beneficiaries_bank', 10],
  ];
  for (const [filters, index, most] of cases) {
    const { indexes, read } = await reading(await search(filters));
    assert.ok(
      indexes.every((name) => [index, 'beneficiaries_active'].includes(name)),
      `${JSON.stringify(filters)}: ${indexes}`,
    );
    assert.ok(read <= most, `${JSON.stringify(filters)}: ${read} rows`);
  }
});

test('whether a beneficiary is there already, and whether its account is blocked', async (t) => {
  if (await isOnWorkers(service)) return t.skip(ON_WORKERS);
  const payee = { name_key: 'name 21000', paid_account: '21000', paid_bank: null, paid_bic: null, paid_country: null };
  const { indexes, read } = await reading(
    await sentBy((tx) => judgePayees(tx, clientId, [{ ...payee, currency: 'EUR', self: null }])),
  );
  assert.deepEqual(indexes, ['beneficiaries_blocked', 'beneficiaries_name']);
  assert.ok(read <= 2, `${read} rows`);
});
