import { randomUUID } from 'node:crypto';
import { accessToken } from './access-token.ts';
import type { TestService } from './service.ts';

/** A client with a contact, a beneficiary and a trade, all named after one word. */
export async function client(
  test: TestService,
  word: string,
): Promise<{ clientId: string; contactId: string; token: string }> {
  const [clientId, contactId] = [`CLI-${word}`, `CON-${word}`];
  await test.query(
    `insert into clients (client_id, client_name, status, fx_enabled, mass_payments_customer, authorisation_workflow,
       payment_approvals_enabled, payment_creator_approval_enabled, created_at)
     values ($1, $1, 'enabled', true, false, 'simple', false, false, now())`,
    [clientId],
  );
  await contact(test, clientId, contactId, true);
  for (const n of [1, 2, 3]) {
    await test.query(
      `insert into beneficiaries (beneficiary_id, client_id, beneficiary_name, active, authorised, blocked, completed, verified, created_at)
       values ($1, $2, 'Müller "& Söhne"', true, true, false, true, false, now())`,
      [`BEN-${word}-${n}`, clientId],
    );
    await test.query(
      `insert into trades (trade_id, client_id, contact_id, status, trade_type, rate_symbol, rate, buy_currency, sell_currency, buy_amount,
         sell_amount, order_date, synthetic, created_at)
       values ($1, $2, $3, 'Created', 'spot', 'GBPEUR', 1.17, 'EUR', 'GBP', 117, 100, '2026-01-05', false, now())`,
      [`TRD-${word}-${n}`, clientId, contactId],
    );
  }
  return { clientId, contactId, token: await accessToken(test, contactId) };
}

/** Another contact of a client. */
export async function contact(test: TestService, clientId: string, contactId: string, manages: boolean): Promise<void> {
  await test.query(
    `insert into contacts (contact_id, name, email, second_factor, trusted_access, created_at)
     values ($1, $1, $1 || '@example.com', 'none', false, now()) on conflict do nothing`,
    [contactId],
  );
  await test.query('insert into contact_clients values ($1, $2, true, $3, true, true, true)', [
    clientId,
    contactId,
    manages,
  ]);
}

/** A payment as a test describes it. Omitted fields do not matter to the test. */
export interface Given {
  payment_id?: string;
  trade?: number;
  beneficiary?: number;
  amount?: string;
  payment_currency?: string;
  reference?: string | null;
  status?: string;
  scheme?: string;
  created?: string;
  payment_date?: string;
  mass_payment_id?: string | null;
  mass_payment_external_reference_id?: string | null;
  sent_date?: string | null;
}

/** Inserts payments in one statement, in order; returns their payments.id. */
export async function pay(test: TestService, word: string, given: Given[]): Promise<number[]> {
  const rows = given.map((payment) => ({
    client_id: `CLI-${word}`,
    payment_id: payment.payment_id ?? `PAY-${randomUUID()}`,
    contact_id: `CON-${word}`,
    trade_id: `TRD-${word}-${payment.trade ?? 1}`,
    beneficiary_id: `BEN-${word}-${payment.beneficiary ?? 1}`,
    uuid: randomUUID(),
    scheme: payment.scheme ?? 'SWIFT',
    amount: payment.amount ?? '100.00',
    payment_currency: payment.payment_currency ?? 'EUR',
    reference: payment.reference ?? null,
    status: payment.status ?? 'Waiting for payment date',
    created: payment.created ?? '2026-07-01T09:15:00Z',
    payment_date: payment.payment_date ?? '2026-07-03',
    mass_payment_id: payment.mass_payment_id ?? null,
    mass_payment_external_reference_id: payment.mass_payment_external_reference_id ?? null,
    sent_date: payment.sent_date ?? null,
  }));
  const { rows: inserted } = await test.query(
    `insert into payments (client_id, payment_id, contact_id, trade_id, beneficiary_id, uuid, scheme, amount, payment_currency, reference,
       status, invoice_required, ordered_by_name, beneficiary_name, created, payment_date, authorisation_workflow, mass_payment_id,
       mass_payment_external_reference_id, sent_date)
     select client_id, payment_id, contact_id, trade_id, beneficiary_id, uuid, scheme, amount, payment_currency, reference, status, false,
       'Ada "Countess" Byron', 'Müller "& Söhne"', created, payment_date, 'simple', mass_payment_id, mass_payment_external_reference_id, sent_date
     from json_populate_recordset(null::payments, $1) returning id`,
    [JSON.stringify(rows)],
  );
  return inserted.map((row: { id: string }) => Number(row.id));
}
