import { bookTransaction } from '../accounts/booking.ts';
import type { Act } from '../audit/act.ts';
import { findBeneficiary, updateBeneficiary } from '../beneficiaries/beneficiary.ts';
import { first, type Transaction } from '../database/database.ts';
import type { TradeRecord, TradeStatus } from '../exchange/trade-declaration.ts';
import { setTradeStatus } from '../exchange/trade-status.ts';
import { returnPayment } from '../payments/actions/payment-return.ts';
import { type MoveRequest, movePayment } from '../payments/lifecycle.ts';
import type { Presentation } from '../payments/presentation.ts';

/** Does what the institution's core would do by itself with clients' orders, because the sandbox has no core (docs/sandbox.md). */

/** Moves a payment as the core would: it verifies the payee before it validates, and books what was held once it has sent. */
export async function moveAsCore(
  tx: Transaction,
  act: Act,
  presentation: Presentation,
  move: MoveRequest,
): Promise<void> {
  const { clientId, paymentId, action } = move;
  if (action === 'validate') await verifyPayee(tx, act, { clientId, paymentId });
  if (action === 'return') await returnPayment(tx, act, presentation, move);
  else await movePayment(tx, act, presentation, move);
  if (action === 'send') await bookHold(tx, act, { clientId, column: 'payment_id', id: paymentId });
}

async function verifyPayee(
  tx: Transaction,
  act: Act,
  { clientId, paymentId }: { clientId: string; paymentId: string },
): Promise<void> {
  const payee = first(
    await tx.query<{ id: string }>(
      `select b.beneficiary_id as id from payments p join beneficiaries b on b.client_id = $1 and b.beneficiary_id = p.beneficiary_id
       where p.client_id = $1 and p.payment_id = $2 and b.source = 'client' and not b.verified and not b.blocked`,
      [clientId, paymentId],
    ),
  );
  if (payee) await verifyBeneficiary(tx, act, payee.id);
}

/** Verifies a payee that a client made. */
export async function verifyBeneficiary(tx: Transaction, act: Act, id: string): Promise<void> {
  const { version } = await findBeneficiary(tx, id);
  await updateBeneficiary(tx, act, id, { beneficiary_verified: true, version });
}

/** Books the debit of what is held for a payment or a trade, if anything is. */
async function bookHold(
  tx: Transaction,
  act: Act,
  { clientId, column, id }: { clientId: string; column: 'payment_id' | 'trade_id'; id: string },
): Promise<void> {
  const hold = first(
    await tx.query<{ account: number; amount: string; currency: string }>(
      `select currency_account_id as account, amount, currency from holds where client_id = $1 and ${column} = $2 and closed_at is null`,
      [clientId, id],
    ),
  );
  if (!hold) return;
  await bookTransaction(tx, act, {
    client_id: clientId,
    currency_account_id: hold.account,
    kind: 'DEBIT_TRANSACTION',
    amount: { amount: hold.amount, currency: hold.currency },
    transaction_reference: id,
    transaction_information: `${column === 'payment_id' ? 'Payment' : 'Trade'} ${id}`,
    [column]: id,
  });
}

/** The statuses of a funded trade. */
const FUNDED: readonly TradeStatus[] = [
  ...(['Funds In Full', 'Funds Out Partially Allocated', 'Funds Out Full Allocated', 'Closed'] as const),
];

/** Changes a trade's status as the core would: what is held for it is booked once it is funded. @throws Problem like `setTradeStatus` */
export async function moveTradeAsCore(
  tx: Transaction,
  act: Act,
  apiUrl: string,
  { clientId, tradeId, status }: { clientId: string; tradeId: string; status: TradeStatus },
): Promise<TradeRecord> {
  const trade = await setTradeStatus(tx, act, apiUrl, { tradeId, status });
  if (FUNDED.includes(status)) await bookHold(tx, act, { clientId, column: 'trade_id', id: tradeId });
  return trade;
}
