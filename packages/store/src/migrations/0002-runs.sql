-- Runs: admission, ownership, what happened in them, what they did outside, what they used and cost.

-- Of `machine` (a column of runs), which state may follow which; a state may always stay.
create table parley.run_moves (
  machine text not null check (machine in ('state', 'phone_state')),
  from_state text not null,
  to_state text not null,
  primary key (machine, from_state, to_state)
);
insert into parley.run_moves
  select 'state', from_state, unnest(string_to_array(to_states, ' ')) from (values
    ('admitted', 'running cancelled rejected expired'),
    ('running', 'ending completed failed cancelled'),
    ('ending', 'completed failed cancelled')
  ) as m (from_state, to_states)
  union all
  select 'phone_state', from_state, unnest(string_to_array(to_states, ' ')) from (values
    ('admitted', 'preparing awaiting_sip dialing ringing active terminating ended rejected expired setup_failed'),
    ('preparing', 'awaiting_sip dialing ringing active terminating ended rejected expired setup_failed'),
    ('awaiting_sip', 'active terminating ended rejected setup_failed'),
    ('dialing', 'ringing active terminating ended setup_failed'),
    ('ringing', 'active terminating ended setup_failed'),
    ('active', 'terminating ended'),
    ('terminating', 'ended setup_failed')
  ) as m (from_state, to_states);
grant select on parley.run_moves to parley_app, parley_system;

create function parley.run_may_move(in_machine text, old_state text, new_state text) returns boolean
language sql stable
  return old_state is not distinct from new_state or exists (
    select from parley.run_moves
    where machine = in_machine and from_state = old_state and to_state = new_state
  );

-- Processes that run calls or jobs; no tenant's.
create table parley.engines (
  engine_id text primary key,
  -- Where peers and other roles reach it.
  addresses jsonb not null,
  capacity integer not null check (capacity >= 0),
  live integer not null default 0,
  draining boolean not null default false,
  started_at timestamptz not null default parley.now_ms(),
  heartbeat_at timestamptz not null default parley.now_ms()
) with (fillfactor = 50);
grant select, insert, update, delete on parley.engines to parley_app, parley_system;

create table parley.rate_cards (
  tenant_id uuid not null default parley.current_tenant() references parley.tenants,
  rate_card_id text not null,
  effective_at timestamptz not null,
  -- {phone, web, cloud}: decimal strings.
  reserve_usd jsonb not null,
  -- [{meter, per, price_usd, channel, provider, model_id}]
  rates jsonb not null,
  installed_at timestamptz not null default parley.now_ms(),
  primary key (tenant_id, rate_card_id)
);

-- The policy in force; none before a rate card is installed.
create table parley.budgets (
  tenant_id uuid primary key default parley.current_tenant() references parley.tenants,
  policy_id text not null default 'policy/' || uuidv7(),
  cap_usd numeric check (cap_usd >= 0),
  updated_at timestamptz not null default parley.now_ms()
);

-- What is counted under one lock for a whole environment; locked after every row of a run.
create table parley.run_counters (
  tenant_id uuid primary key default parley.current_tenant() references parley.tenants,
  -- Permits that are out.
  live integer not null default 0 check (live >= 0),
  -- Billable runs without a cost yet, and the sum of their reserves.
  unresolved integer not null default 0 check (unresolved >= 0),
  reserved_usd numeric not null default 0 check (reserved_usd >= 0)
) with (fillfactor = 50);

-- What billable runs cost, by the month (UTC) of their created_at. Written under the counter's lock.
create table parley.spend_months (
  tenant_id uuid not null default parley.current_tenant() references parley.tenants,
  month date not null,
  spent_usd numeric not null,
  primary key (tenant_id, month)
) with (fillfactor = 50);

