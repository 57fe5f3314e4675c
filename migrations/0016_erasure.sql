-- The erasure of persons (docs/erasure.md).

create table erasures (
  erasure_id uuid primary key,
  -- A person is erased once.
  contact_id text not null unique references contacts,
  state text not null check (state in ('running', 'done')),
  -- Names, addresses and numbers that the person had, sealed (purpose `erasure`); null once it is done.
  sealed bytea,
  started_at timestamptz not null,
  ended_at timestamptz,
  -- Rows that were replaced so far.
  rows bigint not null default 0,
  constraint erasures_sealed_check check ((state = 'done') = (sealed is null))
);
create index erasures_running on erasures (started_at) where state = 'running';

-- Replaces what rows of the audit trail say before and after, and leaves a row of its own. A replaced row verifies only where
-- `audit_erasures` names it, which nobody can make without the chain's key.
create function replace_audit_rows(p_ids bigint[], p_ats timestamptz[], p_befores text[], p_afters text[],
  p_reasons text[], p_contact_id text, p_erasure_id uuid, p_at timestamptz) returns void
  language plpgsql security definer set search_path from current as $$
begin
  perform set_config('lombard.audit', 'owner', true);
  update audit a set before = r.before::json, after = r.after::json, reason = r.reason
    from unnest(p_ids, p_ats, p_befores, p_afters, p_reasons) as r(id, at, before, after, reason) where a.at = r.at and a.id = r.id;
  perform set_config('lombard.audit', '', true);
  insert into audit (at, actor, request_id, action, entity, entity_id, after)
    values (p_at, 'service:erasure', p_erasure_id::text, 'action', 'contact', p_contact_id,
      json_build_object('action', 'erase', 'erasure_id', p_erasure_id, 'audit_rows', cardinality(p_ids)));
end $$;
