import assert from 'node:assert/strict';
import type { Round } from './round.ts';

/**
 * An account never gave more than it had been credited, however often an order was sent: not with what its open holds keep, and what was
 * debited for the others. A payment that may still leave has its hold, and one that has ended has none.
 */
export async function moneyIsHeld({ system, known }: Round): Promise<void> {
  const accounts = known.lasting.map(({ orders }) => orders.accountId);
  const { rows: overdrawn } = await system.query(
    `select a.account_id, a.held, h.open, h.debited, t.credited from currency_accounts a,
       lateral (select coalesce(sum(amount) filter (where closed_at is null), 0) as open,
          coalesce(sum(amount) filter (where closed_by in (select transaction_id from transactions t
            where t.payment_id = holds.payment_id or t.trade_id = holds.trade_id)), 0)
            as debited from holds where currency_account_id = a.account_id) h,
       lateral (select coalesce(sum(amount), 0) as credited from transactions t where t.currency_account_id = a.account_id and amount > 0) t
     where a.account_id = any ($1) and (a.held <> h.open or h.open + h.debited > t.credited)`,
    [accounts],
  );
  assert.deepEqual(overdrawn, [], 'an account gave what it did not have');
  const { rows: wrong } = await system.query(
    `select p.payment_id, p.status, p.amount, count(h.*)::int as holds, count(h.*) filter (where h.closed_at is null)::int as open
     from payments p left join holds h on h.payment_id = p.payment_id and h.amount = p.amount
     where p.funding_account_id = any ($1) and p.own_trade group by p.payment_id, p.status, p.amount
     having count(h.*) <> 1 or case
       when p.status in ('Payment rejected', 'Payment cancelled') then bool_or(h.closed_at is null)
       when p.status in ('Executing Payment', 'Payment complete') then false
       else bool_or(h.closed_at is not null) end`,
    [accounts],
  );
  assert.deepEqual(wrong, [], 'a payment is held in vain, or leaves without its hold');
}
