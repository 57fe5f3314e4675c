import type { Act } from '../audit/act.ts';
import type { Transaction } from '../database/database.ts';
import { createPayment } from '../payments/creation.ts';
import type { Presentation } from '../payments/presentation.ts';
import { londonDay } from '../values/calendar.ts';
import type { PaymentNumber } from '../values/identifiers.ts';
import { decimal } from '../values/money.ts';
import { asRuled, type ChooseApproval } from './approval-choice.ts';
import { currencyOf, newestBeneficiary, newestTrade, type Owner } from './belongings.ts';

const AMOUNT = '100.00';
const CURRENCY = 'EUR';

/** A payment that the integrator describes. Omitted values are chosen. */
export interface SandboxPayment {
  amount?: number | string;
  payment_currency?: string;
  payment_date?: string;
  beneficiary_id?: string;
  trade_id?: string;
  reference?: string;
}

/**
 * Creates a payment of a client as the institution would, in the caller's transaction (docs/sandbox.md, Create a payment). It uses the
 * client's newest trade and beneficiary, and makes missing ones.
 * @param choose the creator, and the requirement of its approval; by default the caller, and the client's rules
 * @throws Problem like createPayment, and those of the choice
 */
export async function createSandboxPayment(
  tx: Transaction,
  act: Act,
  presentation: Presentation,
  { clientId, contactId, ...input }: SandboxPayment & Owner,
  choose: ChooseApproval = asRuled,
): Promise<PaymentNumber> {
  const owner = { clientId, contactId };
  const amount = decimal(input.amount ?? AMOUNT, 'amount', { positive: true });
  const tradeId = input.trade_id ?? (await newestTrade(tx, act, presentation.apiUrl, owner));
  const beneficiary =
    input.beneficiary_id === undefined
      ? await newestBeneficiary(tx, act, clientId)
      : { beneficiary_id: input.beneficiary_id, currency: await currencyOf(tx, clientId, input.beneficiary_id) };
  const currency = input.payment_currency ?? beneficiary.currency ?? CURRENCY;
  const { creatorId, requirement } = await choose(tx, {
    clientId,
    callerId: contactId,
    amount,
    currency,
  });
  return createPayment(
    tx,
    act,
    presentation,
    {
      client_id: clientId,
      contact_id: creatorId,
      trade_id: tradeId,
      beneficiary_id: beneficiary.beneficiary_id,
      amount,
      payment_currency: currency,
      payment_date: input.payment_date ?? londonDay(act.now),
      reference: input.reference ?? null,
    },
    { given: requirement },
  );
}
