-- Environments in which webhooks or analyses are due: a job of the queue carries out what is due in one of them. This
-- look finds those whose job was lost. It steps in the index from a tenant to the next, after `after_tenant`, and of each
-- reads until the first row that is due and in nobody's hands.
create function parley.environments_due(of_work text, after_tenant uuid, at_most integer)
returns table (tenant_id uuid, owner_id uuid, environment text)
language plpgsql security definer set search_path = pg_catalog as $$
#variable_conflict use_column
begin
  if of_work = 'webhooks' then
    return query
      with recursive tenants as (
        (
          select b.tenant_id from parley.outbox b
          where b.delivered is null and (after_tenant is null or b.tenant_id > after_tenant)
          order by b.tenant_id limit 1
        )
        union all
        select (
          select b.tenant_id from parley.outbox b where b.delivered is null and b.tenant_id > n.tenant_id
          order by b.tenant_id limit 1
        ) from tenants n where n.tenant_id is not null
      )
      select t.tenant_id, t.owner_id, t.environment
      from tenants n join parley.tenants t on t.tenant_id = n.tenant_id
      where exists (
        select from parley.outbox b
        where b.tenant_id = n.tenant_id and b.delivered is null and b.next_at <= statement_timestamp()
          and (b.lease_until is null or b.lease_until <= clock_timestamp())
      )
      order by t.tenant_id limit at_most;
  elsif of_work = 'analyses' then
    return query
      with recursive tenants as (
        (
          select a.tenant_id from parley.run_analyses a
          where a.settled_at is null and (after_tenant is null or a.tenant_id > after_tenant)
          order by a.tenant_id limit 1
        )
        union all
        select (
          select a.tenant_id from parley.run_analyses a where a.settled_at is null and a.tenant_id > n.tenant_id
          order by a.tenant_id limit 1
        ) from tenants n where n.tenant_id is not null
      )
      select t.tenant_id, t.owner_id, t.environment
      from tenants n join parley.tenants t on t.tenant_id = n.tenant_id
      where exists (
        select from parley.run_analyses a
        where a.tenant_id = n.tenant_id and a.settled_at is null and a.next_at <= statement_timestamp()
          and (a.lease_until is null or a.lease_until <= clock_timestamp())
      )
      order by t.tenant_id limit at_most;
  end if;
end $$;

alter function parley.environments_due(text, uuid, integer) owner to parley_system;
revoke all on function parley.environments_due(text, uuid, integer) from public;
grant execute on function parley.environments_due(text, uuid, integer) to parley_app, parley_system;