create table parley.runs (
  tenant_id uuid not null default parley.current_tenant() references parley.tenants,
  run_id uuid not null default uuidv7(),
  agent_id text not null,
  version integer not null,
  channel text not null check (channel in ('cloud', 'phone', 'web')),
  mode text not null check (mode in ('task', 'chat', 'background', 'outbound', 'inbound')),
  state text not null,
  phone_state text,
  outcome jsonb,
  disposition text,
  trigger jsonb not null,
  test boolean not null,
  -- Of a trial.
  test_run_id uuid generated always as ((trigger ->> 'test_run_id')::uuid) stored,
  created_at timestamptz not null,
  started_at timestamptz,
  ended_at timestamptz,
  connected_ms bigint,
  from_number text,
  to_number text,
  trunk_id text,
  contact text,
  successful boolean,
  dynamic_variables jsonb not null,
  metadata jsonb,
  latency jsonb,
  analysis jsonb,
  caller_identity jsonb,
  quality jsonb,
  -- The key that asked for it and may have been revoked since; null for people, inbound calls, jobs.
  key_id uuid,
  can_dial boolean not null,
  -- Whether the publication has agent webhooks.
  notifies boolean not null,
  -- Before an outbound INVITE leaves; with its answer.
  dial jsonb,
  dialog jsonb,
  invite_sent_at timestamptz,
  -- Where the daily count has it; null where it does not count.
  call_minute timestamptz,
  -- In force when it was admitted; null: it will have no price.
  rate_card_id text,
  reserve_usd numeric not null default 0,
  -- Null until it is priced. Finer than what is shown, so that sums are cut once.
  cost_usd numeric,
  llm_input_tokens bigint,
  llm_output_tokens bigint,
  stt_ms bigint,
  tts_characters bigint,
  primary key (tenant_id, run_id),
  foreign key (tenant_id, agent_id, version) references parley.publications
) with (fillfactor = 75);
create index on parley.runs (tenant_id, created_at desc, run_id);
create index on parley.runs (tenant_id, agent_id, created_at desc, run_id);
create index on parley.runs (tenant_id, test_run_id, created_at desc, run_id) where test_run_id is not null;

-- A row for each run that is not terminal: its permit, and who owns it. Small and without other indexes, since it is
-- written every few seconds for every live run; sweeps read all of it.
create table parley.run_ownership (
  tenant_id uuid not null default parley.current_tenant(),
  run_id uuid primary key,
  kind text not null check (kind in ('phone', 'web', 'task', 'chat', 'background')),
  admitted_at timestamptz not null,
  -- Not owned by then: expired.
  start_before timestamptz not null,
  engine text,
  worker text,
  -- Rises with every owner.
  fence bigint not null default 0,
  lease_until timestamptz,
  renewed_at timestamptz,
  -- Of the timeline.
  last_seq integer not null default 0,
  cancel_asked boolean not null default false,
  -- Revision of the newest update.
  last_update integer not null default 0,
  foreign key (tenant_id, run_id) references parley.runs
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);

create table parley.run_events (
  tenant_id uuid not null default parley.current_tenant(),
  run_id uuid not null,
  -- From 1, without gaps.
  seq integer not null,
  at timestamptz not null,
  offset_ms double precision,
  kind text not null,
  -- What the kind adds.
  fields jsonb not null,
  primary key (tenant_id, run_id, seq)
);

create table parley.run_effects (
  tenant_id uuid not null default parley.current_tenant(),
  run_id uuid not null,
  -- Follows from run and key, so that this one index keeps keys unique too.
  effect_id uuid not null,
  effect_key text not null,
  place bigint generated always as identity,
  attempt_id uuid,
  action_id text not null,
  action_version integer not null,
  effect_kind text not null,
  -- Whether sending it twice does no more than sending it once.
  idempotent boolean not null,
  node_id text,
  ordinal integer,
  state text not null default 'intended' check (state in ('intended', 'sending', 'succeeded', 'failed', 'uncertain')),
  decision jsonb,
  send_attempts integer not null default 0,
  receipts jsonb not null default '[]',
  error_code text,
  created_at timestamptz not null default parley.now_ms(),
  settled_at timestamptz,
  primary key (tenant_id, run_id, effect_id)
) with (fillfactor = 75);

