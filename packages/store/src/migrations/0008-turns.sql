-- Tenants take turns where work of all of them waits: webhooks, analyses, runs.

-- `next_at` is of the run's first unsettled webhook; those behind it are not due before it, so that nobody who looks for
-- work passes them. `delivered` is null as long as `settled_at` is; who asks for the webhooks of one run asks for that, so
-- that no plan reads all that a tenant has waiting.
drop index parley.outbox_next_at_idx;
create index on parley.outbox (tenant_id, next_at) where delivered is null;
-- Of all tenants, whoever owns the tables.
alter table parley.outbox no force row level security;
update parley.outbox b
set next_at = line.next_at
from (
  select o.tenant_id, o.run_id, o.outbox_id,
    max(o.next_at) over (partition by o.tenant_id, o.run_id order by o.outbox_id) as next_at
  from parley.outbox o where o.settled_at is null
) line
where b.tenant_id = line.tenant_id and b.run_id = line.run_id and b.outbox_id = line.outbox_id and b.next_at < line.next_at;
alter table parley.outbox force row level security;

-- A webhook joins its run's line: due as the one before it, or later. Nothing is locked: one that saw too little is due
-- early, and `take_outbox` holds it back.
create function parley.webhook_waits_in_line() returns trigger
language plpgsql set search_path = pg_catalog as $$
begin
  new.next_at := greatest(new.next_at, (
    select ahead.next_at from parley.outbox ahead
    where ahead.tenant_id = new.tenant_id and ahead.run_id = new.run_id and ahead.settled_at is null
    order by ahead.outbox_id desc limit 1
  ));
  return new;
end $$;
create trigger webhook_waits_in_line before insert on parley.outbox
  for each row execute function parley.webhook_waits_in_line();

drop function parley.waiting_runs(text, integer);
-- Runs that wait for an owner. Tenants take turns: those with the fewest under way first (`under_way` names the tenant of
-- each), then the oldest.
create function parley.waiting_runs(of_kind text, at_most integer, under_way uuid[])
returns table (run_id uuid, tenant_id uuid, owner_id uuid, environment text, admitted_at timestamptz)
language sql stable security definer set search_path = pg_catalog
begin atomic
  select w.run_id, w.tenant_id, t.owner_id, t.environment, w.admitted_at
  from (
    select o.run_id, o.tenant_id, o.admitted_at,
      row_number() over (partition by o.tenant_id order by o.admitted_at, o.run_id) as nth
    from parley.run_ownership o
    where o.kind = of_kind and o.engine is null and o.start_before > clock_timestamp()
  ) w
  join parley.tenants t using (tenant_id)
  left join (
    select u.tenant_id, count(*) as runs from unnest(under_way) as u (tenant_id) group by u.tenant_id
  ) busy using (tenant_id)
  order by w.nth + coalesce(busy.runs, 0), w.admitted_at, w.run_id limit at_most;
end;

drop function parley.take_outbox(integer, integer);
-- Hands out webhooks that are due, to be settled within the lease; of a run only its first unsettled one. Tenants take
-- turns: those with the fewest under way first (`under_way` names the tenant of each), of equals the first after `after`;
-- none gets to more than `each_at_most`. Of each tenant it reads a few rows, however many wait.
create function parley.take_outbox(lease_ms integer, at_most integer, each_at_most integer, under_way uuid[], after uuid)
returns table (
  outbox_id bigint, run_id uuid, tenant_id uuid, owner_id uuid, environment text, event_id uuid, event text, payload jsonb,
  occurred_at timestamptz, attempts integer
)
language plpgsql security definer set search_path = pg_catalog as $$
#variable_conflict use_column
declare due record;
begin
  for due in
    with recursive tenants as (
      -- Steps in the index from a tenant to the next; the last is null.
      (select b.tenant_id from parley.outbox b where b.delivered is null order by b.tenant_id limit 1)
      union all
      select (
        select b.tenant_id from parley.outbox b where b.delivered is null and b.tenant_id > t.tenant_id
        order by b.tenant_id limit 1
      ) from tenants t where t.tenant_id is not null
    ), sharing as (
      select t.tenant_id, coalesce(cardinality(array_positions(under_way, t.tenant_id)), 0) as busy
      from tenants t where t.tenant_id is not null
    )
    select first.*, s.busy + row_number() over (partition by s.tenant_id order by first.next_at) as turn
    from sharing s cross join lateral (
      select b.tenant_id, b.run_id, b.outbox_id, b.attempts, b.next_at from parley.outbox b
      where b.tenant_id = s.tenant_id and b.delivered is null
        -- An index is not searched by a clock that moves meanwhile.
        and b.next_at <= statement_timestamp()
        and (b.lease_until is null or b.lease_until <= clock_timestamp())
        and not exists (
          select from parley.outbox earlier
          where earlier.tenant_id = b.tenant_id and earlier.run_id = b.run_id and earlier.outbox_id < b.outbox_id
            and earlier.settled_at is null
        )
      order by b.next_at limit least(at_most, greatest(each_at_most - s.busy, 0))
    ) first
    order by turn, s.tenant_id <= after, s.tenant_id limit at_most
  loop
    perform from parley.outbox b
      where b.tenant_id = due.tenant_id and b.run_id = due.run_id and b.outbox_id = due.outbox_id
        and b.attempts = due.attempts
      for no key update skip locked;
    -- Another took it.
    continue when not found;
    return query
      with taken as (
        update parley.outbox b
        set attempts = b.attempts + 1, lease_until = parley.now_ms() + lease_ms * interval '1 ms'
        where b.tenant_id = due.tenant_id and b.run_id = due.run_id and b.outbox_id = due.outbox_id
        returning b.*
      )
      select taken.outbox_id, taken.run_id, taken.tenant_id, t.owner_id, t.environment, taken.event_id, taken.event,
        taken.payload, taken.occurred_at, taken.attempts
      from taken join parley.tenants t using (tenant_id);
  end loop;
