-- What a client's first page says about the days ahead and about what went wrong, whatever the number of its payments (docs/pages.md).
-- Oldest program: 20

-- What leaves, of the payments that nobody has to approve any more. Those that wait for approvals are kept as totals (0005).
-- payments_steered has the status in its condition already. So a new status enters every index of a payment with or without this one.
-- Step: concurrently
create index concurrently payments_leaving on payments (client_id, payment_date, payment_currency) include (amount)
  where phase = 2 and status <> 'Executing Payment';

-- Payments that cannot go on at present.
-- Step: concurrently
create index concurrently payments_stuck on payments (client_id, created)
  where phase = 2 and (return_started or status = 'Need more beneficiary information');

-- Payments that ended although no person of the client decided so.
-- Step: concurrently
create index concurrently payments_failed on payments (client_id, cancelled_date, created)
  where phase = 5 and (invalidated or returned);
