-- Ends a run and releases its permit; nothing else does. `by_fence`: the owner's fencing token; null: only while the run has
-- no owner. `ending`: {state, phone_state?, outcome, disposition, connected_ms?, contact?, successful?, latency?, quality?,
-- engine_lost?, measurements?}. Returns `finished`; `lost` or `not_allowed` without any change.
-- Unsettled effects are settled with the run, except those of a webhook that its sender has not settled: a webhook is sent
-- independently of its run, and its sender settles the effect with the receiver's answer.
-- A run whose cancellation was requested before its end becomes `cancelled`, whatever its owner reports.
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
  if permit.cancel_asked and asked.state <> 'cancelled' then
    asked.state := 'cancelled';
    asked.phone_state := case when run.channel = 'phone' and parley.run_may_move('phone_state', run.phone_state, 'ended')
      then 'ended' else asked.phone_state end;
    asked.outcome := jsonb_build_object(
      'kind', 'cancelled', 'detail', null, 'sip_status', ending #> '{outcome,sip_status}', 'ended_by', 'operator'
    );
    asked.disposition := 'cancelled';
  end if;
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
    where e.tenant_id = of_tenant and e.run_id = of_run and e.state in ('intended', 'sending') and not exists (
      select from parley.outbox b
      where b.tenant_id = of_tenant and b.run_id = of_run and b.settled_at is null
        and e.effect_key = 'webhook/' || b.event_id || '/' || b.attempts
    );
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
