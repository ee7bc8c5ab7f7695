-- What an agent remembers of its last call with a number is read from the analysis of that call. Its number is that of the other party.
create index runs_with_number on parley.runs
  (tenant_id, agent_id, (case mode when 'inbound' then from_number else to_number end), ended_at desc)
  where channel = 'phone' and not test and analysis is not null;

-- Numbers whose earlier calls no agent remembers any more.
create table parley.forgotten_numbers (
  tenant_id uuid not null default parley.current_tenant() references parley.tenants,
  phone_number text not null,
  forgotten_at timestamptz not null,
  primary key (tenant_id, phone_number)
);
alter table parley.forgotten_numbers enable row level security;
alter table parley.forgotten_numbers force row level security;
create policy one_tenant on parley.forgotten_numbers for select to parley_app using (tenant_id = parley.current_tenant());
create policy system on parley.forgotten_numbers to parley_system using (true) with check (true);
grant select on parley.forgotten_numbers to parley_app;
grant select, insert, update, delete on parley.forgotten_numbers to parley_system;
