import { PAYEE_COLUMNS, PAYEE_STATE_COLUMNS, type Payee, type PayeeState } from '../beneficiaries/payee.ts';
import type { Transaction } from '../database/database.ts';
import { joinKey, type PaymentOfTrade } from '../exchange/trade-beneficiaries.ts';
import { ofOnePayment } from '../exchange/trade-status.ts';
import { creatorFault, findReferences, notOfClient, owned, pairKey } from '../identity/people/tenant.ts';
import type { Problem } from '../values/errors.ts';
import type { NewPayment } from './new-payment.ts';

interface Records {
  trades: { client_id: string; trade_id: string; single: boolean };
  payees: { client_id: string; beneficiary_id: string } & Payee & PayeeState;
  joined?: PaymentOfTrade;
}

const JOINED = owned('trade_beneficiaries', ['trade_id', 'beneficiary_id'], ['$2', '$3']);
const RECORDS = {
  trades: owned('trades', ['trade_id'], ['$2'], ['trade_id', 'single']),
  payees: owned(
    'beneficiaries',
    ['beneficiary_id'],
    ['$3'],
    ['beneficiary_id', ...PAYEE_COLUMNS, ...PAYEE_STATE_COLUMNS],
  ),
};

/**
 * Completes payments with the clients, contacts, trades and beneficiaries that they name.
 * @param joining whether to look up which beneficiaries their trades already have
 * @returns the clients, and why payments are refused, by their index
 */
export async function judgeParties(tx: Transaction, payments: readonly NewPayment[], joining: boolean) {
  const inputs = payments.map(({ input }) => input);
  const found = await findReferences<Records>(tx, inputs, {
    queries: joining ? { ...RECORDS, joined: JOINED } : RECORDS,
    values: [inputs.map(({ trade_id: trade }) => trade), inputs.map(({ beneficiary_id: beneficiary }) => beneficiary)],
  });
  const trades = new Map(found.trades.map((row) => [pairKey(row.client_id, row.trade_id), row]));
  const payees = new Map(found.payees.map((row) => [pairKey(row.client_id, row.beneficiary_id), row]));
  const joined = new Set(found.joined?.map(joinKey));
  const refused = new Map<number, Problem>();
  for (const [index, payment] of payments.entries()) {
    const { input, inside } = payment;
    const { client_id: client } = input;
    payment.payee = payees.get(pairKey(client, input.beneficiary_id));
    payment.creatorName = found.contacts.get(pairKey(client, input.contact_id)) ?? '';
    payment.workflow = found.clients.get(client)?.workflow ?? '';
    payment.joinsTrade = !joined.has(joinKey(input));
    const fault = () => {
      const trade = trades.get(pairKey(client, input.trade_id));
      if (!trade) return notOfClient('trade_not_found', `${inside}trade_id`);
      if (!payment.payee) return notOfClient('beneficiary_not_found', `${inside}beneficiary_id`);
      return trade.single ? ofOnePayment(`${inside}trade_id`) : undefined;
    };
    const problem = creatorFault(found, input, inside) ?? fault();
    if (problem) refused.set(index, problem);
  }
  return { clients: found.clients, refused };
}
