-- The registration of each trunk that registers at its carrier, as the engine that holds it last saw it. The lease
-- `registration/TENANT/TRUNK` decides which engine holds it; a row of an older fence never replaces one of a newer.
create table parley.trunk_registrations (
  tenant_id uuid not null default parley.current_tenant(),
  trunk_id text collate "C" not null,
  fence bigint not null,
  engine_id text not null,
  state text not null check (state in ('registering', 'registered', 'failed', 'unregistered')),
  -- Final status of the last REGISTER; null: there was no response.
  sip_status integer,
  detail text not null,
  -- When the binding expires; null: there is none.
  expires_at timestamptz,
  -- Route headers for the trunk's outbound calls (RFC 3608), in their order.
  service_route text[] not null default '{}',
  updated_at timestamptz not null default parley.now_ms(),
  primary key (tenant_id, trunk_id),
  foreign key (tenant_id, trunk_id) references parley.trunks on delete cascade
) with (fillfactor = 50);

alter table parley.trunk_registrations enable row level security;
alter table parley.trunk_registrations force row level security;
create policy one_tenant on parley.trunk_registrations to parley_app using (tenant_id = parley.current_tenant()) with check (tenant_id = parley.current_tenant());
create policy system on parley.trunk_registrations to parley_system using (true) with check (true);
grant select, insert, update, delete on parley.trunk_registrations to parley_app, parley_system;
