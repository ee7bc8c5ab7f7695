-- Organisations, environments, keys, secrets, agents, telephony, idempotency and audit.
--
-- Roles (made before migrations run): parley_app, whose members serve requests and see one tenant at a time;
-- parley_system, which owns the named functions that must look across tenants and is what staff commands act as.
-- Neither owns a table, is superuser or has BYPASSRLS. The schema parley exists before the first migration, too.

grant usage on schema parley to parley_app, parley_system;

-- What a transaction may see. Unset or empty: nothing.
create function parley.current_tenant() returns uuid language sql stable parallel safe
  return nullif(current_setting('parley.tenant', true), '')::uuid;
create function parley.current_owner() returns uuid language sql stable parallel safe
  return nullif(current_setting('parley.owner', true), '')::uuid;

-- Milliseconds are what the API shows; finer instants would sort unlike what is shown.
create function parley.now_ms() returns timestamptz language sql volatile parallel safe
  return date_trunc('milliseconds', clock_timestamp());

create table parley.organisations (
  owner_id uuid primary key default uuidv7(),
  name text not null,
  created_at timestamptz not null default parley.now_ms()
);

create table parley.tenants (
  tenant_id uuid primary key default uuidv7(),
  owner_id uuid not null references parley.organisations,
  environment text not null check (environment in ('production', 'sandbox')),
  name text not null,
  display_name text,
  admission_enabled boolean not null default false,
  concurrent_capacity integer check (concurrent_capacity between 0 and 100000),
  daily_call_limit integer check (daily_call_limit between 0 and 1000000),
  -- Null: the platform's default rate.
  rate_per_second integer check (rate_per_second > 0),
  rate_burst integer check (rate_burst > 0),
  -- {countries: [..], allow_prefixes: [..]}; null: the countries of the environment's own numbers.
  destinations jsonb,
  recording_days integer not null default 90,
  transcript_days integer not null default 365,
  document_days integer,
  -- 0: still the platform's default.
  retention_version integer not null default 0,
  created_at timestamptz not null default parley.now_ms(),
  unique (owner_id, environment)
);

create table parley.api_keys (
  key_id uuid primary key default uuidv7(),
  tenant_id uuid not null default parley.current_tenant() references parley.tenants,
  name text not null,
  role text not null check (role in ('viewer', 'member', 'admin')),
  can_dial boolean not null default false,
  prefix text not null,
  -- SHA-256 of the secret, which has 238 bits: nothing slower is needed.
  secret_hash bytea not null unique,
  previous_hash bytea unique,
  previous_until timestamptz,
  created_at timestamptz not null default parley.now_ms(),
  last_used_at timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz
);
create index on parley.api_keys (tenant_id, created_at desc, key_id);
-- How many are active is counted with each new one, however many were revoked before.
create index on parley.api_keys (tenant_id) where revoked_at is null;

-- Lists ordered by an id or a phone number compare code points, whatever the cluster's locale.
create table parley.secrets (
  tenant_id uuid not null default parley.current_tenant() references parley.tenants,
  secret_id text collate "C" not null,
  kind text not null,
  -- Never falls, also over a deletion: an old pin must not open a new value.
  version integer not null,
  created_at timestamptz not null default parley.now_ms(),
  updated_at timestamptz not null default parley.now_ms(),
  deleted_at timestamptz,
  primary key (tenant_id, secret_id)
);

create table parley.secret_versions (
  tenant_id uuid not null default parley.current_tenant(),
  secret_id text collate "C" not null,
  version integer not null,
  sealed bytea not null,
  created_at timestamptz not null default parley.now_ms(),
  primary key (tenant_id, secret_id, version),
  foreign key (tenant_id, secret_id) references parley.secrets
);

create table parley.agents (
  tenant_id uuid not null default parley.current_tenant() references parley.tenants,
  agent_id text not null,
  name text not null,
  -- Compared byte by byte, since row security lets an index be searched by nothing else than plain columns.
  sort_name text collate "C" not null generated always as (lower(name collate "pg_c_utf8")) stored,
  created_at timestamptz not null default parley.now_ms(),
  -- The head's publish time, else created_at.
  updated_at timestamptz not null default parley.now_ms(),
  archived_at timestamptz,
  head_version integer,
  -- Of the head; empty without one.
  head_channels text[] not null default '{}',
  next_version integer not null default 0,
  primary key (tenant_id, agent_id)
);
create index on parley.agents (tenant_id, updated_at desc, agent_id) where archived_at is null;
create index on parley.agents (tenant_id, sort_name, agent_id) where archived_at is null;

