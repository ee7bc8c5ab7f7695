-- Trunks over which people were called in the last day, at most 1,000.
create function parley.dialling_trunks()
returns table (tenant_id uuid, owner_id uuid, environment text, trunk_id text, termination_uri text, details jsonb)
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select k.tenant_id, t.owner_id, t.environment, k.trunk_id, k.termination_uri, k.details
  from parley.trunks k join parley.tenants t using (tenant_id)
  where exists (
    select from parley.runs r
    where r.tenant_id = k.tenant_id and r.trunk_id = k.trunk_id and r.created_at > now() - interval '1 day' and r.mode = 'outbound'
  )
  order by k.tenant_id, k.trunk_id limit 1000;
end;
alter function parley.dialling_trunks owner to parley_system;
set local role parley_system;
revoke all on function parley.dialling_trunks from public;
grant execute on function parley.dialling_trunks to parley_engine;
reset role;
