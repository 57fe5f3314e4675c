import { type Db, one, together } from '../database/database.ts';
import { contactNames } from '../identity/people/contact.ts';
import { londonTimestamp } from '../values/calendar.ts';
import type { AuthorisationFacts, ClientFacts, PaymentFacts, TradeFacts } from './facts.ts';

/** Reads the facts of documents. A row is found only through its client (docs/decisions.md, 1). */

/** The most payments that a trade receipt lists. It states how many others there are. */
const MAX_PAYMENTS_OF_TRADE = 200;

interface DocumentPaymentRow extends Record<string, unknown> {
  created: Date;
  authorised_date: Date | null;
  sent_date: Date | null;
  approval: { status: string; authorisations: AuthorisationFacts[]; version: number | null } | null;
  authorisation_workflow: string;
  multipayment_id: number | null;
}

/** A payment's facts, or undefined if the client has no payment with that id. */
export async function paymentFacts(db: Db, clientId: string, paymentId: string): Promise<PaymentFacts | undefined> {
  const { rows } = await db.query<DocumentPaymentRow & Omit<PaymentFacts, 'authorised_date' | 'sent_date' | 'client'>>({
    name: 'document-payment',
    text: `select p.payment_id, p.uuid, p.reference, p.status::text as status, p.scheme, p.charges, p.amount, p.payment_currency, p.fee_amount,
        p.fee_currency, p.payment_date, p.created, p.authorised_date, p.sent_date, p.trade_id, p.authorisation_workflow, p.multipayment_id,
        json_build_object('contact_id', p.contact_id, 'name', p.ordered_by_name) as ordered_by,
        json_build_object('beneficiary_id', p.beneficiary_id, 'name', p.beneficiary_name, 'iban', p.iban, 'account_number', p.account_number,
          'swift_code', p.swift_code, 'bank_identifier', p.bank_identifier, 'bank_name', null, 'address', null) as beneficiary,
        case when a.payment_id is not null then json_build_object('status', a.status, 'authorisations', a.authorisations,
          'version', a.requirement -> 'ruleset' -> 'version') end as approval
      from payments p
      left join payment_approvals a on a.client_id = $1 and a.payment_id = p.id
      where p.client_id = $1 and p.payment_id = $2`,
    values: [clientId, paymentId],
  });
  const row = rows[0];
  if (!row) return undefined;
  const { created, approval, authorisation_workflow: eyes, multipayment_id: multipayment, ...facts } = row;
  const workflow =
    approval && (approval.version === null ? eyes : `approval rules, version ${approval.version} of the configuration`);
  return {
    ...facts,
    client: await clientFacts(db, clientId),
    created_date: londonTimestamp(created),
    authorised_date: row.authorised_date && londonTimestamp(row.authorised_date),
    sent_date: row.sent_date && londonTimestamp(row.sent_date),
    completed_date: null,
    multipayment: multipayment === null ? null : `MP${String(multipayment).padStart(6, '0')}`,
    approvals: { workflow, status: approval?.status ?? null, authorisations: approval?.authorisations ?? [] },
  };
}

interface DocumentTradeRow extends Record<string, unknown> {
  maturity_date: Date | null;
  contact_id: string;
}

/** A trade's facts, or undefined if the client has no trade with that id. */
export async function tradeFacts(db: Db, clientId: string, tradeId: string): Promise<TradeFacts | undefined> {
  const { rows } = await db.query<DocumentTradeRow & Omit<TradeFacts, 'maturity_date' | 'client' | 'booked_by'>>({
    name: 'document-trade',
    text: `select t.trade_id, t.parent_trade_id, t.status, t.trade_type, t.reference, t.rate_symbol, t.rate, t.buy_currency, t.buy_amount,
        t.sell_currency, t.sell_amount, t.fee_amount, t.fee_currency, t.order_date, t.maturity_date, t.contact_id
      from trades t
      where t.client_id = $1 and t.trade_id = $2`,
    values: [clientId, tradeId],
  });
  const row = rows[0];
  if (!row) return undefined;
  const { contact_id: contactId, ...facts } = row;
  const [payments, client, names] = await together([
    db.query<TradeFacts['payments'][number] & { total: number }>({
      name: 'document-trade-payments',
      text: `select p.payment_id, p.beneficiary_name, p.payment_date, p.amount, p.payment_currency, count(*) over () as total
        from payments p
        where p.client_id = $1 and p.trade_id = $2 order by p.created, p.id limit ${MAX_PAYMENTS_OF_TRADE}`,
      values: [clientId, tradeId],
    }),
    clientFacts(db, clientId),
    contactNames(db, [contactId]),
  ]);
  return {
    ...facts,
    client,
    booked_by: { contact_id: contactId, name: names.get(contactId) ?? '' },
    maturity_date: row.maturity_date && londonTimestamp(row.maturity_date),
    payments: payments.rows.map(({ total: _total, ...payment }) => payment),
    further_payments: (payments.rows[0]?.total ?? 0) - payments.rows.length,
  };
}

/** The client is read separately, because its payments and trades may be on another server. */
async function clientFacts(db: Db, clientId: string): Promise<ClientFacts> {
  const text = 'select client_id, client_name, account_number from clients where client_id = $1';
  return one(await db.query<ClientFacts>({ name: 'document-client', text, values: [clientId] }));
}
