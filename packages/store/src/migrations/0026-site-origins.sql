-- The preflight of a browser has its origin and no key: it is answered for the origins of active site keys alone.
create index on parley.site_keys using gin (origins) where revoked_at is null;

-- Whether an active site key names this origin, whatever the tenant.
create function parley.is_site_origin(origin text)
returns boolean
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select exists (select from parley.site_keys k where k.revoked_at is null and k.origins @> array[origin]);
end;
alter function parley.is_site_origin(text) owner to parley_system;
revoke all on function parley.is_site_origin(text) from public;
grant execute on function parley.is_site_origin(text) to parley_app, parley_system;
