-- What workers do for runs: the analysis of those that ended, and the end of those whose owner died.

-- Ended runs that are to be analysed, each once.
create table parley.run_analyses (
  tenant_id uuid not null default parley.current_tenant(),
  run_id uuid not null,
  -- Tries begun, and the fence of who tries.
  attempts integer not null default 0,
  next_at timestamptz not null default parley.now_ms(),
  lease_until timestamptz,
  settled_at timestamptz,
  -- Why there is none; null: it is there, or will be.
  error_code text,
  primary key (tenant_id, run_id)
) with (fillfactor = 75);
create index on parley.run_analyses (next_at) where settled_at is null;

alter table parley.run_analyses enable row level security;
alter table parley.run_analyses force row level security;
create policy one_tenant on parley.run_analyses to parley_app
  using (tenant_id = parley.current_tenant()) with check (tenant_id = parley.current_tenant());
create policy system on parley.run_analyses to parley_system using (true) with check (true);
grant select, insert, update, delete on parley.run_analyses to parley_app, parley_system;

-- A run that ended is due where its publication asks for an analysis and something was said, whoever ended it.
create function parley.analysis_is_due() returns trigger
language plpgsql set search_path = pg_catalog as $$
begin
  if exists (
    select from parley.publications p
    where p.tenant_id = new.tenant_id and p.agent_id = new.agent_id and p.version = new.version
      and jsonb_array_length(nullif(p.plan -> 'analysis', 'null') -> 'items') > 0
  ) and exists (
    select from parley.run_transcripts t
    where t.tenant_id = new.tenant_id and t.run_id = new.run_id and jsonb_array_length(t.utterances) > 0
  ) then
    insert into parley.run_analyses (tenant_id, run_id) values (new.tenant_id, new.run_id) on conflict do nothing;
  end if;
  return null;
end $$;
create trigger analysis_is_due after update of ended_at on parley.runs
  for each row when (old.ended_at is null and new.ended_at is not null)
  execute function parley.analysis_is_due();

-- Hands out analyses that are due, each to be settled within the lease. One that was tried `tries` times by workers that
-- never came back is given up.
create function parley.take_analyses(lease_ms integer, at_most integer, tries integer)
returns table (run_id uuid, tenant_id uuid, owner_id uuid, environment text, attempts integer)
language sql security definer set search_path = pg_catalog
begin atomic
  with due as (
    select a.tenant_id, a.run_id from parley.run_analyses a
    where a.settled_at is null and a.next_at <= clock_timestamp()
      and (a.lease_until is null or a.lease_until <= clock_timestamp())
    order by a.next_at limit at_most
    for no key update of a skip locked
  ), taken as (
    update parley.run_analyses a
    set attempts = a.attempts + 1,
      lease_until = case when a.attempts < tries then parley.now_ms() + lease_ms * interval '1 ms' end,
      settled_at = case when a.attempts >= tries then parley.now_ms() end,
      error_code = case when a.attempts >= tries then 'owner_lost' end
    from due where a.tenant_id = due.tenant_id and a.run_id = due.run_id
    returning a.*
  )
  select taken.run_id, taken.tenant_id, t.owner_id, t.environment, taken.attempts
  from taken join parley.tenants t using (tenant_id)
  where taken.settled_at is null;
end;

-- As reap_runs, with how long ago their owners renewed, whether somebody had asked for the end, and how long the call was
-- connected while its owner is known to have lived. Nothing where the server has not been up for `rest_ms` (owners must
-- have had the time to renew), or where the question was under way for long: then the server may have stood still as well.
create function parley.reap_rested_runs(
  by_engine text, by_worker text, lease_ms integer, at_most integer, rest_ms integer, asked_at timestamptz
)
returns table (
  run_id uuid, fence bigint, tenant_id uuid, owner_id uuid, environment text, channel text, mode text, state text,
  phone_state text, lost_engine text, lost_worker text, last_renewed_at timestamptz, last_seq integer, dial jsonb, dialog jsonb,
  kind text, renewed_ms_ago double precision, cancel_asked boolean, connected_ms bigint
)
language plpgsql security definer set search_path = pg_catalog as $$
begin
  if pg_postmaster_start_time() > clock_timestamp() - rest_ms * interval '1 ms'
    or asked_at < clock_timestamp() - interval '2 seconds'
  then
    return;
  end if;
  return query
    select r.*, o.kind, (extract(epoch from clock_timestamp() - r.last_renewed_at) * 1000)::double precision, o.cancel_asked,
      (
        select floor(extract(epoch from greatest(r.last_renewed_at - e.at, interval '0')) * 1000)::bigint
        from parley.run_events e
        where e.tenant_id = r.tenant_id and e.run_id = r.run_id and e.kind = 'state' and e.fields ->> 'phone_state' = 'active'
        order by e.seq limit 1
      )
    from parley.reap_runs(by_engine, by_worker, lease_ms, at_most) r
    join parley.run_ownership o on o.run_id = r.run_id;
end $$;

do $$
declare across text;
begin
  foreach across in array array['take_analyses', 'reap_rested_runs'] loop
    execute format('alter function parley.%I owner to parley_system', across);
    execute format('revoke all on function parley.%I from public', across);
    execute format('grant execute on function parley.%I to parley_app, parley_system', across);
  end loop;
end $$;
