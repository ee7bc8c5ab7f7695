-- A client or a browser addresses a conversation by the id of its first run, also when another agent continues it in a run of its own.
alter table parley.run_ownership add column first_run_id uuid;
create index on parley.run_ownership (first_run_id) where first_run_id is not null;
-- A message belongs to the run that answers it, and is found by its id when the request is repeated.
create index on parley.run_messages (tenant_id, message_id);

-- As before, for runs of every channel. Messages that wait for the source wait for the new run.
create or replace function parley.admit_successor(
  of_tenant uuid, source uuid, source_fence bigint, run jsonb, by_engine text, by_worker text, lease_ms integer
)
returns table (run_id uuid, created_at timestamptz, fence bigint, refused text, limit_value numeric, used_value numeric)
language plpgsql set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  held parley.run_ownership;
  before parley.runs;
begin
  select * into held from parley.run_ownership o
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
        -- Outbound calls are counted; the mode of the source is set below.
        'mode', case when before.channel = 'phone' then 'inbound' else before.mode end,
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
  -- Without an owner it would be dialled, or begun anew: no process may claim it.
  update parley.run_ownership o set
      source_run_id = source, first_run_id = coalesce(held.first_run_id, source), start_before = o.admitted_at
    where o.tenant_id = of_tenant and o.run_id = admit_successor.run_id;
  update parley.run_ownership o set successor_run_id = admit_successor.run_id
    where o.tenant_id = of_tenant and o.run_id = source;
  if before.mode = 'chat' then
    update parley.run_messages m set run_id = admit_successor.run_id
      where m.tenant_id = of_tenant and m.run_id = source and m.state = 'waiting';
  end if;
  return next;
end $$;

-- As before. A run that ends before its source returns also the messages that wait for it.
create or replace function parley.return_permit() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  is_returned boolean;
begin
  update parley.run_ownership o set successor_run_id = old.successor_run_id
    where o.tenant_id = old.tenant_id and o.run_id = old.source_run_id and o.successor_run_id = old.run_id;
  is_returned := found;
  if is_returned and old.kind = 'chat' then
    update parley.run_messages m set run_id = old.source_run_id
      where m.tenant_id = old.tenant_id and m.run_id = old.run_id and m.state = 'waiting';
  end if;
  if is_returned or old.successor_run_id is not null then
    perform parley.lock_counters(old.tenant_id);
    update parley.run_counters c set live = c.live + 1 where c.tenant_id = old.tenant_id;
  end if;
  return null;
end $$;

-- Triggers of one event run in the order of their names: waiting messages are returned before the others are refused.
alter trigger refuse_messages on parley.run_ownership rename to settle_messages;

-- As before; the signalling of a web call stays while a run that continues the call is live.
create or replace function parley.forget_signalling() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  delete from parley.call_listeners l where l.tenant_id = old.tenant_id and l.run_id = old.run_id;
  if old.kind = 'web' then
    update parley.web_calls w set offer = null, answer = null, candidates = '{}'
      where w.tenant_id = old.tenant_id and w.run_id = coalesce(old.first_run_id, old.run_id)
        and not exists (select from parley.run_ownership live where live.run_id = w.run_id or live.first_run_id = w.run_id);
    delete from parley.web_calls w using (
      select o.tenant_id, o.run_id from parley.web_calls o
      where o.tenant_id = old.tenant_id
      order by o.run_id limit 20 for update skip locked
    ) oldest
    where w.tenant_id = oldest.tenant_id and w.run_id = oldest.run_id and w.created_at < now() - interval '25 hours'
      and not exists (select from parley.run_ownership live where live.run_id = w.run_id or live.first_run_id = w.run_id);
  end if;
  return null;
end $$;
