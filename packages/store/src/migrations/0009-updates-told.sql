-- What became of an update is an item of its run's timeline, whoever settled it.

-- Gives each settled update that the timeline does not have its item there, in order; answers the timeline's last number.
-- The numbers of a run are its owner's to give: call it with the row of `run_ownership` locked, where nobody owns the run or
-- its owner ends it in this transaction.
create function parley.tell_updates(of_tenant uuid, of_run uuid) returns integer
language plpgsql set search_path = pg_catalog as $$
declare
  told integer;
  last integer;
begin
  insert into parley.run_events (tenant_id, run_id, seq, at, kind, fields)
    select o.tenant_id, o.run_id, o.last_seq + row_number() over (order by u.revision), parley.now_ms(), 'update',
      jsonb_build_object('update_id', u.update_id, 'status', u.status)
    from parley.run_ownership o join parley.run_updates u using (tenant_id, run_id)
    where o.tenant_id = of_tenant and o.run_id = of_run and u.completed_at is not null and not exists (
      select from parley.run_events e
      where e.tenant_id = of_tenant and e.run_id = of_run and e.kind = 'update'
        and e.fields ->> 'update_id' = u.update_id::text and e.fields ->> 'status' = u.status
    );
  get diagnostics told = row_count;
  update parley.run_ownership o set last_seq = o.last_seq + told
    where o.tenant_id = of_tenant and o.run_id = of_run
    returning o.last_seq into strict last;
  return last;
end $$;

-- Makes the run terminal and gives its permit back: the only place that does. `by_fence` is the owner's; null: as long as
-- nobody owns it. `ending`: {state, phone_state?, outcome, disposition, connected_ms?, contact?, successful?, latency?,
-- quality?, engine_lost?, measurements?}. Answers `finished`; `lost` or `not_allowed`, and nothing happened.
create or replace function parley.finish_run(of_tenant uuid, of_run uuid, by_fence bigint, ending jsonb) returns text
language plpgsql set search_path = pg_catalog as $$
declare
  permit parley.run_ownership;
  run parley.runs;
  asked parley.runs := jsonb_populate_record(null::parley.runs, ending);
  at timestamptz;
  is_lost boolean := coalesce((ending ->> 'engine_lost')::boolean, false);
begin
  select * into permit from parley.run_ownership o
    where o.tenant_id = of_tenant and o.run_id = of_run
      and case when by_fence is null then o.engine is null
        else o.engine is not null and o.fence = by_fence and o.lease_until > clock_timestamp() end
    for update;
  if not found then return 'lost'; end if;
  select * into strict run from parley.runs r where r.tenant_id = of_tenant and r.run_id = of_run for no key update;
  if asked.state not in ('completed', 'failed', 'cancelled', 'rejected', 'expired')
    or not parley.run_may_move('state', run.state, asked.state)
    or not parley.run_may_move('phone_state', run.phone_state, coalesce(asked.phone_state, run.phone_state))
  then
    return 'not_allowed';
  end if;
  at := parley.now_ms();
  if permit.last_update > 0 then
    update parley.run_updates u set
        status = case when is_lost then 'indeterminate' else 'rejected' end,
        reason = case when is_lost then 'engine_lost' else 'run_ended' end, completed_at = at
      where u.tenant_id = of_tenant and u.run_id = of_run and u.completed_at is null;
    permit.last_seq := parley.tell_updates(of_tenant, of_run);
  end if;
  delete from parley.run_ownership o where o.run_id = of_run;
  update parley.runs r set
      state = asked.state, phone_state = coalesce(asked.phone_state, r.phone_state), outcome = asked.outcome,
      disposition = asked.disposition, ended_at = at, connected_ms = coalesce(asked.connected_ms, r.connected_ms),
      contact = coalesce(asked.contact, r.contact, case when r.channel = 'phone' then 'unknown' end),
      successful = coalesce(asked.successful, r.successful), latency = coalesce(asked.latency, r.latency),
      quality = coalesce(asked.quality, r.quality)
    where r.tenant_id = of_tenant and r.run_id = of_run
    returning * into run;
  insert into parley.run_events (tenant_id, run_id, seq, at, kind, fields) values (
    of_tenant, of_run, permit.last_seq + 1, at, 'state',
    jsonb_build_object('state', run.state, 'phone_state', run.phone_state)
  );
  update parley.run_effects e set
      state = case e.state when 'sending' then 'uncertain' else 'failed' end,
      error_code = case e.state when 'sending' then 'no_answer' else 'run_ended' end, settled_at = at
    where e.tenant_id = of_tenant and e.run_id = of_run and e.state in ('intended', 'sending');
  if run.notifies then
    insert into parley.outbox (tenant_id, run_id, event) values (of_tenant, of_run, 'run.ended');
  end if;
  perform parley.record_usage(of_tenant, of_run, coalesce(ending -> 'measurements', '[]') ||
    case when run.connected_ms is null then '[]'
      else jsonb_build_array(jsonb_build_object('meter', 'connected_ms', 'quantity', run.connected_ms)) end);
  perform parley.lock_counters(of_tenant);
  update parley.run_counters c set
      live = c.live - 1,
      unresolved = c.unresolved - case when run.test or run.rate_card_id is null then 0 else 1 end,
      reserved_usd = c.reserved_usd - run.reserve_usd
    where c.tenant_id = of_tenant;
  if run.call_minute is not null and run.invite_sent_at is null then
    update parley.call_minutes m set calls = m.calls - 1
      where m.tenant_id = of_tenant and m.minute = run.call_minute and m.calls > 0;
  end if;
  return 'finished';
end $$;

drop function parley.expire_updates(integer);
-- Settles updates that no engine answered in time; answers of which runs, so that who waits for them, or owns them, can be
-- told. Where nobody owns the run the timeline has it at once; else from the owner, or with the run's end.
create function parley.expire_updates(at_most integer)
returns table (run_id uuid, revision integer)
language plpgsql security definer set search_path = pg_catalog as $$
#variable_conflict use_column
declare late record;
begin
  for late in
    with overdue as (
      select u.tenant_id, u.run_id, u.revision from parley.run_updates u
      where u.completed_at is null and u.deadline <= clock_timestamp()
      limit at_most for update skip locked
    )
    update parley.run_updates u set status = 'indeterminate', reason = 'deadline', completed_at = parley.now_ms()
    from overdue where u.tenant_id = overdue.tenant_id and u.run_id = overdue.run_id and u.revision = overdue.revision
    returning u.tenant_id, u.run_id, u.revision
  loop
    -- Nobody is waited for: who has that row may wait for the update's.
    perform from parley.run_ownership o
      where o.tenant_id = late.tenant_id and o.run_id = late.run_id and o.engine is null
      for no key update skip locked;
    if found then perform parley.tell_updates(late.tenant_id, late.run_id); end if;
    run_id := late.run_id;
    revision := late.revision;
    return next;
  end loop;
end $$;
alter function parley.expire_updates owner to parley_system;
revoke all on function parley.expire_updates from public;
grant execute on function parley.expire_updates to parley_app, parley_system;