create table parley.run_updates (
  tenant_id uuid not null default parley.current_tenant(),
  run_id uuid not null,
  revision integer not null,
  update_id uuid not null default uuidv7(),
  -- {override_dynamic_variables?, metadata?}
  change jsonb not null,
  status text not null check (status in ('acknowledged', 'applying', 'applied', 'rejected', 'indeterminate')),
  acknowledged_at timestamptz not null default parley.now_ms(),
  deadline timestamptz not null,
  completed_at timestamptz,
  reason text,
  primary key (tenant_id, run_id, revision)
);
create index on parley.run_updates (deadline) where completed_at is null;

create table parley.run_transcripts (
  tenant_id uuid not null default parley.current_tenant(),
  run_id uuid not null,
  state text not null check (state in ('partial', 'complete', 'expired')),
  -- Nothing is written over a final one.
  final boolean not null,
  utterances jsonb not null,
  -- {segments, last_completed_turn_offset_ms, published_at}
  checkpoint jsonb,
  -- As ContentRef.
  content jsonb,
  updated_at timestamptz not null default parley.now_ms(),
  primary key (tenant_id, run_id)
);

create table parley.run_recordings (
  tenant_id uuid not null default parley.current_tenant(),
  run_id uuid not null,
  state text not null check (state in ('pending', 'recording', 'processing', 'ready', 'partial', 'failed', 'not_required', 'expired')),
  -- [{index, blob, samples, bytes}]
  segments jsonb not null default '[]',
  -- As ContentRef.
  content jsonb,
  updated_at timestamptz not null default parley.now_ms(),
  primary key (tenant_id, run_id)
);

create table parley.usage_measurements (
  tenant_id uuid not null default parley.current_tenant(),
  run_id uuid not null,
  measurement_id uuid not null default uuidv7(),
  meter text not null check (meter in ('connected_ms', 'llm_input_tokens', 'llm_output_tokens', 'stt_ms', 'tts_characters')),
  provider text,
  model_id text,
  quantity bigint not null check (quantity >= 0),
  measured_at timestamptz not null default parley.now_ms(),
  primary key (tenant_id, run_id, measurement_id)
);

-- Webhooks to send, in order within a run.
create table parley.outbox (
  tenant_id uuid not null default parley.current_tenant(),
  run_id uuid not null,
  outbox_id bigint generated always as identity,
  event_id uuid not null default uuidv7(),
  event text not null,
  -- The run at that time; null: as it is read, since it changes no more.
  payload jsonb,
  occurred_at timestamptz not null default parley.now_ms(),
  -- Sends begun, and the fence of who sends.
  attempts integer not null default 0,
  next_at timestamptz not null default parley.now_ms(),
  lease_until timestamptz,
  settled_at timestamptz,
  delivered boolean,
  primary key (tenant_id, run_id, outbox_id)
) with (fillfactor = 75);
create index on parley.outbox (next_at) where settled_at is null;

do $$
declare tenant_table text;
begin
  foreach tenant_table in array array[
    'rate_cards', 'budgets', 'run_counters', 'spend_months', 'runs', 'run_ownership', 'run_events', 'run_effects',
    'run_updates', 'run_transcripts', 'run_recordings', 'usage_measurements', 'outbox'
  ] loop
    execute format('alter table parley.%I enable row level security', tenant_table);
    execute format('alter table parley.%I force row level security', tenant_table);
    execute format('create policy one_tenant on parley.%I to parley_app using (tenant_id = parley.current_tenant()) with check (tenant_id = parley.current_tenant())', tenant_table);
    execute format('create policy system on parley.%I to parley_system using (true) with check (true)', tenant_table);
    execute format('grant select, insert, update, delete on parley.%I to parley_app, parley_system', tenant_table);
  end loop;
end $$;

-- The environment's counters, locked: who admits, ends a run or counts a call takes turns from here to its commit.
create function parley.lock_counters(of_tenant uuid) returns parley.run_counters
language plpgsql set search_path = pg_catalog as $$
declare counters parley.run_counters;
begin
  loop
    select * into counters from parley.run_counters c where c.tenant_id = of_tenant for no key update;
    if found then return counters; end if;
    insert into parley.run_counters (tenant_id) values (of_tenant) on conflict do nothing;
  end loop;
