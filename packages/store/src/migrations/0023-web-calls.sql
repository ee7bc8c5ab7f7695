-- Web calls: the token that opens one, the browser's offer, the engine's answer, and what the browser said since.
create table parley.web_calls (
  tenant_id uuid not null default parley.current_tenant(),
  run_id uuid not null,
  -- SHA-256 of the token.
  token_hash bytea not null,
  -- The first offer comes before this.
  expires_at timestamptz not null,
  -- SHA-256 of the secret that the first answer carried: with it a page whose path was lost makes another offer.
  resume_hash bytea,
  -- Number of offers so far; offer, answer, refusal and candidates are of the newest.
  attempt integer not null default 0,
  offer text,
  answer text,
  refusal text,
  -- SDP fragments (RFC 8840), in their order.
  candidates text[] not null default '{}',
  hung_up boolean not null default false,
  -- The site whose page makes the call; null: a key of the API.
  site_key_id uuid,
  created_at timestamptz not null default parley.now_ms(),
  primary key (tenant_id, run_id),
  foreign key (tenant_id, run_id) references parley.runs
) with (fillfactor = 75);
create unique index on parley.web_calls (run_id);

-- Keys of web sites: with one a page starts calls of one agent, and does nothing else.
create table parley.site_keys (
  tenant_id uuid not null default parley.current_tenant() references parley.tenants,
  site_key_id uuid not null default uuidv7(),
  name text not null,
  agent_id text not null,
  -- As in the Origin header: scheme, host, port.
  origins text[] not null check (cardinality(origins) between 1 and 20),
  concurrent_limit integer not null check (concurrent_limit > 0),
  daily_limit integer not null check (daily_limit > 0),
  prefix text not null,
  secret_hash bytea not null,
  created_at timestamptz not null default parley.now_ms(),
  revoked_at timestamptz,
  primary key (tenant_id, site_key_id)
);
create unique index on parley.site_keys (secret_hash);
create index on parley.web_calls (tenant_id, site_key_id, created_at) where site_key_id is not null;

do $$
declare tenant_table text;
begin
  foreach tenant_table in array array['web_calls', 'site_keys'] loop
    execute format('alter table parley.%I enable row level security', tenant_table);
    execute format('alter table parley.%I force row level security', tenant_table);
    execute format('create policy one_tenant on parley.%I to parley_app using (tenant_id = parley.current_tenant()) with check (tenant_id = parley.current_tenant())', tenant_table);
    execute format('create policy system on parley.%I to parley_system using (true) with check (true)', tenant_table);
    execute format('grant select, insert, update, delete on parley.%I to parley_app, parley_system', tenant_table);
  end loop;
end $$;

-- The tenant of a web call, whatever it is, and what the presented secret is. Nothing for another secret.
create function parley.web_call_of(of_run uuid, hash bytea)
returns table (tenant_id uuid, owner_id uuid, environment text, secret text)
language sql stable security definer set search_path = pg_catalog
begin atomic
  select w.tenant_id, t.owner_id, t.environment, case when w.token_hash = hash then 'token' else 'resume' end
  from parley.web_calls w join parley.tenants t using (tenant_id)
  where w.run_id = of_run and (w.token_hash = hash or w.resume_hash = hash);
end;
alter function parley.web_call_of owner to parley_system;
revoke all on function parley.web_call_of from public;
grant execute on function parley.web_call_of to parley_app, parley_system;

-- The site key with this secret, whatever the tenant. Nothing for a revoked one.
create function parley.site_key_of(hash bytea)
returns table (
  site_key_id uuid, agent_id text, origins text[], concurrent_limit integer, daily_limit integer,
  tenant_id uuid, owner_id uuid, environment text
)
language sql stable security definer set search_path = pg_catalog
begin atomic
  select k.site_key_id, k.agent_id, k.origins, k.concurrent_limit, k.daily_limit, t.tenant_id, t.owner_id, t.environment
  from parley.site_keys k join parley.tenants t using (tenant_id)
  where k.secret_hash = hash and k.revoked_at is null;
end;
alter function parley.site_key_of owner to parley_system;
revoke all on function parley.site_key_of from public;
grant execute on function parley.site_key_of to parley_app, parley_system;
