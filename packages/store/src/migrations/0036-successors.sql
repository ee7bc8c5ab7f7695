-- A call that another agent continues: the new run takes over the permit of the call, so that one call holds one permit.
alter table parley.run_ownership add column source_run_id uuid;
-- The run that has taken over this run's permit.
alter table parley.run_ownership add column successor_run_id uuid;

-- Admits a run that continues the call of the run `source`, and makes `by_engine` its owner. Channel, mode, numbers and
-- rights are those of the source. `run`: {run_id, agent_id, version, trigger, dynamic_variables, notifies}. It places no call, so
-- that the daily limit does not count it. Answers as `admit_run`; no `run_id` and no reason: `source_fence` does not own the
-- source, or another run has its permit already.
create function parley.admit_successor(
  of_tenant uuid, source uuid, source_fence bigint, run jsonb, by_engine text, by_worker text, lease_ms integer
)
returns table (run_id uuid, created_at timestamptz, fence bigint, refused text, limit_value numeric, used_value numeric)
language plpgsql set search_path = pg_catalog as $$
#variable_conflict use_column
declare
  before parley.runs;
begin
  perform from parley.run_ownership o
    where o.tenant_id = of_tenant and o.run_id = source and o.engine = by_engine and o.fence = source_fence
      and o.lease_until > clock_timestamp() and o.successor_run_id is null
    for update;
  if not found then return; end if;
  select * into strict before from parley.runs r where r.tenant_id = of_tenant and r.run_id = source;
  perform parley.lock_counters(of_tenant);
  update parley.run_counters c set live = c.live - 1 where c.tenant_id = of_tenant;
  select a.* into run_id, created_at, fence, refused, limit_value, used_value
    from parley.admit_run(
      of_tenant,
      run || jsonb_build_object(
        -- Calls of this mode are not counted as outbound ones; the mode of the source is set below.
        'mode', 'inbound',
        'channel', before.channel, 'test', before.test, 'from_number', before.from_number, 'to_number', before.to_number,
        'trunk_id', before.trunk_id, 'metadata', before.metadata, 'caller_identity', before.caller_identity,
        'key_id', before.key_id, 'can_dial', before.can_dial
      ),
      by_engine, by_worker, lease_ms, false
    ) a;
  if refused is not null then
    update parley.run_counters c set live = c.live + 1 where c.tenant_id = of_tenant;
    return next;
    return;
  end if;
  update parley.runs r set
      mode = before.mode, user_id = before.user_id, contact = before.contact, answered_by = before.answered_by
    where r.tenant_id = of_tenant and r.run_id = admit_successor.run_id;
  -- Without an owner it would be dialled: no process may claim it.
  update parley.run_ownership o set source_run_id = source, start_before = o.admitted_at
    where o.tenant_id = of_tenant and o.run_id = admit_successor.run_id;
  update parley.run_ownership o set successor_run_id = admit_successor.run_id
    where o.tenant_id = of_tenant and o.run_id = source;
  return next;
end $$;

-- `finish_run` gives one permit back with each run. A run whose permit another run has gives none back, and a run that ends before
-- its source returns the permit to it.
create function parley.return_permit() returns trigger
language plpgsql set search_path = pg_catalog as $$
begin
  update parley.run_ownership o set successor_run_id = old.successor_run_id
    where o.tenant_id = old.tenant_id and o.run_id = old.source_run_id and o.successor_run_id = old.run_id;
  if found or old.successor_run_id is not null then
    perform parley.lock_counters(old.tenant_id);
    update parley.run_counters c set live = c.live + 1 where c.tenant_id = old.tenant_id;
  end if;
  return null;
end $$;
create trigger return_permit after delete on parley.run_ownership
  for each row when (old.successor_run_id is not null or old.source_run_id is not null)
  execute function parley.return_permit();