end $$;

-- Outbound calls of the last 24 hours, counted by minute: the first minute counts whole.
create function parley.calls_last_24h(of_tenant uuid) returns integer language sql stable
  return (
    select coalesce(sum(calls), 0)::integer from parley.call_minutes
    where tenant_id = of_tenant and minute >= date_trunc('minute', now() - interval '24 hours')
  );

-- One more call in the daily count, if it has room. Null: counted; else the limit and what is used of it.
create function parley.count_call(of_tenant uuid, in_minute timestamptz, out daily_limit integer, out used integer)
language plpgsql set search_path = pg_catalog as $$
begin
  perform parley.lock_counters(of_tenant);
  select t.daily_call_limit into daily_limit from parley.tenants t where t.tenant_id = of_tenant;
  if daily_limit is not null then
    used := parley.calls_last_24h(of_tenant);
    if used >= daily_limit then return; end if;
  end if;
  daily_limit := null;
  used := null;
  insert into parley.call_minutes as m (tenant_id, minute, calls) values (of_tenant, in_minute, 1)
    on conflict (tenant_id, minute) do update set calls = m.calls + 1;
end $$;

-- Takes the permit and makes the run, or says what refused, with its limit and what is used of it. `run` holds the
-- columns of runs that the caller decides. With an engine it is owned at once. `keep_refused` leaves a refused run behind
-- as rejected. Call it last in its transaction: the environment's other admissions wait for the commit.
create function parley.admit_run(
  of_tenant uuid, run jsonb, by_engine text, by_worker text, lease_ms integer, keep_refused boolean
)
returns table (run_id uuid, created_at timestamptz, fence bigint, refused text, limit_value numeric, used_value numeric)
language plpgsql set search_path = pg_catalog as $$
#variable_conflict use_column
declare
  asked parley.runs := jsonb_populate_record(null::parley.runs, run);
  counters parley.run_counters := parley.lock_counters(of_tenant);
  at timestamptz := parley.now_ms();
  environment record;
  card parley.rate_cards;
  reserve numeric := 0;
  calls record;
  is_outbound boolean := asked.channel = 'phone' and asked.mode = 'outbound';
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
  insert into parley.runs (
    tenant_id, run_id, agent_id, version, channel, mode, state, phone_state, disposition, trigger, test, created_at, ended_at,
    from_number, to_number, trunk_id, contact, dynamic_variables, metadata, caller_identity, key_id, can_dial, notifies,
    call_minute, rate_card_id, reserve_usd
  ) values (
    of_tenant, run_id, asked.agent_id, asked.version, asked.channel, asked.mode,
    case when refused is null then 'admitted' else 'rejected' end,
    case when asked.channel = 'phone' then case when refused is null then 'admitted' else 'rejected' end end,
    refused, asked.trigger, asked.test, at, case when refused is not null then at end,
    asked.from_number, asked.to_number, asked.trunk_id,
    case when asked.channel <> 'phone' then 'not_applicable' when refused is not null then 'unknown' end,
    asked.dynamic_variables, asked.metadata, asked.caller_identity, asked.key_id, asked.can_dial, asked.notifies,
    case when refused is null and is_outbound then date_trunc('minute', at) end,
    card.rate_card_id, case when refused is null then reserve else 0 end
  );
  insert into parley.run_events (tenant_id, run_id, seq, at, kind, fields)
    select of_tenant, r.run_id, 1, at, 'state', jsonb_build_object('state', r.state, 'phone_state', r.phone_state)
    from parley.runs r where r.tenant_id = of_tenant and r.run_id = admit_run.run_id;
  if refused is not null then
    -- Nothing will be used.
    update parley.runs r set cost_usd = 0
      where r.tenant_id = of_tenant and r.run_id = admit_run.run_id and r.rate_card_id is not null;
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

