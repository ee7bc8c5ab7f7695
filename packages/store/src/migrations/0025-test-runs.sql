-- Test runs: suites executed against a publication, in trials.
create table parley.test_runs (
  tenant_id uuid not null default parley.current_tenant() references parley.tenants,
  test_run_id uuid not null default uuidv7(),
  agent_id text not null,
  version integer not null,
  purpose text not null check (purpose in ('manual', 'publish_gate', 'schedule', 'release')),
  -- [{suite_id, revision, digest, agent_id, cases, source}]: the suites as they were.
  suites jsonb not null,
  -- Ids of the cases that are executed; null: all.
  case_ids jsonb,
  -- In place of each case's number of trials; null: the case's.
  trials integer,
  state text not null default 'queued' check (state in ('queued', 'running', 'completed', 'cancelled')),
  verdict text check (verdict in ('passed', 'failed', 'errored')),
  summary jsonb,
  baseline_test_run_id uuid,
  judge_model jsonb,
  estimated_usd double precision not null,
  measured_usd double precision,
  created_by jsonb not null,
  created_at timestamptz not null default parley.now_ms(),
  finished_at timestamptz,
  primary key (tenant_id, test_run_id),
  foreign key (tenant_id, agent_id, version) references parley.publications
);
create index on parley.test_runs (tenant_id, created_at desc, test_run_id);
create index on parley.test_runs (tenant_id) where state in ('queued', 'running');

-- The cases of a test run that has started.
create table parley.test_run_cases (
  tenant_id uuid not null default parley.current_tenant(),
  test_run_id uuid not null,
  -- From 1, in the order of suites and cases.
  place integer not null,
  suite_id uuid not null,
  case_id text not null,
  -- TestCase
  test_case jsonb not null,
  verdict text check (verdict in ('passed', 'failed', 'errored', 'invalid')),
  -- Why the case is invalid.
  fault text,
  flaky boolean not null default false,
  change text check (change in ('regressed', 'fixed', 'same', 'new')),
  primary key (tenant_id, test_run_id, place),
  foreign key (tenant_id, test_run_id) references parley.test_runs
);

create table parley.test_trials (
  tenant_id uuid not null default parley.current_tenant(),
  test_run_id uuid not null,
  trial_id uuid not null default uuidv7(),
  -- Of its case.
  place integer not null,
  -- From 1.
  trial integer not null,
  state text not null default 'queued' check (state in ('queued', 'running', 'completed', 'cancelled')),
  verdict text check (verdict in ('passed', 'failed', 'errored')),
  -- Rises with every process that takes the trial, and with its cancellation: only the newest may write.
  fence integer not null default 0,
  lease_until timestamptz,
  run_id uuid,
  duration_ms integer,
  assertions jsonb not null default '[]',
  guard_events jsonb not null default '[]',
  error text,
  started_at timestamptz,
  finished_at timestamptz,
  primary key (tenant_id, test_run_id, trial_id),
  foreign key (tenant_id, test_run_id, place) references parley.test_run_cases
) with (fillfactor = 75);
create index on parley.test_trials (tenant_id, test_run_id, place, trial);
create index on parley.test_trials (tenant_id) where state in ('queued', 'running');

do $$
declare tenant_table text;
begin
  foreach tenant_table in array array['test_runs', 'test_run_cases', 'test_trials'] loop
    execute format('alter table parley.%I enable row level security', tenant_table);
    execute format('alter table parley.%I force row level security', tenant_table);
    execute format('create policy one_tenant on parley.%I to parley_app using (tenant_id = parley.current_tenant()) with check (tenant_id = parley.current_tenant())', tenant_table);
    execute format('create policy system on parley.%I to parley_system using (true) with check (true)', tenant_table);
    execute format('grant select, insert, update, delete on parley.%I to parley_app, parley_system', tenant_table);
  end loop;
end $$;

-- Environments in which a test run waits to start, or a trial for a process.
create function parley.environments_with_trials(after_tenant uuid, at_most integer)
returns table (tenant_id uuid, owner_id uuid, environment text)
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select t.tenant_id, t.owner_id, t.environment
  from parley.tenants t
  where (after_tenant is null or t.tenant_id > after_tenant) and (
    exists (select from parley.test_runs r where r.tenant_id = t.tenant_id and r.state = 'queued')
    or exists (
      select from parley.test_trials x
      where x.tenant_id = t.tenant_id and (x.state = 'queued' or (x.state = 'running' and x.lease_until <= clock_timestamp()))
    )
  )
  order by t.tenant_id limit at_most;
end;
alter function parley.environments_with_trials(uuid, integer) owner to parley_system;
revoke all on function parley.environments_with_trials(uuid, integer) from public;
grant execute on function parley.environments_with_trials(uuid, integer) to parley_app, parley_system;
