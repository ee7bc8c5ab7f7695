-- The log of a run's inputs, sealed; see packages/conversation/src/replay.
create table parley.run_inputs (
  tenant_id uuid not null default parley.current_tenant(),
  run_id uuid not null,
  sealed bytea not null,
  -- It has placeholders in place of words, and cannot be replayed.
  redacted boolean not null,
  primary key (tenant_id, run_id)
);
alter table parley.run_inputs alter column sealed set storage external;
alter table parley.run_inputs enable row level security;
alter table parley.run_inputs force row level security;
create policy one_tenant on parley.run_inputs to parley_app
  using (tenant_id = parley.current_tenant()) with check (tenant_id = parley.current_tenant());
create policy system on parley.run_inputs to parley_system using (true) with check (true);
grant select, insert, update, delete on parley.run_inputs to parley_app, parley_system;

-- It is deleted with the run's transcript.
create function parley.forget_inputs() returns trigger
language plpgsql set search_path = pg_catalog as $$
begin
  delete from parley.run_inputs i where i.tenant_id = new.tenant_id and i.run_id = new.run_id;
  return null;
end $$;
create trigger forget_inputs after update of content_expired_at on parley.runs
  for each row when (old.content_expired_at is null and new.content_expired_at is not null)
  execute function parley.forget_inputs();

-- {run_id, version, after_change}: the test run replays this run; null: it executes suites.
alter table parley.test_runs add column replay jsonb;
-- {changes, turns}: what the replay of a trial found; null: it is none, or has not ended.
alter table parley.test_trials add column replay jsonb;