-- What quantities cost in this run: for each the most specific rate of its card; no rate: nothing.
create function parley.price_of(run parley.runs, measurements jsonb) returns numeric
language sql stable set search_path = pg_catalog
begin atomic
  with measured as (
    select m.meter, m.provider, m.model_id, sum(m.quantity) as quantity
    from jsonb_to_recordset(measurements) as m (meter text, provider text, model_id text, quantity bigint)
    group by 1, 2, 3
  ), rates as (
    select r.* from parley.rate_cards c,
      jsonb_to_recordset(c.rates) as r (meter text, per bigint, price_usd numeric, channel text, provider text, model_id text)
    where c.tenant_id = (run).tenant_id and c.rate_card_id = (run).rate_card_id and coalesce(r.channel, (run).channel) = (run).channel
  )
  -- Quotients may not end: 50 digits are kept, so that what is shown of a sum (rounded to 40, then cut to 12) is exact.
  select coalesce(trim_scale(round(sum(round(measured.quantity * rate.price_usd, 60) / rate.per), 50)), 0)
  from measured cross join lateral (
    select rates.price_usd, rates.per from rates
    where rates.meter = measured.meter
      and (rates.provider is null or rates.provider = measured.provider)
      and (rates.model_id is null or rates.model_id = measured.model_id)
    order by num_nonnulls(rates.channel, rates.provider, rates.model_id) desc,
      rates.model_id is null, rates.provider is null, rates.channel is null
    limit 1
  ) rate;
end;

-- Keeps what the run used, and adds it to its sums, its cost and the month's. The run's row is locked by it, then the counters.
create function parley.record_usage(of_tenant uuid, of_run uuid, measurements jsonb) returns void
language plpgsql set search_path = pg_catalog as $$
declare
  run parley.runs;
  cost numeric;
begin
  insert into parley.usage_measurements (tenant_id, run_id, meter, provider, model_id, quantity)
    select of_tenant, of_run, m.meter, m.provider, m.model_id, m.quantity
    from jsonb_to_recordset(measurements) as m (meter text, provider text, model_id text, quantity bigint);
  select * into strict run from parley.runs r where r.tenant_id = of_tenant and r.run_id = of_run for no key update;
  if run.rate_card_id is not null then cost := parley.price_of(run, measurements); end if;
  with used as (
    select
      sum(m.quantity) filter (where m.meter = 'llm_input_tokens') as llm_input_tokens,
      sum(m.quantity) filter (where m.meter = 'llm_output_tokens') as llm_output_tokens,
      sum(m.quantity) filter (where m.meter = 'stt_ms') as stt_ms,
      sum(m.quantity) filter (where m.meter = 'tts_characters') as tts_characters
    from jsonb_to_recordset(measurements) as m (meter text, quantity bigint)
  )
  update parley.runs r set
      llm_input_tokens = case when used.llm_input_tokens is null then r.llm_input_tokens else coalesce(r.llm_input_tokens, 0) + used.llm_input_tokens end,
      llm_output_tokens = case when used.llm_output_tokens is null then r.llm_output_tokens else coalesce(r.llm_output_tokens, 0) + used.llm_output_tokens end,
      stt_ms = case when used.stt_ms is null then r.stt_ms else coalesce(r.stt_ms, 0) + used.stt_ms end,
      tts_characters = case when used.tts_characters is null then r.tts_characters else coalesce(r.tts_characters, 0) + used.tts_characters end,
      cost_usd = case when cost is null then r.cost_usd else coalesce(r.cost_usd, 0) + cost end
    from used
    where r.tenant_id = of_tenant and r.run_id = of_run;
  if cost is null or run.test then return; end if;
  perform parley.lock_counters(of_tenant);
  insert into parley.spend_months as s (tenant_id, month, spent_usd)
    values (of_tenant, date_trunc('month', run.created_at, 'UTC')::date, cost)
    on conflict (tenant_id, month) do update set spent_usd = s.spent_usd + cost;
end $$;

