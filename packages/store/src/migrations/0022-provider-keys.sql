-- The keys of model and speech services that an environment uses in place of the platform's.
create table parley.provider_keys (
  tenant_id uuid not null default parley.current_tenant() references parley.tenants,
  provider text collate "C" not null,
  sealed bytea not null,
  last4 text not null,
  -- Base URL of the service; null: the provider's own.
  endpoint text,
  -- Language models that the service named when it was checked; empty: those that the platform knows.
  models text[] not null,
  checked_at timestamptz not null,
  created_at timestamptz not null default parley.now_ms(),
  updated_at timestamptz not null default parley.now_ms(),
  primary key (tenant_id, provider)
);

alter table parley.provider_keys enable row level security;
alter table parley.provider_keys force row level security;
create policy one_tenant on parley.provider_keys to parley_app using (tenant_id = parley.current_tenant()) with check (tenant_id = parley.current_tenant());
create policy system on parley.provider_keys to parley_system using (true) with check (true);
grant select, insert, update, delete on parley.provider_keys to parley_app, parley_system;
