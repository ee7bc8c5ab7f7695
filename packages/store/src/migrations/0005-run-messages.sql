-- What is said in chats through the API, each answered by the agent's turn.

create table parley.run_messages (
  tenant_id uuid not null default parley.current_tenant(),
  run_id uuid not null,
  -- Follows from who asked with which key, so that a repetition finds it.
  message_id uuid not null,
  place bigint generated always as identity,
  text text not null,
  state text not null default 'waiting' check (state in ('waiting', 'taken', 'answered', 'refused')),
  -- {state, utterances}: the run's state after the turn, and what was said in it.
  answer jsonb,
  -- Why it was refused.
  reason text,
  created_at timestamptz not null default parley.now_ms(),
  answered_at timestamptz,
  primary key (tenant_id, run_id, message_id)
);
-- One turn at a time.
create unique index one_turn on parley.run_messages (tenant_id, run_id) where state in ('waiting', 'taken');

alter table parley.run_messages enable row level security;
alter table parley.run_messages force row level security;
create policy one_tenant on parley.run_messages to parley_app
  using (tenant_id = parley.current_tenant()) with check (tenant_id = parley.current_tenant());
create policy system on parley.run_messages to parley_system using (true) with check (true);
grant select, insert, update, delete on parley.run_messages to parley_app, parley_system;

-- Whoever makes a chat terminal: what nobody answered is refused with it.
create function parley.refuse_messages() returns trigger
language plpgsql set search_path = pg_catalog as $$
begin
  update parley.run_messages m set state = 'refused', reason = 'run_ended', answered_at = parley.now_ms()
    where m.tenant_id = old.tenant_id and m.run_id = old.run_id and m.state in ('waiting', 'taken');
  return null;
end $$;
create trigger refuse_messages after delete on parley.run_ownership
  for each row when (old.kind = 'chat') execute function parley.refuse_messages();

-- What was said goes with the transcript.
create function parley.forget_messages() returns trigger
language plpgsql set search_path = pg_catalog as $$
begin
  delete from parley.run_messages m where m.tenant_id = new.tenant_id and m.run_id = new.run_id;
  return null;
end $$;
create trigger forget_messages after update of state on parley.run_transcripts
  for each row when (new.state = 'expired') execute function parley.forget_messages();