-- Makes the run terminal and gives its permit back: the only place that does. `by_fence` is the owner's; null: as long as
-- nobody owns it. `ending`: {state, phone_state?, outcome, disposition, connected_ms?, contact?, successful?, latency?,
-- quality?, engine_lost?, measurements?}. Answers `finished`; `lost` or `not_allowed`, and nothing happened.
create function parley.finish_run(of_tenant uuid, of_run uuid, by_fence bigint, ending jsonb) returns text
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
  if permit.last_update > 0 then
    update parley.run_updates u set
        status = case when is_lost then 'indeterminate' else 'rejected' end,
        reason = case when is_lost then 'engine_lost' else 'run_ended' end, completed_at = at
      where u.tenant_id = of_tenant and u.run_id = of_run and u.completed_at is null;
  end if;
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

-- What follows looks across tenants, for engines, workers and their sweeps.

-- Keeps the leases of an owner's runs, whatever their tenants. Answers those that it still owns; `busy` ones are being
-- written to at this moment, were not renewed, and are to be tried again. What is not answered is lost. A lease that ended
-- while the database was away is kept as long as nobody took the run: the fence says so, not the clock.
create function parley.renew_runs(by_engine text, runs uuid[], fences bigint[], lease_ms integer)
returns table (run_id uuid, busy boolean, cancel_asked boolean, last_update integer)
language sql security definer set search_path = pg_catalog
begin atomic
  with asked as (
    select * from unnest(runs, fences) as a (run_id, fence)
  ), free as (
    select o.run_id from parley.run_ownership o join asked using (run_id)
    where o.engine = by_engine and o.fence = asked.fence
    for no key update of o skip locked
  ), kept as (
    update parley.run_ownership o
    set lease_until = parley.now_ms() + lease_ms * interval '1 ms', renewed_at = parley.now_ms()
    from free where o.run_id = free.run_id
    returning o.run_id
  )
  -- Not joined: the planner takes what was kept for one row, and would read all of it for each.
  select o.run_id, o.run_id not in (select k.run_id from kept k), o.cancel_asked, o.last_update
  from parley.run_ownership o join asked using (run_id)
  where o.engine = by_engine and o.fence = asked.fence;
end;

-- Runs that wait for an owner, oldest first.
create function parley.waiting_runs(of_kind text, at_most integer)
returns table (run_id uuid, tenant_id uuid, owner_id uuid, environment text, admitted_at timestamptz)
language sql stable security definer set search_path = pg_catalog
begin atomic
  select o.run_id, o.tenant_id, t.owner_id, t.environment, o.admitted_at
  from parley.run_ownership o join parley.tenants t using (tenant_id)
  where o.kind = of_kind and o.engine is null and o.start_before > clock_timestamp()
  order by o.admitted_at, o.run_id limit at_most;
end;

-- Takes over runs whose owner stopped renewing, with what is needed to end their calls. What that owner was sending, and
-- cannot be sent twice, is uncertain from then on.
create function parley.reap_runs(by_engine text, by_worker text, lease_ms integer, at_most integer)
returns table (
  run_id uuid, fence bigint, tenant_id uuid, owner_id uuid, environment text, channel text, mode text, state text,
  phone_state text, lost_engine text, lost_worker text, last_renewed_at timestamptz, last_seq integer, dial jsonb, dialog jsonb
)
language sql security definer set search_path = pg_catalog
begin atomic
  with dead as (
    select o.run_id from parley.run_ownership o
    where o.engine is not null and o.lease_until <= clock_timestamp()
    order by o.lease_until limit at_most
    for no key update skip locked
  ), taken as (
    update parley.run_ownership o
    set engine = by_engine, worker = by_worker, fence = o.fence + 1, lease_until = parley.now_ms() + lease_ms * interval '1 ms'
    from dead where o.run_id = dead.run_id
    returning o.run_id, o.tenant_id, o.fence, o.last_seq, o.renewed_at, old.engine as lost_engine, old.worker as lost_worker
  ), doubtful as (
    update parley.run_effects e set state = 'uncertain', error_code = 'owner_lost', settled_at = parley.now_ms()
    from taken
    where e.tenant_id = taken.tenant_id and e.run_id = taken.run_id and e.state = 'sending' and not e.idempotent
  )
  select taken.run_id, taken.fence, taken.tenant_id, t.owner_id, t.environment, r.channel, r.mode, r.state, r.phone_state,
    taken.lost_engine, taken.lost_worker, taken.renewed_at, taken.last_seq, r.dial, r.dialog
  from taken
  join parley.runs r on r.tenant_id = taken.tenant_id and r.run_id = taken.run_id
  join parley.tenants t on t.tenant_id = taken.tenant_id;
