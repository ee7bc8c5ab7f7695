-- Whether members may listen to live calls of the environment.
alter table parley.tenants add listening_enabled boolean not null default true;

-- Browsers that listen to a live call: their offer, and the engine's answer to it.
create table parley.call_listeners (
  tenant_id uuid not null default parley.current_tenant(),
  run_id uuid not null,
  listener_id uuid not null default parley.uuidv7(),
  offer text not null,
  -- The engine has read the offer.
  taken boolean not null default false,
  answer text,
  refusal text,
  created_at timestamptz not null default parley.now_ms(),
  primary key (tenant_id, run_id, listener_id),
  foreign key (tenant_id, run_id) references parley.runs
);
alter table parley.call_listeners enable row level security;
alter table parley.call_listeners force row level security;
create policy one_tenant on parley.call_listeners to parley_app
  using (tenant_id = parley.current_tenant()) with check (tenant_id = parley.current_tenant());
create policy system on parley.call_listeners to parley_system using (true) with check (true);
grant select, insert, update, delete on parley.call_listeners to parley_app, parley_system;

-- When a call ends, what was exchanged to connect browsers is removed, and with it the oldest web calls of the environment. A web call stays
-- for 25 hours, because calls of a site key count for 24.
create function parley.forget_signalling() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  delete from parley.call_listeners l where l.tenant_id = old.tenant_id and l.run_id = old.run_id;
  if old.kind = 'web' then
    update parley.web_calls w set offer = null, answer = null, candidates = '{}'
      where w.tenant_id = old.tenant_id and w.run_id = old.run_id;
    delete from parley.web_calls w using (
      select o.tenant_id, o.run_id from parley.web_calls o
      where o.tenant_id = old.tenant_id
      order by o.run_id limit 20 for update skip locked
    ) oldest
    where w.tenant_id = oldest.tenant_id and w.run_id = oldest.run_id and w.created_at < now() - interval '25 hours'
      and not exists (select from parley.run_ownership live where live.run_id = w.run_id);
  end if;
  return null;
end $$;
create trigger forget_signalling after delete on parley.run_ownership
  for each row when (old.kind in ('phone', 'web')) execute function parley.forget_signalling();
