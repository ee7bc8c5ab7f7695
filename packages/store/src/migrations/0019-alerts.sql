-- Alerts: rules on metrics of an environment, the places that are notified, and each notification with its evidence.

-- Where chat and paging messages go. A row stays after its destination was cleared, so that its revision is never used again.
create table parley.alert_destinations (
  tenant_id uuid not null default parley.current_tenant() references parley.tenants,
  kind text not null check (kind in ('chat', 'paging')),
  revision uuid not null default uuidv7(),
  -- The chat webhook's URL or the paging routing key, sealed; null: cleared.
  sealed bytea,
  updated_at timestamptz not null default parley.now_ms(),
  primary key (tenant_id, kind)
);

-- Metric, threshold and kind of destination are not checked here: a rule that this version does not understand stays readable,
-- and its evaluation says why it has no value.
create table parley.alert_rules (
  tenant_id uuid not null default parley.current_tenant() references parley.tenants,
  alert_id uuid not null default uuidv7(),
  revision integer not null default 1,
  metric text not null,
  -- A decimal, as it was written.
  threshold text not null,
  destination_kind text not null,
  -- Of the kind webhook: its URL, sealed, a revision that each replacement renews, and the pinned version of the signing secret.
  destination_sealed bytea,
  destination_revision uuid,
  secret_version integer,
  enabled boolean not null,
  -- Whether the rule may fire: false from when it fired until a value at or below the threshold, or an edit.
  armed boolean not null default true,
  last_fired_at timestamptz,
  evaluation_status text not null default 'pending' check (evaluation_status in ('pending', 'available', 'unavailable')),
  evaluation_reason text,
  evaluated_at timestamptz,
  window_from timestamptz,
  window_to timestamptz,
  -- A decimal.
  value text,
  evidence jsonb,
  next_evaluation_at timestamptz not null default parley.now_ms(),
  created_at timestamptz not null default parley.now_ms(),
  updated_at timestamptz not null default parley.now_ms(),
  deleted_at timestamptz,
  primary key (tenant_id, alert_id)
) with (fillfactor = 75);
create index on parley.alert_rules (tenant_id, next_evaluation_at) where enabled and deleted_at is null;

create table parley.alert_deliveries (
  tenant_id uuid not null default parley.current_tenant(),
  delivery_id uuid not null default uuidv7(),
  alert_id uuid not null,
  rule_revision integer not null,
  status text not null default 'pending' check (status in ('pending', 'sending', 'delivered', 'cancelled', 'uncertain')),
  destination_kind text not null check (destination_kind in ('chat', 'paging', 'webhook')),
  destination_revision text not null,
  value text not null,
  threshold text not null,
  window_from timestamptz not null,
  window_to timestamptz not null,
  evidence jsonb,
  created_at timestamptz not null default parley.now_ms(),
  -- Of the latest send; committed before the request leaves.
  send_intent_at timestamptz,
  finished_at timestamptz,
  error_code text,
  acknowledged_at timestamptz,
  -- A send was intended and its answer is not stored yet. Such a delivery is never sent again: when its lease ends, it is uncertain.
  in_flight boolean not null default false,
  -- Times that a worker took the delivery, and the fence of the one that has it.
  attempts integer not null default 0,
  next_at timestamptz not null default parley.now_ms(),
  lease_until timestamptz,
  primary key (tenant_id, delivery_id),
  foreign key (tenant_id, alert_id) references parley.alert_rules
) with (fillfactor = 75);
create index on parley.alert_deliveries (tenant_id, alert_id, created_at desc, delivery_id);
create index on parley.alert_deliveries (tenant_id, next_at) where finished_at is null;
-- A rule has one notification under way at most, and none while it does not know whether an earlier one arrived.
create unique index alert_deliveries_one_open on parley.alert_deliveries (tenant_id, alert_id)
  where status in ('pending', 'sending') or (status = 'uncertain' and acknowledged_at is null);

do $$
declare tenant_table text;
begin
  foreach tenant_table in array array['alert_destinations', 'alert_rules', 'alert_deliveries'] loop
    execute format('alter table parley.%I enable row level security', tenant_table);
    execute format('alter table parley.%I force row level security', tenant_table);
    execute format('create policy one_tenant on parley.%I to parley_app using (tenant_id = parley.current_tenant()) with check (tenant_id = parley.current_tenant())', tenant_table);
    execute format('create policy system on parley.%I to parley_system using (true) with check (true)', tenant_table);
    execute format('grant select, insert, update, delete on parley.%I to parley_app, parley_system', tenant_table);
  end loop;
end $$;

-- As before, and `alerts` (rules whose evaluation is due) and `alert_deliveries` (notifications to send, or whose sender died).
drop function parley.environments_due(text, uuid, integer);
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
  elsif of_work = 'alerts' then
    return query
      with recursive tenants as (
        (
          select r.tenant_id from parley.alert_rules r
          where r.enabled and r.deleted_at is null and (after_tenant is null or r.tenant_id > after_tenant)
          order by r.tenant_id limit 1
        )
        union all
        select (
          select r.tenant_id from parley.alert_rules r
          where r.enabled and r.deleted_at is null and r.tenant_id > n.tenant_id
          order by r.tenant_id limit 1
        ) from tenants n where n.tenant_id is not null
      )
      select t.tenant_id, t.owner_id, t.environment
      from tenants n join parley.tenants t on t.tenant_id = n.tenant_id
      where exists (
        select from parley.alert_rules r
        where r.tenant_id = n.tenant_id and r.enabled and r.deleted_at is null and r.next_evaluation_at <= statement_timestamp()
      )
      order by t.tenant_id limit at_most;
  elsif of_work = 'alert_deliveries' then
    return query
      with recursive tenants as (
        (
          select d.tenant_id from parley.alert_deliveries d
          where d.finished_at is null and (after_tenant is null or d.tenant_id > after_tenant)
          order by d.tenant_id limit 1
        )
        union all
        select (
          select d.tenant_id from parley.alert_deliveries d where d.finished_at is null and d.tenant_id > n.tenant_id
          order by d.tenant_id limit 1
        ) from tenants n where n.tenant_id is not null
      )
      select t.tenant_id, t.owner_id, t.environment
      from tenants n join parley.tenants t on t.tenant_id = n.tenant_id
      where exists (
        select from parley.alert_deliveries d
        where d.tenant_id = n.tenant_id and d.finished_at is null and d.next_at <= statement_timestamp()
          and (d.lease_until is null or d.lease_until <= clock_timestamp())
      )
      order by t.tenant_id limit at_most;
  end if;
end $$;

alter function parley.environments_due(text, uuid, integer) owner to parley_system;
revoke all on function parley.environments_due(text, uuid, integer) from public;
grant execute on function parley.environments_due(text, uuid, integer) to parley_app, parley_system;
