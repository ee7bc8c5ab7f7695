-- Calls without a trunk's token are told apart by their source address and the called number. Several environments may have
-- trunks at the same carrier and import the same number, so that such calls reach only the one whose claim staff confirmed.
alter table parley.numbers add column confirmed_at timestamptz;
create unique index numbers_confirmed on parley.numbers (phone_number) where confirmed_at is not null;

-- Numbers that calls can reach today stay so: of each number the oldest import on a trunk that takes calls.
alter table parley.numbers no force row level security;
alter table parley.trunks no force row level security;
alter table parley.telephony_revisions no force row level security;
update parley.numbers n set confirmed_at = parley.now_ms()
from (
  select distinct on (i.phone_number) i.tenant_id, i.number_id
  from parley.numbers i join parley.trunks k on k.tenant_id = i.tenant_id and k.trunk_id = i.trunk_id
  where k.inbound
  order by i.phone_number, i.created_at, i.number_id
) oldest
where n.tenant_id = oldest.tenant_id and n.number_id = oldest.number_id;
alter table parley.numbers force row level security;
alter table parley.trunks force row level security;
alter table parley.telephony_revisions force row level security;

drop function parley.trunks_reached(uuid[], text[], text[]);
-- Of trunks, each with the number that was called on it, those that have that number: its claim confirmed, unless the call proved
-- its trunk otherwise.
create function parley.trunks_reached(
  of_tenants uuid[], trunks text[], phone_numbers text[], only_confirmed boolean default true
)
returns table (tenant_id uuid, trunk_id text)
language sql stable security definer set search_path = pg_catalog
begin atomic
  select n.tenant_id, n.trunk_id
  from unnest(of_tenants, trunks, phone_numbers) as a (tenant_id, trunk_id, phone_number)
  join parley.numbers n on n.tenant_id = a.tenant_id and n.phone_number = a.phone_number and n.trunk_id = a.trunk_id
  where n.confirmed_at is not null or not only_confirmed
  group by n.tenant_id, n.trunk_id
  order by n.tenant_id, n.trunk_id;
end;
alter function parley.trunks_reached(uuid[], text[], text[], boolean) owner to parley_system;
revoke all on function parley.trunks_reached(uuid[], text[], text[], boolean) from public;
grant execute on function parley.trunks_reached(uuid[], text[], text[], boolean) to parley_app, parley_system;
