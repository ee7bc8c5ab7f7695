-- What was said to a chat goes with all else that was said, also where the chat never began and has no transcript.

create trigger forget_messages after update of content_expired_at on parley.runs
  for each row when (old.content_expired_at is null and new.content_expired_at is not null)
  execute function parley.forget_messages();

-- Of all tenants, whoever owns the tables.
alter table parley.run_messages no force row level security;
alter table parley.runs no force row level security;
delete from parley.run_messages m using parley.runs r
  where r.tenant_id = m.tenant_id and r.run_id = m.run_id and r.content_expired_at is not null;
alter table parley.run_messages force row level security;
alter table parley.runs force row level security;
