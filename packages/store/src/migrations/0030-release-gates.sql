-- Release gates: the tests that a version passes before it becomes the live one, and the keys that sign the result.

-- The version that a trial tests; null: that of its test run. In a gate the trials of the predecessor name it.
alter table parley.test_trials add column version integer;
-- Number of the pair of a gate's comparison, from 0; null: the trial belongs to none.
alter table parley.test_trials add column pair integer;
create index on parley.test_trials (tenant_id, test_run_id, pair) where pair is not null;
-- Whether a gate compares both versions by this case.
alter table parley.test_run_cases add column compared boolean not null default false;

create table parley.release_gates (
  tenant_id uuid not null default parley.current_tenant() references parley.tenants,
  gate_id uuid not null default uuidv7(),
  agent_id text not null,
  candidate integer not null,
  -- The live version when the gate began; null: there was none.
  predecessor integer,
  -- ReleaseGate
  settings jsonb not null,
  -- Null: the version was made live by an override before any test run.
  test_run_id uuid,
  state text not null default 'running' check (state in ('running', 'passed', 'failed', 'superseded', 'overridden', 'cancelled')),
  -- Pairs of the comparison that have been counted, in order, by their results.
  pairs jsonb not null default '{"both": 0, "predecessor_only": 0, "candidate_only": 0, "neither": 0, "unusable": 0}',
  -- Pairs that have trials.
  scheduled integer not null default 0,
  -- GateEvidence
  evidence jsonb,
  -- {reason, by, at}
  override jsonb,
  -- Certificate
  certificate jsonb,
  created_at timestamptz not null default parley.now_ms(),
  decided_at timestamptz,
  primary key (tenant_id, gate_id),
  foreign key (tenant_id, agent_id, candidate) references parley.publications,
  foreign key (tenant_id, agent_id, predecessor) references parley.publications,
  foreign key (tenant_id, test_run_id) references parley.test_runs
);
create index on parley.release_gates (tenant_id, agent_id, candidate, created_at desc);
create unique index on parley.release_gates (tenant_id, test_run_id);
create index on parley.release_gates (tenant_id) where state = 'running';
alter table parley.release_gates enable row level security;
alter table parley.release_gates force row level security;
create policy one_tenant on parley.release_gates to parley_app
  using (tenant_id = parley.current_tenant()) with check (tenant_id = parley.current_tenant());
create policy system on parley.release_gates to parley_system using (true) with check (true);
grant select, insert, update, delete on parley.release_gates to parley_app, parley_system;

-- Ed25519 keys of the platform. The newest signs; the public halves of all stay published.
create table parley.signing_keys (
  version integer primary key,
  -- Raw, 32 bytes.
  public_key bytea not null,
  -- The private key as PKCS #8, sealed.
  sealed bytea not null,
  created_at timestamptz not null default parley.now_ms()
);
-- Engines read the public halves.
grant select on parley.signing_keys to parley_api, parley_worker;
grant select (version, public_key) on parley.signing_keys to parley_engine;
grant select, insert, update on parley.signing_keys to parley_system;

-- As before, and environments in which a gate has its result and waits to move the head.
drop function parley.environments_with_trials(uuid, integer);
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
    or exists (
      select from parley.release_gates g join parley.test_runs r using (tenant_id, test_run_id)
      where g.tenant_id = t.tenant_id and g.state = 'running' and r.state in ('completed', 'cancelled')
    )
  )
  order by t.tenant_id limit at_most;
end;
alter function parley.environments_with_trials(uuid, integer) owner to parley_system;
revoke all on function parley.environments_with_trials(uuid, integer) from public;
grant execute on function parley.environments_with_trials(uuid, integer) to parley_worker, parley_system;
