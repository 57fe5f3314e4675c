-- The trade of a payment that was ordered from an account is taken by that payment from the beginning. Rolling it up cost an update of each.
-- Oldest program: 20

create function trades_allocate_single() returns trigger language plpgsql as $$
begin
  if current_setting('lombard.totals_move', true) = 'on' then return new; end if;
  new.allocated := new.buy_amount;
  return new;
end $$;
create trigger trades_allocate_single before insert on trades for each row when (new.single) execute function trades_allocate_single();

create or replace function payments_allocate_inserted() returns trigger language plpgsql as $$
begin
  if current_setting('lombard.totals_move', true) = 'on' then return null; end if;
  insert into trade_allocation_deltas
    select client_id, trade_id, sum(amount) from added where phase not in (4, 5) and not own_trade group by client_id, trade_id;
  return null;
end $$;
