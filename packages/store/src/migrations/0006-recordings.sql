-- Recordings are joined by whoever comes first, and what was kept of runs goes when its time is over.

alter table parley.run_recordings
  add column begun_at timestamptz not null default parley.now_ms(),
  -- How many segments there are; null: its recorder never said so.
  add column expected integer,
  -- Until then somebody has audio of it that is not among the blobs yet.
  add column spooled_until timestamptz,
  -- Rises whenever segments may have come; `joined` is the value whose segments are in the content, and gone.
  add column arrivals integer not null default 1,
  add column joined integer not null default 0,
  -- Who joins it: a fence that rises with each, and until when it is theirs.
  add column join_fence bigint not null default 0,
  add column join_until timestamptz,
  -- It expired, and its blobs are to go.
  add column blobs_expired boolean not null default false;
create index on parley.run_recordings (updated_at)
  where joined < arrivals and state not in ('not_required', 'expired');
create index on parley.run_recordings (tenant_id, begun_at) where state not in ('not_required', 'expired');
create index on parley.run_recordings (tenant_id) where blobs_expired;

alter table parley.runs add column content_expired_at timestamptz;
create index on parley.runs (tenant_id, ended_at) where content_expired_at is null;

-- What follows looks across tenants, for workers and their sweeps.

-- Recordings to be joined, those that wait longest first: closed by their recorder, or of a run that ended `grace_ms` ago
-- without that, with nobody who says to have more of it.
create function parley.recordings_to_join(grace_ms integer, at_most integer)
returns table (run_id uuid, tenant_id uuid, owner_id uuid, environment text)
language sql stable security definer set search_path = pg_catalog
begin atomic
  select r.run_id, r.tenant_id, t.owner_id, t.environment
  from parley.run_recordings r
  join parley.runs u using (tenant_id, run_id)
  join parley.tenants t using (tenant_id)
  where r.joined < r.arrivals and r.state not in ('not_required', 'expired')
    and (r.join_until is null or r.join_until <= clock_timestamp())
    and (r.state not in ('pending', 'recording') or (
      u.ended_at <= clock_timestamp() - grace_ms * interval '1 ms'
      and (r.spooled_until is null or r.spooled_until <= clock_timestamp())
    ))
  order by r.updated_at, r.run_id limit at_most;
end;

-- Recordings past their environment's retention expire; answers whose blobs are to be deleted, also those of earlier
-- calls that nobody has reported gone.
create function parley.expire_recordings(at_most integer)
returns table (run_id uuid, tenant_id uuid, owner_id uuid, environment text)
language sql security definer set search_path = pg_catalog
begin atomic
  with due as (
    select old.tenant_id, old.run_id
    from parley.tenants t cross join lateral (
      select r.tenant_id, r.run_id
      from parley.run_recordings r join parley.runs u using (tenant_id, run_id)
      where r.tenant_id = t.tenant_id and r.state not in ('not_required', 'expired')
        and r.begun_at < clock_timestamp() - t.recording_days * interval '1 day'
        and u.ended_at < clock_timestamp() - t.recording_days * interval '1 day'
      order by r.begun_at limit at_most
      for no key update of r skip locked
    ) old
    limit at_most
  ), expired as (
    update parley.run_recordings r
    set state = 'expired', content = null, segments = '[]', blobs_expired = true, updated_at = parley.now_ms(),
      joined = r.arrivals, join_fence = r.join_fence + 1, join_until = null
    from due where r.tenant_id = due.tenant_id and r.run_id = due.run_id
    returning r.tenant_id, r.run_id
  ), told as (
    insert into parley.audit (tenant_id, principal, action, outcome)
    select t.tenant_id, jsonb_build_object('owner_id', t.owner_id, 'environment', t.environment, 'kind', 'system', 'id', 'retention'),
      'recordings.expire', 'allowed'
    from parley.tenants t where t.tenant_id in (select e.tenant_id from expired e)
  ), doomed as (
    select e.tenant_id, e.run_id from expired e
    union all
    select r.tenant_id, r.run_id from parley.run_recordings r where r.blobs_expired
  )
  select d.run_id, d.tenant_id, t.owner_id, t.environment
  from doomed d join parley.tenants t using (tenant_id) limit at_most;
end;

-- What was said, pressed, read out of and known in runs past their environment's retention goes; the runs, what happened
-- in them and what they used stay. Answers how many runs.
create function parley.expire_transcripts(at_most integer) returns integer
language sql security definer set search_path = pg_catalog
begin atomic
  with due as (
    select old.tenant_id, old.run_id
    from parley.tenants t cross join lateral (
      select r.tenant_id, r.run_id from parley.runs r
      where r.tenant_id = t.tenant_id and r.content_expired_at is null
        and r.ended_at < clock_timestamp() - t.transcript_days * interval '1 day'
      order by r.ended_at limit at_most
      for no key update skip locked
    ) old
    limit at_most
  ), runs as (
    update parley.runs r set dynamic_variables = '{}', analysis = null, content_expired_at = parley.now_ms()
    from due where r.tenant_id = due.tenant_id and r.run_id = due.run_id
    returning r.tenant_id, r.run_id
  ), transcripts as (
    update parley.run_transcripts x
    set state = 'expired', final = true, utterances = '[]', checkpoint = null, content = null, updated_at = parley.now_ms()
    from due where x.tenant_id = due.tenant_id and x.run_id = due.run_id
  ), events as (
    update parley.run_events e
    set fields = e.fields || case e.kind when 'utterance' then '{"text": ""}'::jsonb else '{"digits": ""}'::jsonb end
    from due where e.tenant_id = due.tenant_id and e.run_id = due.run_id and e.kind in ('utterance', 'digits')
  ), updates as (
    update parley.run_updates u set change = u.change - 'override_dynamic_variables'
    from due where u.tenant_id = due.tenant_id and u.run_id = due.run_id
  ), webhooks as (
    update parley.outbox o set payload = null
    from due where o.tenant_id = due.tenant_id and o.run_id = due.run_id and o.settled_at is not null
  ), told as (
    insert into parley.audit (tenant_id, principal, action, outcome)
    select t.tenant_id, jsonb_build_object('owner_id', t.owner_id, 'environment', t.environment, 'kind', 'system', 'id', 'retention'),
      'transcripts.expire', 'allowed'
    from parley.tenants t where t.tenant_id in (select d.tenant_id from due d)
  )
  select count(*)::integer from runs;
end;

do $$
declare across text;
begin
  foreach across in array array['recordings_to_join', 'expire_recordings', 'expire_transcripts'] loop
    execute format('alter function parley.%I owner to parley_system', across);
    execute format('revoke all on function parley.%I from public', across);
    execute format('grant execute on function parley.%I to parley_app, parley_system', across);
  end loop;
end $$;
