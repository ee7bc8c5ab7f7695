-- As before, and `run` may hold `created_at` (default: now) and `user_id`, so that the answer can be made before the run is admitted.
create or replace function parley.admit_run(
  of_tenant uuid, run jsonb, by_engine text, by_worker text, lease_ms integer, keep_refused boolean
)
returns table (run_id uuid, created_at timestamptz, fence bigint, refused text, limit_value numeric, used_value numeric)
language plpgsql set search_path = pg_catalog as $$
#variable_conflict use_column
declare
  asked parley.runs := jsonb_populate_record(null::parley.runs, run);
  counters parley.run_counters := parley.lock_counters(of_tenant);
  at timestamptz := coalesce(asked.created_at, parley.now_ms());
  environment record;
  card parley.rate_cards;
  reserve numeric := 0;
  calls record;
  is_outbound boolean := asked.channel = 'phone' and asked.mode = 'outbound';
  first_state text;
begin
  fence := 0;
  select t.admission_enabled, t.concurrent_capacity, b.cap_usd, coalesce(s.spent_usd, 0) + counters.reserved_usd as used_usd
    into environment
    from parley.tenants t
    left join parley.budgets b on b.tenant_id = t.tenant_id
    left join parley.spend_months s on s.tenant_id = t.tenant_id and s.month = date_trunc('month', at, 'UTC')::date
    where t.tenant_id = of_tenant;
  select * into card from parley.rate_cards c
    where c.tenant_id = of_tenant and c.effective_at <= at
    order by c.effective_at desc, c.installed_at desc, c.rate_card_id limit 1;
  if not asked.test then reserve := coalesce((card.reserve_usd ->> asked.channel)::numeric, 0); end if;

  if environment.admission_enabled is not true then
    refused := 'admission_disabled';
  elsif environment.concurrent_capacity is null then
    refused := 'tenant_not_configured';
  elsif not asked.test and environment.used_usd + reserve > environment.cap_usd then
    refused := 'spend_cap';
    limit_value := environment.cap_usd;
    used_value := environment.used_usd;
  else
    if is_outbound then
      select * into calls from parley.count_call(of_tenant, date_trunc('minute', at));
      if calls.daily_limit is not null then
        refused := 'daily_call_limit';
        limit_value := calls.daily_limit;
        used_value := calls.used;
      end if;
    end if;
    if refused is null and counters.live >= environment.concurrent_capacity then
      refused := 'concurrent_capacity';
      limit_value := environment.concurrent_capacity;
      used_value := counters.live;
      if is_outbound then
        update parley.call_minutes m set calls = m.calls - 1
          where m.tenant_id = of_tenant and m.minute = date_trunc('minute', at);
      end if;
    end if;
  end if;
  if refused is not null and not keep_refused then
    return next;
    return;
  end if;

  run_id := coalesce(asked.run_id, uuidv7());
  created_at := at;
  first_state := case when refused is null then 'admitted' else 'rejected' end;
  insert into parley.runs (
    tenant_id, run_id, agent_id, version, channel, mode, state, phone_state, disposition, trigger, test, created_at, ended_at,
    from_number, to_number, trunk_id, contact, dynamic_variables, metadata, caller_identity, key_id, user_id, can_dial, notifies,
    call_minute, rate_card_id, reserve_usd, cost_usd
  ) values (
    of_tenant, run_id, asked.agent_id, asked.version, asked.channel, asked.mode, first_state,
    case when asked.channel = 'phone' then first_state end,
    refused, asked.trigger, asked.test, at, case when refused is not null then at end,
    asked.from_number, asked.to_number, asked.trunk_id,
    case when asked.channel <> 'phone' then 'not_applicable' when refused is not null then 'unknown' end,
    asked.dynamic_variables, asked.metadata, asked.caller_identity, asked.key_id, asked.user_id, asked.can_dial, asked.notifies,
    case when refused is null and is_outbound then date_trunc('minute', at) end,
    card.rate_card_id, case when refused is null then reserve else 0 end,
    -- A refused run will use nothing.
    case when refused is not null and card.rate_card_id is not null then 0 end
  );
  insert into parley.run_events (tenant_id, run_id, seq, at, kind, fields) values (
    of_tenant, run_id, 1, at, 'state',
    jsonb_build_object('state', first_state, 'phone_state', case when asked.channel = 'phone' then first_state end)
  );
  if refused is not null then
    if asked.notifies then
      insert into parley.outbox (tenant_id, run_id, event) values (of_tenant, run_id, 'run.ended');
    end if;
    return next;
    return;
  end if;

  if by_engine is not null then fence := 1; end if;
  insert into parley.run_ownership (
    tenant_id, run_id, kind, admitted_at, start_before, engine, worker, fence, lease_until, renewed_at, last_seq
  ) values (
    of_tenant, run_id, case asked.channel when 'cloud' then asked.mode else asked.channel end, at,
    at + case when asked.channel <> 'cloud' then interval '120 seconds' when asked.mode = 'background' then interval '24 hours'
      else interval '5 minutes' end,
    by_engine, by_worker, fence, case when by_engine is not null then at + lease_ms * interval '1 ms' end,
    case when by_engine is not null then at end, 1
  );
  update parley.run_counters c set
      live = c.live + 1,
      unresolved = c.unresolved + case when asked.test or card.rate_card_id is null then 0 else 1 end,
      reserved_usd = c.reserved_usd + reserve
    where c.tenant_id = of_tenant;
  return next;
end $$;

-- As `admit_run` for a run whose answer is made already: `run` holds `run_id` and `created_at`. A refusal is an error with the
-- condition PA001 and JSON as its detail, {reason, limit, used}, so that nothing that travels behind it is executed, COMMIT neither.
create function parley.admit_or_fail(of_tenant uuid, run jsonb) returns void
language plpgsql set search_path = pg_catalog as $$
declare outcome record;
begin
  select * into outcome from parley.admit_run(of_tenant, run, null, null, null, false);
  if outcome.refused is not null then
    raise exception 'the run is refused: %', outcome.refused using errcode = 'PA001', detail = jsonb_build_object(
      'reason', outcome.refused, 'limit', trim_scale(outcome.limit_value)::text, 'used', trim_scale(outcome.used_value)::text
    )::text;
  end if;
end $$;
