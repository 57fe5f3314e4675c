-- Processes that serve requests, so that each knows how many share the rate limits. A process says every other second that it lives.
create table processes (
  id uuid primary key,
  seen_at timestamptz not null
) with (fillfactor = 50);

-- What all processes together have counted under a rate limit in its present minute. Losing it in a crash loses nothing that matters.
create unlogged table rate_counts (
  -- SHA-256 of the limit's name and of whoever is counted.
  key bytea primary key,
  used int not null,
  ends_at timestamptz not null
) with (fillfactor = 50);
