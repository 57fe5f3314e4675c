import assert from 'node:assert/strict';
import type { Round } from './round.ts';

const LIVE_PAYMENT = "(p.status not in ('Payment rejected', 'Payment cancelled') or p.returned)";
const LIVE_DRAWDOWN = "d.status not in ('Cancelled', 'Rejected')";

/** A quote is one trade. What is taken of a trade is counted exactly, and what clients took is never more than it has. */
export async function tradesGivenOnce({ system }: Round): Promise<void> {
  const { rows: booked } = await system.query(
    `select q.quote_id, q.trade_id, array_agg(t.trade_id) as trades from quotes q
       full join trades t on t.quote_id = q.quote_id where t.quote_id is not null or q.trade_id is not null
     group by q.quote_id, q.trade_id having count(*) <> 1 or q.quote_id is null or q.trade_id is distinct from min(t.trade_id)`,
  );
  assert.deepEqual(booked, [], 'a quote is one trade');
  const { rows: given } = await system.query(
    `select t.trade_id, t.buy_amount, t.sell_amount, p.paid, p.others, d.drawn, d.sold, c.allocated from trades t,
       lateral (select coalesce(sum(p.amount) filter (where ${LIVE_PAYMENT}), 0) as paid, coalesce(bool_or(p.source = 'institution'), false) as others
         from payments p where p.client_id = t.client_id and p.trade_id = t.trade_id) p,
       lateral (select coalesce(sum(d.buy_amount), 0) as drawn, coalesce(sum(d.sell_amount), 0) as sold
         from trades d where d.client_id = t.client_id and d.parent_trade_id = t.trade_id and ${LIVE_DRAWDOWN}) d,
       lateral (select t.allocated + coalesce(sum(a.amount), 0) as allocated
         from trade_allocation_deltas a where a.client_id = t.client_id and a.trade_id = t.trade_id) c
     where c.allocated <> p.paid + d.drawn or d.drawn > t.buy_amount or d.sold > t.sell_amount
       or t.source = 'client' and not p.others and p.paid + d.drawn > t.buy_amount`,
  );
  assert.deepEqual(given, [], 'a trade gave what it did not have');
  const { rows: wrong } = await system.query(
    `select t.trade_id, t.status, t.sell_amount, count(h.*)::int as holds, min(h.closed_by) as closed_by
     from trades t left join holds h on h.trade_id = t.trade_id and h.amount = t.sell_amount
     where t.funding_account_id is not null and not t.single group by t.trade_id, t.status, t.sell_amount
     having count(h.*) <> 1 or case when t.status in ('Cancelled', 'Rejected') then bool_or(h.closed_at is null)
       else bool_or(h.closed_at is not null and not exists (select from transactions x where x.transaction_id = h.closed_by)) end`,
  );
  assert.deepEqual(wrong, [], 'a trade is held for in vain, or has lost its hold');
}
