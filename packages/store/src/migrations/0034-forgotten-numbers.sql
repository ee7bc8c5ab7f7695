-- A call is remembered for a year at most, so that a number that was forgotten longer ago changes nothing any more.
create function parley.prune_forgotten_numbers(at_most integer) returns integer
language sql security definer set search_path = pg_catalog, pg_temp
begin atomic
  with gone as (
    delete from parley.forgotten_numbers
    where ctid = any (array(
      select ctid from parley.forgotten_numbers where forgotten_at < now() - interval '366 days' limit at_most
    ))
    returning 1
  )
  select count(*)::integer from gone;
end;
alter function parley.prune_forgotten_numbers owner to parley_system;
set local role parley_system;
revoke all on function parley.prune_forgotten_numbers from public;
grant execute on function parley.prune_forgotten_numbers to parley_worker;
reset role;