create table parley.drafts (
  tenant_id uuid not null default parley.current_tenant(),
  draft_id uuid not null default uuidv7(),
  agent_id text not null,
  revision integer not null default 1,
  base_version integer,
  published_revision integer,
  -- A draft from its name on (DraftContent).
  content jsonb not null,
  -- The revision an import wrote: equal to `revision` while nobody edited since.
  imported_revision integer,
  -- SHA-256 of what was imported, to know the same export again.
  import_digest text,
  updated_at timestamptz not null default parley.now_ms(),
  primary key (tenant_id, draft_id),
  unique (tenant_id, agent_id),
  foreign key (tenant_id, agent_id) references parley.agents
);

create table parley.publications (
  tenant_id uuid not null default parley.current_tenant(),
  agent_id text not null,
  version integer not null,
  digest text not null,
  plan_schema_version integer not null,
  channels text[] not null,
  languages text[] not null,
  source_kind text not null check (source_kind in ('studio', 'agent_import', 'api')),
  published_at timestamptz not null default parley.now_ms(),
  published_by jsonb not null,
  test boolean not null,
  draft_id uuid not null,
  draft_revision integer not null,
  plan jsonb not null,
  draft jsonb not null,
  warnings jsonb not null,
  primary key (tenant_id, agent_id, version),
  foreign key (tenant_id, agent_id) references parley.agents
);
create unique index on parley.publications (tenant_id, draft_id, draft_revision, test);

create table parley.trunks (
  tenant_id uuid not null default parley.current_tenant() references parley.tenants,
  trunk_id text collate "C" not null,
  name text not null,
  provider text not null,
  termination_uri text not null,
  auth_username text,
  auth_secret_id text,
  auth_secret_version text,
  inbound boolean not null,
  -- The user of the inbound SIP URI; null where inbound is off.
  inbound_token text unique,
  -- What staff set: port, transport, media, source, country, cps, profile, identity, register.
  details jsonb not null default '{}',
  created_at timestamptz not null default parley.now_ms(),
  updated_at timestamptz not null default parley.now_ms(),
  primary key (tenant_id, trunk_id)
);

create table parley.numbers (
  tenant_id uuid not null default parley.current_tenant(),
  number_id uuid not null default uuidv7(),
  phone_number text collate "C" not null,
  trunk_id text collate "C" not null,
  name text,
  agent_id text,
  -- Null follows the agent's head.
  version integer,
  created_at timestamptz not null default parley.now_ms(),
  updated_at timestamptz not null default parley.now_ms(),
  primary key (tenant_id, number_id),
  unique (tenant_id, phone_number),
  foreign key (tenant_id, trunk_id) references parley.trunks,
  foreign key (tenant_id, agent_id) references parley.agents
);
create index on parley.numbers (tenant_id, trunk_id);
create index on parley.numbers (tenant_id, agent_id);

-- What a DELETE answered, so that repeating it answers the same.
create table parley.tombstones (
  tenant_id uuid not null default parley.current_tenant() references parley.tenants,
  kind text not null,
  id text not null,
  answer jsonb not null,
  deleted_at timestamptz not null default parley.now_ms(),
  primary key (tenant_id, kind, id)
);

-- Outbound calls by minute, for the daily limit.
create table parley.call_minutes (
  tenant_id uuid not null default parley.current_tenant() references parley.tenants,
  minute timestamptz not null,
  calls integer not null,
  primary key (tenant_id, minute)
);

create table parley.idempotency (
  tenant_id uuid not null default parley.current_tenant() references parley.tenants,
  -- `api_key/<uuid>`, `user/<uuid>`.
  principal text not null,
  operation text not null,
  key text not null,
  -- SHA-256 of path, query and RFC 8785 form of the body.
  request_hash bytea not null,
  -- Null while an external operation runs under its lease.
  status integer,
  -- The sealed answer.
  answer bytea,
  lease_until timestamptz,
  intent jsonb,
  created_at timestamptz not null default parley.now_ms(),
  primary key (tenant_id, principal, operation, key)
);
create index on parley.idempotency (created_at);

create table parley.audit (
  tenant_id uuid not null default parley.current_tenant() references parley.tenants,
  audit_id uuid not null default uuidv7(),
  occurred_at timestamptz not null default parley.now_ms(),
  principal jsonb not null,
  action text not null,
  resource_kind text,
  resource_id text,
  outcome text not null check (outcome in ('allowed', 'denied', 'failed')),
  request_id text,
  primary key (tenant_id, audit_id)
);
create index on parley.audit (tenant_id, occurred_at desc, audit_id);

-- Ownership of something by a process: a lease on the database's clock, and a fence that rises with each owner.
create table parley.leases (
  name text primary key,
  owner text,
  fence bigint not null default 0,
  expires_at timestamptz not null
);

-- A value known to all, sealed under each version of the master key in use: a wrong key shows at the start.
create table parley.master_key_checks (
  version integer primary key,
  sealed bytea not null
);
grant select, insert, delete on parley.master_key_checks to parley_system;

