-- What engines need to know of trunks and numbers, and how fast a trunk takes calls.

-- Rises with every change of an environment's trunks or numbers, in the transaction that changes them: who polls the sum
-- misses none. A sequence would rise before the commit, and a poll in between would see the new count with the old rows.
create table parley.telephony_revisions (
  tenant_id uuid primary key default parley.current_tenant() references parley.tenants,
  revision bigint not null
) with (fillfactor = 50);

-- When a trunk takes its next call, over all engines.
create table parley.trunk_slots (
  tenant_id uuid not null default parley.current_tenant() references parley.tenants,
  trunk_id text collate "C" not null,
  next_at timestamptz not null,
  primary key (tenant_id, trunk_id)
) with (fillfactor = 50);

do $$
declare tenant_table text;
begin
  foreach tenant_table in array array['telephony_revisions', 'trunk_slots'] loop
    execute format('alter table parley.%I enable row level security', tenant_table);
    execute format('alter table parley.%I force row level security', tenant_table);
    execute format('create policy one_tenant on parley.%I to parley_app using (tenant_id = parley.current_tenant()) with check (tenant_id = parley.current_tenant())', tenant_table);
    execute format('create policy system on parley.%I to parley_system using (true) with check (true)', tenant_table);
    execute format('grant select, insert, update, delete on parley.%I to parley_app, parley_system', tenant_table);
  end loop;
end $$;

create function parley.note_telephony_change() returns trigger
language plpgsql set search_path = pg_catalog as $$
begin
  insert into parley.telephony_revisions as r (tenant_id, revision)
    -- In order, so that statements over several environments never wait for each other in a circle.
    select distinct c.tenant_id, 1 from changed c order by c.tenant_id
    on conflict (tenant_id) do update set revision = r.revision + 1;
  return null;
end $$;

do $$
declare watched text;
begin
  foreach watched in array array['trunks', 'numbers'] loop
    execute format('create trigger telephony_insert after insert on parley.%I referencing new table as changed for each statement execute function parley.note_telephony_change()', watched);
    execute format('create trigger telephony_update after update on parley.%I referencing new table as changed for each statement execute function parley.note_telephony_change()', watched);
    execute format('create trigger telephony_delete after delete on parley.%I referencing old table as changed for each statement execute function parley.note_telephony_change()', watched);
  end loop;
end $$;

-- Lets one call begin on a trunk, at most `per_second` of them evenly: no two closer than its inverse, whoever asks. 0: it
-- may; else the ms until one may. The row stays locked until the transaction ends; rolled back, the slot is free again.
create function parley.take_call_slot(of_tenant uuid, of_trunk text, per_second double precision) returns double precision
language plpgsql set search_path = pg_catalog as $$
declare
  apart interval := interval '1 second' / per_second;
  free_at timestamptz;
begin
  insert into parley.trunk_slots (tenant_id, trunk_id, next_at) values (of_tenant, of_trunk, '-infinity')
    on conflict do nothing;
  select s.next_at into free_at from parley.trunk_slots s
    where s.tenant_id = of_tenant and s.trunk_id = of_trunk for no key update;
  -- A rate that was raised holds at once: nobody waits longer than it asks for.
  free_at := least(free_at, clock_timestamp() + apart);
  if free_at > clock_timestamp() then
    return greatest(extract(epoch from free_at - clock_timestamp()) * 1000, 1);
  end if;
  update parley.trunk_slots s set next_at = clock_timestamp() + apart
    where s.tenant_id = of_tenant and s.trunk_id = of_trunk;
  return 0;
end $$;

-- What follows looks across tenants, for engines.

create function parley.telephony_revision() returns text
language sql stable security definer set search_path = pg_catalog
begin atomic
  select coalesce(sum(r.revision), 0)::text from parley.telephony_revisions r;
end;

-- Trunks that take calls, all of them. Of the token of their SIP URI only its SHA-256.
create function parley.inbound_trunks()
returns table (
  tenant_id uuid, owner_id uuid, environment text, trunk_id text, name text, token_sha256 text, termination_uri text,
  details jsonb, first_number text
)
language sql stable security definer set search_path = pg_catalog
begin atomic
  select k.tenant_id, t.owner_id, t.environment, k.trunk_id, k.name,
    encode(sha256(convert_to(k.inbound_token, 'UTF8')), 'hex'), k.termination_uri, k.details,
    (
      select n.phone_number from parley.numbers n
      where n.tenant_id = k.tenant_id and n.trunk_id = k.trunk_id order by n.created_at, n.number_id limit 1
    )
  from parley.trunks k join parley.tenants t using (tenant_id)
  where k.inbound and k.inbound_token is not null
  order by k.tenant_id, k.trunk_id;
end;

-- Of trunks, each with the number that was called on it, those that have that number.
create function parley.trunks_reached(of_tenants uuid[], trunks text[], phone_numbers text[])
returns table (tenant_id uuid, trunk_id text)
language sql stable security definer set search_path = pg_catalog
begin atomic
  select n.tenant_id, n.trunk_id
  from unnest(of_tenants, trunks, phone_numbers) as a (tenant_id, trunk_id, phone_number)
  join parley.numbers n on n.tenant_id = a.tenant_id and n.phone_number = a.phone_number and n.trunk_id = a.trunk_id
  group by n.tenant_id, n.trunk_id
  order by n.tenant_id, n.trunk_id;
end;

do $$
declare across text;
begin
  foreach across in array array['telephony_revision', 'inbound_trunks', 'trunks_reached'] loop
    execute format('alter function parley.%I owner to parley_system', across);
    execute format('revoke all on function parley.%I from public', across);
    execute format('grant execute on function parley.%I to parley_app, parley_system', across);
  end loop;
end $$;
