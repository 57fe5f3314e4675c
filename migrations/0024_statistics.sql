-- Tables that begin to grow get statistics before autovacuum looks at them (docs/decisions/0007-statements-are-planned-once.md).
-- Oldest program: 20

-- Makes statistics of the tables that have at least doubled since the last ones. Fewer rows than `min_rows` say no more than PostgreSQL's
-- defaults. Tables of `max_rows` are left to autovacuum, and so are those with settings of their own. Only the owner may make statistics.
create function analyze_grown_tables() returns void language plpgsql security definer set search_path from current as $$
declare
  min_rows constant int := 50;
  max_rows constant int := 10000;
  grown text;
begin
  for grown in
    select c.oid::regclass::text from pg_class c
    where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and c.reltuples < max_rows and c.reloptions is null
      and pg_stat_get_mod_since_analyze(c.oid) >= min_rows + greatest(c.reltuples, 0)
  loop
    execute 'analyze (skip_locked) ' || grown;
  end loop;
end $$;
