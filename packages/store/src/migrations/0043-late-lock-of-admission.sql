-- As before; `by_answer` is for a run whose answer is made already, as the last statement before COMMIT. Such an admission makes its rows
-- first and locks the counters after them, so that the environment's other admissions wait for its COMMIT alone; what limits it is read
-- again once it holds the lock. Its refusal is the error of `admit_or_fail`.
drop function parley.admit_run(uuid, jsonb, text, text, integer, boolean);
create function parley.admit_run(
  of_tenant uuid, run jsonb, by_engine text, by_worker text, lease_ms integer, keep_refused boolean, by_answer boolean default false
)
returns table (run_id uuid, created_at timestamptz, fence bigint, refused text, limit_value numeric, used_value numeric)
language plpgsql set search_path = pg_catalog as $$
#variable_conflict use_column
declare
  asked parley.runs := jsonb_populate_record(null::parley.runs, run);
  at timestamptz := coalesce(asked.created_at, parley.now_ms());
  environment record;
  reserve numeric := 0;
  calls integer;
  is_phone boolean := asked.channel = 'phone';
  is_outbound boolean := is_phone and asked.mode = 'outbound';
  in_minute timestamptz := date_trunc('minute', at);
  first_state text;
  is_locked boolean := false;
  is_made boolean := false;
  is_billed boolean;
begin
  fence := 0;
  loop
    if is_locked or not by_answer then
      perform from parley.run_counters c where c.tenant_id = of_tenant for no key update;
      if not found then perform parley.lock_counters(of_tenant); end if;
      is_locked := true;
    end if;
    -- Its snapshot is taken once the lock is held.
    select t.admission_enabled, t.concurrent_capacity, t.daily_call_limit, b.cap_usd, coalesce(n.live, 0) as live,
        coalesce(s.spent_usd, 0) + coalesce(n.reserved_usd, 0) as used_usd, card.rate_card_id, card.reserve_usd
      into environment
      from parley.tenants t
      left join parley.run_counters n on n.tenant_id = t.tenant_id
      left join parley.budgets b on b.tenant_id = t.tenant_id
      left join parley.spend_months s on s.tenant_id = t.tenant_id and s.month = date_trunc('month', at, 'UTC')::date
      left join lateral (
        select c.rate_card_id, c.reserve_usd from parley.rate_cards c
        where c.tenant_id = of_tenant and c.effective_at <= at
        order by c.effective_at desc, c.installed_at desc, c.rate_card_id limit 1
      ) card on true
      where t.tenant_id = of_tenant;
    -- A run that is made keeps the card and the reserve that it was made with.
    if not is_made and not asked.test then reserve := coalesce((environment.reserve_usd ->> asked.channel)::numeric, 0); end if;
    if is_outbound and environment.daily_call_limit is not null then calls := parley.calls_last_24h(of_tenant); end if;

    refused := null;
    if environment.admission_enabled is not true then
      refused := 'admission_disabled';
    elsif environment.concurrent_capacity is null then
      refused := 'tenant_not_configured';
    elsif not asked.test and environment.used_usd + reserve > environment.cap_usd then
      refused := 'spend_cap';
      limit_value := environment.cap_usd;
      used_value := environment.used_usd;
    elsif calls >= environment.daily_call_limit then
      refused := 'daily_call_limit';
      limit_value := environment.daily_call_limit;
      used_value := calls;
    elsif environment.live >= environment.concurrent_capacity then
      refused := 'concurrent_capacity';
      limit_value := environment.concurrent_capacity;
      used_value := environment.live;
    end if;
    if refused is not null then
      -- What was read without the lock may be out of date.
      if not is_locked then
        is_locked := true;
        continue;
      end if;
      if by_answer then
        raise exception 'the run is refused: %', refused using errcode = 'PA001', detail = jsonb_build_object(
          'reason', refused, 'limit', trim_scale(limit_value)::text, 'used', trim_scale(used_value)::text
        )::text;
      end if;
      if not keep_refused then
        return next;
        return;
      end if;
    end if;

    if not is_made then
      run_id := coalesce(asked.run_id, uuidv7());
      created_at := at;
      first_state := case when refused is null then 'admitted' else 'rejected' end;
      insert into parley.runs (
        tenant_id, run_id, agent_id, version, channel, mode, state, phone_state, disposition, trigger, test, created_at, ended_at,
        from_number, to_number, trunk_id, contact, dynamic_variables, metadata, caller_identity, key_id, user_id, can_dial, notifies,
        call_minute, rate_card_id, reserve_usd, cost_usd
      ) values (
        of_tenant, run_id, asked.agent_id, asked.version, asked.channel, asked.mode, first_state,
        case when is_phone then first_state end,
        refused, asked.trigger, asked.test, at, case when refused is not null then at end,
        asked.from_number, asked.to_number, asked.trunk_id,
        case when not is_phone then 'not_applicable' when refused is not null then 'unknown' end,
        asked.dynamic_variables, asked.metadata, asked.caller_identity, asked.key_id, asked.user_id, asked.can_dial, asked.notifies,
        case when refused is null and is_outbound then in_minute end,
        environment.rate_card_id, case when refused is null then reserve else 0 end,
        -- A refused run will use nothing.
        case when refused is not null and environment.rate_card_id is not null then 0 end
      );
      insert into parley.run_events (tenant_id, run_id, seq, at, kind, fields) values (
        of_tenant, run_id, 1, at, 'state',
        jsonb_build_object('state', first_state, 'phone_state', case when is_phone then first_state end)
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
      is_made := true;
      is_billed := not asked.test and environment.rate_card_id is not null;
    end if;
    -- Where the number of runs alone limits it the count takes the lock.
    if is_locked or (environment.cap_usd is null and environment.daily_call_limit is null) then
      update parley.run_counters c set
          live = c.live + 1,
          unresolved = c.unresolved + is_billed::integer,
          reserved_usd = c.reserved_usd + reserve
        where c.tenant_id = of_tenant and (is_locked or c.live < environment.concurrent_capacity);
      exit when found;
    end if;
    is_locked := true;
  end loop;
  if is_outbound then
    update parley.call_minutes m set calls = m.calls + 1 where m.tenant_id = of_tenant and m.minute = in_minute;
    if not found then insert into parley.call_minutes (tenant_id, minute, calls) values (of_tenant, in_minute, 1); end if;
  end if;
  return next;
end $$;

create or replace function parley.admit_or_fail(of_tenant uuid, run jsonb) returns void
language plpgsql set search_path = pg_catalog as $$
begin
  perform from parley.admit_run(of_tenant, run, null, null, null, false, true);
end $$;
