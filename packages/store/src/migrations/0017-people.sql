-- The people of an organisation: members, invitations, login links, console sessions. Tokens are stored as SHA-256 only.

create table parley.members (
  user_id uuid primary key default uuidv7(),
  owner_id uuid not null default parley.current_owner() references parley.organisations,
  email text not null,
  -- Two addresses that differ in case only belong to one person.
  email_key text collate "C" not null generated always as (lower(email collate "pg_c_utf8")) stored,
  name text,
  role text not null check (role in ('viewer', 'member', 'admin')),
  created_at timestamptz not null default parley.now_ms(),
  last_seen_at timestamptz,
  removed_at timestamptz
);
create unique index on parley.members (owner_id, email_key) where removed_at is null;
create index on parley.members (email_key) where removed_at is null;

create table parley.invitations (
  invitation_id uuid primary key default uuidv7(),
  owner_id uuid not null default parley.current_owner() references parley.organisations,
  email text not null,
  email_key text collate "C" not null generated always as (lower(email collate "pg_c_utf8")) stored,
  role text not null check (role in ('viewer', 'member', 'admin')),
  invited_by jsonb not null,
  token_hash bytea not null unique,
  created_at timestamptz not null default parley.now_ms(),
  sent_at timestamptz not null default parley.now_ms(),
  expires_at timestamptz not null,
  accepted_at timestamptz,
  revoked_at timestamptz
);
create unique index on parley.invitations (owner_id, email_key) where accepted_at is null and revoked_at is null;

-- A link by e-mail that opens a session once.
create table parley.login_links (
  token_hash bytea primary key,
  owner_id uuid not null default parley.current_owner() references parley.organisations,
  user_id uuid not null references parley.members,
  created_at timestamptz not null default parley.now_ms(),
  expires_at timestamptz not null
);
create index on parley.login_links (user_id);

-- A console session of a member, or of an API key, with the key's rights.
create table parley.sessions (
  session_id uuid primary key default uuidv7(),
  owner_id uuid not null default parley.current_owner() references parley.organisations,
  token_hash bytea not null unique,
  user_id uuid references parley.members,
  key_id uuid references parley.api_keys,
  -- The hash of the key's secret that was traded: the session ends with that secret.
  key_hash bytea,
  created_at timestamptz not null default parley.now_ms(),
  last_used_at timestamptz not null default parley.now_ms(),
  check ((user_id is null) <> (key_id is null)),
  check ((key_id is null) = (key_hash is null))
);
create index on parley.sessions (owner_id, created_at);
create index on parley.sessions (user_id);
create index on parley.sessions (key_id);

-- The member that started a run; null: an API key, an inbound call or a job.
alter table parley.runs add column user_id uuid;

do $$
declare owner_table text;
begin
  foreach owner_table in array array['members', 'invitations', 'login_links', 'sessions'] loop
    execute format('alter table parley.%I enable row level security', owner_table);
    execute format('alter table parley.%I force row level security', owner_table);
    execute format('create policy one_owner on parley.%I to parley_app using (owner_id = parley.current_owner()) with check (owner_id = parley.current_owner())', owner_table);
    execute format('create policy system on parley.%I to parley_system using (true) with check (true)', owner_table);
    execute format('grant select, insert, update, delete on parley.%I to parley_app, parley_system', owner_table);
  end loop;
end $$;

-- Whether a session is within its limits: 12 hours after its last use, 30 days after its start.
create function parley.session_end(created timestamptz, used timestamptz) returns timestamptz language sql immutable parallel safe
  return least(used + interval '12 hours', created + interval '30 days');

-- Who a session's token belongs to, in the environment that the request names; a key's session has the key's environment.
-- tenant_id is null if the member's organisation has no such environment. Nothing for a session that has ended.
create function parley.session_of(hash bytea, wanted text)
returns table (
  session_id uuid, user_id uuid, key_id uuid, key_hash bytea, role text, can_dial boolean, valid_until timestamptz,
  tenant_id uuid, owner_id uuid, environment text, rate_per_second integer, rate_burst integer
)
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select s.session_id, s.user_id, null::uuid, null::bytea, m.role, m.role = 'admin',
    parley.session_end(s.created_at, s.last_used_at), t.tenant_id, s.owner_id, wanted, t.rate_per_second, t.rate_burst
  from parley.sessions s
  join parley.members m on m.user_id = s.user_id
  left join parley.tenants t on t.owner_id = s.owner_id and t.environment = wanted
  where s.token_hash = hash and m.removed_at is null and parley.session_end(s.created_at, s.last_used_at) > now()
  union all
  select s.session_id, null::uuid, s.key_id, s.key_hash, k.role, k.can_dial,
    least(parley.session_end(s.created_at, s.last_used_at), k.expires_at,
      case when k.secret_hash <> s.key_hash then k.previous_until end),
    t.tenant_id, t.owner_id, t.environment, t.rate_per_second, t.rate_burst
  from parley.sessions s
  join parley.api_keys k on k.key_id = s.key_id
  join parley.tenants t on t.tenant_id = k.tenant_id
  where s.token_hash = hash and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())
    and (k.secret_hash = s.key_hash or (k.previous_hash = s.key_hash and k.previous_until > now()))
    and parley.session_end(s.created_at, s.last_used_at) > now();
end;

-- Written at most once a minute per session, in batches, whatever the organisations.
create function parley.touch_sessions(ids uuid[]) returns void
language sql security definer set search_path = pg_catalog, pg_temp
begin atomic
  with used as (
    update parley.sessions set last_used_at = parley.now_ms()
    where session_id = any (ids) and last_used_at < now() - interval '1 minute'
      and parley.session_end(created_at, last_used_at) > now()
    returning user_id
  )
  update parley.members m set last_seen_at = parley.now_ms() from used where m.user_id = used.user_id;
end;

-- The organisation, by its production environment, whose invitation or login link has this token and is still good.
create function parley.link_of(hash bytea)
returns table (kind text, tenant_id uuid, owner_id uuid, environment text)
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select found.kind, t.tenant_id, t.owner_id, t.environment
  from (
    select 'login' as kind, l.owner_id from parley.login_links l join parley.members m on m.user_id = l.user_id
    where l.token_hash = hash and l.expires_at > now() and m.removed_at is null
    union all
    select 'invitation', i.owner_id from parley.invitations i
    where i.token_hash = hash and i.expires_at > now() and i.accepted_at is null and i.revoked_at is null
  ) found join parley.tenants t on t.owner_id = found.owner_id and t.environment = 'production';
end;

-- The members with this e-mail address, in every organisation, at most 20.
create function parley.members_of(address text)
returns table (user_id uuid, email text, organisation text, tenant_id uuid, owner_id uuid, environment text)
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select m.user_id, m.email, o.name, t.tenant_id, t.owner_id, t.environment
  from parley.members m
  join parley.organisations o on o.owner_id = m.owner_id
  join parley.tenants t on t.owner_id = m.owner_id and t.environment = 'production'
  where m.email_key = lower(address collate "pg_c_utf8") collate "C" and m.removed_at is null
  order by m.created_at, m.user_id limit 20;
end;

do $$
declare signature text;
begin
  foreach signature in array array['session_of(bytea, text)', 'touch_sessions(uuid[])', 'link_of(bytea)', 'members_of(text)'] loop
    execute format('alter function parley.%s owner to parley_system', signature);
    execute format('revoke all on function parley.%s from public', signature);
    execute format('grant execute on function parley.%s to parley_app, parley_system', signature);
  end loop;
end $$;
