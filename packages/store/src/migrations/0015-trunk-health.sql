-- What each engine's OPTIONS requests to a trunk got, as it last saw it. An engine that is gone leaves its row for an hour.
create table parley.trunk_pings (
  tenant_id uuid not null default parley.current_tenant(),
  trunk_id text collate "C" not null,
  engine_id text not null,
  -- Whether all of the trunk's servers answered, some, or none.
  state text not null check (state in ('reachable', 'partly_reachable', 'unreachable')),
  -- For each server its address, and the status of its answer or why there was none.
  targets jsonb not null,
  checked_at timestamptz not null,
  last_success_at timestamptz,
  last_failure_at timestamptz,
  primary key (tenant_id, trunk_id, engine_id),
  foreign key (tenant_id, trunk_id) references parley.trunks on delete cascade
) with (fillfactor = 50);

alter table parley.trunk_pings enable row level security;
alter table parley.trunk_pings force row level security;
create policy one_tenant on parley.trunk_pings to parley_app using (tenant_id = parley.current_tenant()) with check (tenant_id = parley.current_tenant());
create policy system on parley.trunk_pings to parley_system using (true) with check (true);
grant select, insert, update, delete on parley.trunk_pings to parley_app, parley_system;

-- Trunks that staff set to be pinged whether or not they are in use, at most 1,000.
create function parley.pinged_trunks()
returns table (tenant_id uuid, owner_id uuid, environment text, trunk_id text, termination_uri text, details jsonb)
language sql stable security definer set search_path = pg_catalog
begin atomic
  select k.tenant_id, t.owner_id, t.environment, k.trunk_id, k.termination_uri, k.details
  from parley.trunks k join parley.tenants t using (tenant_id)
  where k.details ? 'ping' and k.details -> 'ping' <> '0'::jsonb
  order by k.tenant_id, k.trunk_id limit 1000;
end;
alter function parley.pinged_trunks() owner to parley_system;
revoke all on function parley.pinged_trunks() from public;
grant execute on function parley.pinged_trunks() to parley_app, parley_system;

-- The calls of a trunk in a time.
create index on parley.runs (tenant_id, trunk_id, created_at) where trunk_id is not null;
