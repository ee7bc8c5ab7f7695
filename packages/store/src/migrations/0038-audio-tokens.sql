-- Tokens of audio that a speech-to-speech model heard and spoke, which have prices of their own.
alter table parley.usage_measurements drop constraint usage_measurements_meter_check;
alter table parley.usage_measurements add constraint usage_measurements_meter_check check (meter in (
  'connected_ms', 'llm_input_tokens', 'llm_output_tokens', 'llm_audio_input_tokens', 'llm_audio_output_tokens', 'stt_ms', 'tts_characters'
));

-- What quantities cost in this run: for each the most specific rate of its card; no rate: nothing. Tokens of audio without a rate
-- of their own have that of the other tokens.
create or replace function parley.price_of(run parley.runs, measurements jsonb) returns numeric
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
    where rates.meter in (measured.meter, replace(measured.meter, 'llm_audio_', 'llm_'))
      and (rates.provider is null or rates.provider = measured.provider)
      and (rates.model_id is null or rates.model_id = measured.model_id)
    order by rates.meter = measured.meter desc, num_nonnulls(rates.channel, rates.provider, rates.model_id) desc,
      rates.model_id is null, rates.provider is null, rates.channel is null
    limit 1
  ) rate;
end;

-- Stores what the run used, and adds it to its sums, its cost and the month's. The sums of tokens include those of audio. The
-- run's row is locked by it, then the counters.
create or replace function parley.record_usage(of_tenant uuid, of_run uuid, measurements jsonb) returns void
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
      sum(m.quantity) filter (where m.meter in ('llm_input_tokens', 'llm_audio_input_tokens')) as llm_input_tokens,
      sum(m.quantity) filter (where m.meter in ('llm_output_tokens', 'llm_audio_output_tokens')) as llm_output_tokens,
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