end;

-- Ends admitted runs that nobody took in time; answers which.
create function parley.expire_runs(at_most integer)
returns table (run_id uuid, tenant_id uuid)
language plpgsql security definer set search_path = pg_catalog as $$
#variable_conflict use_column
declare late record;
begin
  -- In order of the tenants, whose counters stay locked until the end.
  for late in
    select o.run_id, o.tenant_id, o.kind from parley.run_ownership o
    where o.engine is null and o.start_before <= clock_timestamp()
    order by o.tenant_id, o.run_id limit at_most
    for update skip locked
  loop
    if parley.finish_run(late.tenant_id, late.run_id, null, jsonb_build_object(
      'state', 'expired', 'disposition', 'expired',
      'phone_state', case when late.kind = 'phone' then 'expired' end
    )) = 'finished' then
      run_id := late.run_id;
      tenant_id := late.tenant_id;
      return next;
    end if;
  end loop;
end $$;

-- Settles updates that no engine answered in time; answers how many.
create function parley.expire_updates(at_most integer) returns integer
language sql security definer set search_path = pg_catalog
begin atomic
  with late as (
    select u.tenant_id, u.run_id, u.revision from parley.run_updates u
    where u.completed_at is null and u.deadline <= clock_timestamp()
    limit at_most for update skip locked
  ), settled as (
    update parley.run_updates u set status = 'indeterminate', reason = 'deadline', completed_at = parley.now_ms()
    from late where u.tenant_id = late.tenant_id and u.run_id = late.run_id and u.revision = late.revision
    returning 1
  )
  select count(*)::integer from settled;
end;

-- Hands out webhooks that are due, to be settled within the lease; of a run only its first unsettled one.
create function parley.take_outbox(lease_ms integer, at_most integer)
returns table (
  outbox_id bigint, run_id uuid, tenant_id uuid, owner_id uuid, environment text, event_id uuid, event text, payload jsonb,
  occurred_at timestamptz, attempts integer
)
language sql security definer set search_path = pg_catalog
begin atomic
  with due as (
    select b.tenant_id, b.run_id, b.outbox_id from parley.outbox b
    where b.settled_at is null and b.next_at <= clock_timestamp()
      and (b.lease_until is null or b.lease_until <= clock_timestamp())
      and not exists (
        select from parley.outbox earlier
        where earlier.tenant_id = b.tenant_id and earlier.run_id = b.run_id and earlier.outbox_id < b.outbox_id
          and earlier.settled_at is null
      )
    order by b.next_at limit at_most
    for no key update of b skip locked
  ), taken as (
    update parley.outbox b
    set attempts = b.attempts + 1, lease_until = parley.now_ms() + lease_ms * interval '1 ms'
    from due where b.tenant_id = due.tenant_id and b.run_id = due.run_id and b.outbox_id = due.outbox_id
    returning b.*
  )
  select taken.outbox_id, taken.run_id, taken.tenant_id, t.owner_id, t.environment, taken.event_id, taken.event,
    taken.payload, taken.occurred_at, taken.attempts
  from taken join parley.tenants t using (tenant_id);
end;

do $$
declare across text;
begin
  foreach across in array array[
    'renew_runs', 'waiting_runs', 'reap_runs', 'expire_runs', 'expire_updates', 'take_outbox'
  ] loop
    execute format('alter function parley.%I owner to parley_system', across);
    execute format('revoke all on function parley.%I from public', across);
    execute format('grant execute on function parley.%I to parley_app, parley_system', across);
  end loop;
end $$;
