-- A migration as a later release may have it: every kind of step, on a table with rows. Tests and `npm run bench -- upgrade` apply it.
-- Oldest program: 1
alter table payments add column rehearsal text;
create table rehearsals (id bigint generated always as identity primary key, name text not null);

-- Step: batches
update payments set rehearsal = 'core'
where id in (select id from payments where created >= '2026-02-01' and rehearsal is null limit 1000);

-- Step: concurrently
create index concurrently payments_rehearsal on payments (client_id, rehearsal, created, id);

-- Step: transaction
alter table payments add constraint payments_rehearsal_check check (rehearsal <> '') not valid;

-- Step: transaction
alter table payments validate constraint payments_rehearsal_check;
