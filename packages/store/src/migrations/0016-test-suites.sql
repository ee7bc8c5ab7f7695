-- Suites of test cases. A test run keeps a copy of its suites, so that a suite can be deleted.
create table parley.test_suites (
  tenant_id uuid not null default parley.current_tenant() references parley.tenants,
  suite_id uuid not null default uuidv7(),
  -- The agent whose runs a selector source picks; null: none.
  agent_id text,
  name text not null,
  -- The compare-and-set token.
  revision integer not null default 1 check (revision >= 1),
  -- SHA-256 of {cases, source} in the form of RFC 8785.
  digest text not null,
  -- [TestCase]
  cases jsonb not null,
  case_count integer not null,
  -- SuiteSource; null: none.
  source jsonb,
  created_by jsonb not null,
  created_at timestamptz not null default parley.now_ms(),
  updated_at timestamptz not null default parley.now_ms(),
  primary key (tenant_id, suite_id)
);
create index on parley.test_suites (tenant_id, created_at desc, suite_id);

alter table parley.test_suites enable row level security;
alter table parley.test_suites force row level security;
create policy one_tenant on parley.test_suites to parley_app using (tenant_id = parley.current_tenant()) with check (tenant_id = parley.current_tenant());
create policy system on parley.test_suites to parley_system using (true) with check (true);
grant select, insert, update, delete on parley.test_suites to parley_app, parley_system;