end $$;

drop index parley.run_analyses_next_at_idx;
create index on parley.run_analyses (tenant_id, next_at) where settled_at is null;

drop function parley.take_analyses(integer, integer, integer);
-- Hands out analyses that are due, each to be settled within the lease; tenants share them as they do in `take_outbox`. One
-- that was tried `tries` times by workers that never came back is given up.
create function parley.take_analyses(
  lease_ms integer, at_most integer, tries integer, each_at_most integer, under_way uuid[], after uuid
)
returns table (run_id uuid, tenant_id uuid, owner_id uuid, environment text, attempts integer)
language plpgsql security definer set search_path = pg_catalog as $$
#variable_conflict use_column
declare due record;
begin
  for due in
    with recursive tenants as (
      (select a.tenant_id from parley.run_analyses a where a.settled_at is null order by a.tenant_id limit 1)
      union all
      select (
        select a.tenant_id from parley.run_analyses a where a.settled_at is null and a.tenant_id > t.tenant_id
        order by a.tenant_id limit 1
      ) from tenants t where t.tenant_id is not null
    ), sharing as (
      select t.tenant_id, coalesce(cardinality(array_positions(under_way, t.tenant_id)), 0) as busy
      from tenants t where t.tenant_id is not null
    )
    select first.*, s.busy + row_number() over (partition by s.tenant_id order by first.next_at) as turn
    from sharing s cross join lateral (
      select a.tenant_id, a.run_id, a.attempts, a.next_at from parley.run_analyses a
      where a.tenant_id = s.tenant_id and a.settled_at is null and a.next_at <= statement_timestamp()
        and (a.lease_until is null or a.lease_until <= clock_timestamp())
      order by a.next_at limit least(at_most, greatest(each_at_most - s.busy, 0))
    ) first
    order by turn, s.tenant_id <= after, s.tenant_id limit at_most
  loop
    perform from parley.run_analyses a
      where a.tenant_id = due.tenant_id and a.run_id = due.run_id and a.attempts = due.attempts
      for no key update skip locked;
    continue when not found;
    return query
      with taken as (
        update parley.run_analyses a
        set attempts = a.attempts + 1,
          lease_until = case when a.attempts < tries then parley.now_ms() + lease_ms * interval '1 ms' end,
          settled_at = case when a.attempts >= tries then parley.now_ms() end,
          error_code = case when a.attempts >= tries then 'owner_lost' end
        where a.tenant_id = due.tenant_id and a.run_id = due.run_id
        returning a.*
      )
      select taken.run_id, taken.tenant_id, t.owner_id, t.environment, taken.attempts
      from taken join parley.tenants t using (tenant_id)
      where taken.settled_at is null;
  end loop;
end $$;

do $$
declare across text;
begin
  foreach across in array array['waiting_runs', 'take_outbox', 'take_analyses'] loop
    execute format('alter function parley.%I owner to parley_system', across);
    execute format('revoke all on function parley.%I from public', across);
    execute format('grant execute on function parley.%I to parley_app, parley_system', across);
  end loop;
end $$;