do $$
declare tenant_table text;
begin
  foreach tenant_table in array array[
    'api_keys', 'secrets', 'secret_versions', 'agents', 'drafts', 'publications', 'trunks', 'numbers',
    'tombstones', 'call_minutes', 'idempotency', 'audit'
  ] loop
    execute format('alter table parley.%I enable row level security', tenant_table);
    execute format('alter table parley.%I force row level security', tenant_table);
    execute format('create policy one_tenant on parley.%I to parley_app using (tenant_id = parley.current_tenant()) with check (tenant_id = parley.current_tenant())', tenant_table);
    execute format('create policy system on parley.%I to parley_system using (true) with check (true)', tenant_table);
    execute format('grant select, insert, update, delete on parley.%I to parley_app, parley_system', tenant_table);
  end loop;
end $$;

-- An organisation sees itself and its environments: the sandbox is made and listed from production.
alter table parley.organisations enable row level security;
alter table parley.organisations force row level security;
create policy one_owner on parley.organisations to parley_app using (owner_id = parley.current_owner());
create policy system on parley.organisations to parley_system using (true) with check (true);
grant select on parley.organisations to parley_app;
grant select, insert, update on parley.organisations to parley_system;

alter table parley.tenants enable row level security;
alter table parley.tenants force row level security;
create policy one_owner on parley.tenants to parley_app
  using (owner_id = parley.current_owner()) with check (owner_id = parley.current_owner());
create policy system on parley.tenants to parley_system using (true) with check (true);
grant select, insert, update on parley.tenants to parley_app, parley_system;

grant select, insert, update, delete on parley.leases to parley_app, parley_system;

-- Who a key's secret belongs to, whatever the tenant. Nothing for a revoked or expired key.
create function parley.key_of(hash bytea)
returns table (
  key_id uuid, role text, can_dial boolean, expires_at timestamptz, valid_until timestamptz,
  tenant_id uuid, owner_id uuid, environment text, rate_per_second integer, rate_burst integer
)
language sql stable security definer set search_path = pg_catalog
begin atomic
  select k.key_id, k.role, k.can_dial, k.expires_at,
    case when k.secret_hash = hash then k.expires_at
      else least(k.previous_until, k.expires_at) end,
    t.tenant_id, t.owner_id, t.environment, t.rate_per_second, t.rate_burst
  from parley.api_keys k join parley.tenants t using (tenant_id)
  where k.revoked_at is null
    and (k.expires_at is null or k.expires_at > now())
    and (k.secret_hash = hash or (k.previous_hash = hash and k.previous_until > now()));
end;
alter function parley.key_of owner to parley_system;
revoke all on function parley.key_of from public;
grant execute on function parley.key_of to parley_app, parley_system;

-- Written at most once a minute per key, in batches, whatever the tenants.
create function parley.touch_keys(keys uuid[]) returns void
language sql security definer set search_path = pg_catalog
begin atomic
  update parley.api_keys set last_used_at = parley.now_ms()
  where key_id = any (keys) and (last_used_at is null or last_used_at < now() - interval '1 minute');
end;
alter function parley.touch_keys owner to parley_system;
revoke all on function parley.touch_keys from public;
grant execute on function parley.touch_keys to parley_app, parley_system;

-- Records older than `keep` go, a bounded number at a time; answers how many went.
create function parley.forget_idempotency(keep interval, at_most integer) returns integer
language sql security definer set search_path = pg_catalog
begin atomic
  with gone as (
    delete from parley.idempotency
    where ctid = any (array(select ctid from parley.idempotency where created_at < now() - keep limit at_most))
    returning 1
  )
  select count(*)::integer from gone;
end;
alter function parley.forget_idempotency owner to parley_system;
revoke all on function parley.forget_idempotency from public;
grant execute on function parley.forget_idempotency to parley_app, parley_system;

-- The sandbox of the organisation whose production environment asks, and its first admin key, at most once: nothing when
-- there is a sandbox already. Who asks at the same time waits for the first.
create function parley.make_sandbox(key_name text, key_prefix text, key_hash bytea)
returns table (key_id uuid, created_at timestamptz)
language sql security definer set search_path = pg_catalog
begin atomic
  with made as (
    insert into parley.tenants (owner_id, environment, name)
    select t.owner_id, 'sandbox', t.name || ' (sandbox)' from parley.tenants t
    where t.tenant_id = parley.current_tenant() and t.owner_id = parley.current_owner()
      and t.environment = 'production'
    on conflict (owner_id, environment) do nothing
    returning tenant_id
  )
  insert into parley.api_keys (tenant_id, name, role, prefix, secret_hash)
  select made.tenant_id, key_name, 'admin', key_prefix, key_hash from made
  returning api_keys.key_id, api_keys.created_at;
end;
alter function parley.make_sandbox owner to parley_system;
revoke all on function parley.make_sandbox from public;
grant execute on function parley.make_sandbox to parley_app, parley_system;
