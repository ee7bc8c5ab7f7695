-- What the application's role may do is narrowed to what it does.

-- Functions with the rights of parley_system look names up in pg_catalog first and among temporary objects last, where somebody else's
-- object can never stand before a name.
set local role parley_system;
do $$
declare definer regprocedure;
begin
  for definer in
    select p.oid::regprocedure from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where n.nspname = 'parley' and p.prosecdef
  loop
    execute format('alter function %s set search_path = pg_catalog, pg_temp', definer);
  end loop;
end $$;
reset role;

-- Leases and engines belong to processes: a session in the scope of a tenant sees and changes none.
do $$
declare of_processes text;
begin
  foreach of_processes in array array['leases', 'engines'] loop
    execute format('alter table parley.%I enable row level security', of_processes);
    execute format('alter table parley.%I force row level security', of_processes);
    execute format('create policy processes on parley.%I to parley_app using (parley.current_tenant() is null) with check (parley.current_tenant() is null)', of_processes);
    execute format('create policy system on parley.%I to parley_system using (true) with check (true)', of_processes);
  end loop;
end $$;

-- An environment reads the others of its organisation, and changes its own row alone. New ones are made by functions and by staff.
drop policy one_owner on parley.tenants;
create policy read_one_owner on parley.tenants for select to parley_app using (owner_id = parley.current_owner());
create policy change_one_tenant on parley.tenants for update to parley_app
  using (tenant_id = parley.current_tenant()) with check (tenant_id = parley.current_tenant() and owner_id = parley.current_owner());
revoke insert on parley.tenants from parley_app;
