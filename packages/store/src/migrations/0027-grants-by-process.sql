-- A function that looks across tenants is callable by the processes that need it and by no others: the group roles parley_api,
-- parley_worker and parley_engine. A login of a process is a member of its group and of parley_app, which keeps the rights within a tenant.

set local role parley_system;
do $$
declare
  across record;
  api constant text := 'parley_api';
  worker constant text := 'parley_worker';
  engine constant text := 'parley_engine';
begin
  for across in
    select p.oid::regprocedure as signature from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where n.nspname = 'parley' and p.prosecdef
  loop
    execute format('revoke all on function %s from parley_app', across.signature);
  end loop;
  for across in
    select * from (values
      ('key_of', array[api]),
      ('touch_keys', array[api]),
      ('session_of', array[api]),
      ('touch_sessions', array[api]),
      ('link_of', array[api]),
      ('members_of', array[api]),
      ('make_sandbox', array[api]),
      ('web_call_of', array[api]),
      ('site_key_of', array[api]),
      ('is_site_origin', array[api]),
      ('search_words', array[api, worker, engine]),
      ('renew_runs', array[worker, engine]),
      ('waiting_runs', array[worker, engine]),
      ('telephony_revision', array[engine]),
      ('inbound_trunks', array[engine]),
      ('trunks_reached', array[engine]),
      ('pinged_trunks', array[engine]),
      ('reap_runs', array[worker]),
      ('reap_rested_runs', array[worker]),
      ('expire_runs', array[worker]),
      ('expire_updates', array[worker]),
      ('forget_idempotency', array[worker]),
      ('environments_due', array[worker]),
      ('environments_with_trials', array[worker]),
      ('knowledge_due', array[worker]),
      ('recordings_to_join', array[worker]),
      ('expire_recordings', array[worker]),
      ('expire_transcripts', array[worker]),
      ('take_outbox', array[worker]),
      ('take_analyses', array[worker])
    ) callers (name, groups)
  loop
    execute format('grant execute on function parley.%I to %s', across.name, array_to_string(across.groups, ', '));
  end loop;
end $$;
reset role;

-- The API owns no run and holds no lease.
revoke all on parley.leases, parley.engines from parley_app;
grant select, insert, update, delete on parley.leases, parley.engines to parley_worker, parley_engine;
