-- Settles updates that no engine answered in time; answers of which runs, so that who waits for them can be told.
drop function parley.expire_updates(integer);
create function parley.expire_updates(at_most integer)
returns table (run_id uuid, revision integer)
language sql security definer set search_path = pg_catalog
begin atomic
  with late as (
    select u.tenant_id, u.run_id, u.revision from parley.run_updates u
    where u.completed_at is null and u.deadline <= clock_timestamp()
    limit at_most for update skip locked
  )
  update parley.run_updates u set status = 'indeterminate', reason = 'deadline', completed_at = parley.now_ms()
  from late where u.tenant_id = late.tenant_id and u.run_id = late.run_id and u.revision = late.revision
  returning u.run_id, u.revision;
end;
alter function parley.expire_updates owner to parley_system;
revoke all on function parley.expire_updates from public;
grant execute on function parley.expire_updates to parley_app, parley_system;
