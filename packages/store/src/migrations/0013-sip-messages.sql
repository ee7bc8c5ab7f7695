-- The SIP messages of a run, without credentials and keys, in the order of `place`. A row without `message` is the last
-- one: further messages were not kept.
create table parley.run_sip_messages (
  tenant_id uuid not null default parley.current_tenant(),
  run_id uuid not null,
  place integer not null check (place >= 1),
  at timestamptz not null,
  direction text not null check (direction in ('in', 'out')),
  transport text not null check (transport in ('udp', 'tcp', 'tls')),
  -- `address:port`
  source text not null,
  destination text not null,
  message text,
  primary key (tenant_id, run_id, place)
);
alter table parley.run_sip_messages enable row level security;
alter table parley.run_sip_messages force row level security;
create policy one_tenant on parley.run_sip_messages to parley_app
  using (tenant_id = parley.current_tenant()) with check (tenant_id = parley.current_tenant());
create policy system on parley.run_sip_messages to parley_system using (true) with check (true);
grant select, insert, update, delete on parley.run_sip_messages to parley_app, parley_system;

-- They are deleted with the run's transcript.
create function parley.forget_sip_messages() returns trigger
language plpgsql set search_path = pg_catalog as $$
begin
  delete from parley.run_sip_messages m where m.tenant_id = new.tenant_id and m.run_id = new.run_id;
  return null;
end $$;
create trigger forget_sip_messages after update of content_expired_at on parley.runs
  for each row when (old.content_expired_at is null and new.content_expired_at is not null)
  execute function parley.forget_sip_messages();
