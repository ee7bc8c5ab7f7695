-- Documents that agents search: their contents, their chunks with the words of each, and generations of vectors.

create table parley.knowledge_settings (
  tenant_id uuid primary key default parley.current_tenant() references parley.tenants,
  -- Prefix of the environment's lexemes: the index of words then never reads a row of another environment.
  number integer generated always as identity unique,
  -- The ModelIdentity of the chosen embedding model.
  model jsonb not null,
  updated_at timestamptz not null default parley.now_ms()
);

create table parley.knowledge_documents (
  tenant_id uuid not null default parley.current_tenant() references parley.tenants,
  document_id uuid not null default uuidv7(),
  title text not null,
  media_type text not null,
  source_url text,
  byte_size integer not null,
  sha256 bytea not null,
  -- Null until the content was read.
  chunk_count integer,
  -- Why the content cannot be read; null: it can, or was not tried.
  error text,
  created_at timestamptz not null default parley.now_ms(),
  primary key (tenant_id, document_id)
);
create index on parley.knowledge_documents (tenant_id, created_at desc, document_id);

create table parley.knowledge_contents (
  tenant_id uuid not null default parley.current_tenant(),
  document_id uuid not null,
  content bytea not null,
  primary key (tenant_id, document_id),
  foreign key (tenant_id, document_id) references parley.knowledge_documents on delete cascade
);

create table parley.knowledge_chunks (
  tenant_id uuid not null default parley.current_tenant(),
  document_id uuid not null,
  chunk_index integer not null,
  text text not null,
  -- Lexemes with the environment's prefix, without positions.
  words tsvector not null,
  primary key (tenant_id, document_id, chunk_index),
  foreign key (tenant_id, document_id) references parley.knowledge_documents on delete cascade
);
create index on parley.knowledge_chunks using gin (words);

-- In how many chunks of the environment a lexeme occurs.
create table parley.knowledge_lexemes (
  tenant_id uuid not null default parley.current_tenant(),
  lexeme text collate "C" not null,
  chunks integer not null,
  primary key (tenant_id, lexeme)
) with (fillfactor = 75);

create table parley.knowledge_generations (
  tenant_id uuid not null default parley.current_tenant() references parley.tenants,
  generation_id uuid not null default uuidv7(),
  model jsonb not null,
  -- Length of its vectors; null until the first.
  dimension integer,
  state text not null check (state in ('building', 'ready', 'failed')),
  error text,
  -- Rises with each document that joins: the order in which processes load them.
  joined bigint not null default 0,
  -- Rises with each document that leaves.
  removed bigint not null default 0,
  created_at timestamptz not null default parley.now_ms(),
  primary key (tenant_id, generation_id)
);
create index on parley.knowledge_generations (tenant_id, created_at desc);

-- Each document in each generation: the work of embedding it, and its vectors.
create table parley.knowledge_embeddings (
  tenant_id uuid not null default parley.current_tenant(),
  generation_id uuid not null,
  document_id uuid not null,
  state text not null default 'pending' check (state in ('pending', 'embedded', 'failed')),
  -- Tries begun, and the fence of the process that tries.
  attempts integer not null default 0,
  next_at timestamptz not null default parley.now_ms(),
  lease_until timestamptz,
  error text,
  -- `joined` of the generation when the document joined it; null: it has not.
  joined bigint,
  -- 32-bit floats, little-endian, each vector of length 1: one per chunk, in their order.
  vectors bytea,
  primary key (tenant_id, generation_id, document_id),
  foreign key (tenant_id, generation_id) references parley.knowledge_generations on delete cascade,
  foreign key (tenant_id, document_id) references parley.knowledge_documents on delete cascade
);
alter table parley.knowledge_embeddings alter column vectors set storage external;
create index on parley.knowledge_embeddings (tenant_id, next_at) where state = 'pending';
create index on parley.knowledge_embeddings (tenant_id, generation_id, joined) where state = 'embedded';
create index on parley.knowledge_embeddings (tenant_id, document_id);

do $$
declare secured text;
begin
  foreach secured in array array[
    'knowledge_settings', 'knowledge_documents', 'knowledge_contents', 'knowledge_chunks', 'knowledge_lexemes',
    'knowledge_generations', 'knowledge_embeddings'
  ] loop
    execute format('alter table parley.%I enable row level security', secured);
    execute format('alter table parley.%I force row level security', secured);
    execute format(
      'create policy one_tenant on parley.%I to parley_app using (tenant_id = parley.current_tenant()) with check (tenant_id = parley.current_tenant())',
      secured);
    execute format('create policy system on parley.%I to parley_system using (true) with check (true)', secured);
    execute format('grant select, insert, update, delete on parley.%I to parley_app, parley_system', secured);
  end loop;
end $$;

-- Chunks of the session's environment with words of `query`, the best first. A lexeme counts by how rare it is (the inverse
-- document frequency of BM25). Only chunks with one of the rarest lexemes are rated, which together occur in about 2,000
-- chunks: common words then cost nothing. The function runs as parley_system, because row security keeps the application
-- from searching an index by an operator that is not leakproof; it reads the session's environment only.
create function parley.search_words(query text, of_documents uuid[], at_most integer)
returns table (document_id uuid, chunk_index integer, score double precision)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  tenant constant uuid := parley.current_tenant();
  prefix text;
  total double precision;
  lexemes text[];
  counts integer[];
  queries tsquery[];
  weights double precision[];
  candidates tsquery;
  rated bigint := 0;
begin
  select s.number || ':' into prefix from parley.knowledge_settings s where s.tenant_id = tenant;
  if prefix is null then return; end if;
  select coalesce(sum(d.chunk_count), 0) into total from parley.knowledge_documents d where d.tenant_id = tenant;
  select array_agg(f.lexeme), array_agg(f.chunks) into lexemes, counts from (
    select l.lexeme, l.chunks from parley.knowledge_lexemes l
    where l.tenant_id = tenant and l.chunks > 0 and l.lexeme = any (array(
      select prefix || q.lexeme from (
        select unnest(tsvector_to_array(to_tsvector('english', query))) as lexeme
        union select unnest(tsvector_to_array(to_tsvector('spanish', query)))
        union select unnest(tsvector_to_array(to_tsvector('simple', query)))
      ) q
    ))
    order by l.chunks, l.lexeme limit 24
  ) f;
  if lexemes is null then return; end if;
  for i in 1 .. array_length(lexemes, 1) loop
    queries[i] := ('''' || replace(replace(lexemes[i], '\', '\\'), '''', '''''') || '''')::tsquery;
    weights[i] := ln(1 + greatest(total - counts[i], 0) / (counts[i] + 0.5));
    if i = 1 or rated + counts[i] <= 2000 then
      candidates := case when candidates is null then queries[i] else candidates || queries[i] end;
      rated := rated + counts[i];
    end if;
  end loop;
  return query
    select c.document_id, c.chunk_index, rating.score
    from parley.knowledge_chunks c
    cross join lateral (
      select sum(u.weight) as score from unnest(queries, weights) u (lexeme, weight) where c.words @@ u.lexeme
    ) rating
    where c.words @@ candidates and c.tenant_id = tenant
      and (of_documents is null or c.document_id = any (of_documents))
    order by rating.score desc, c.document_id, c.chunk_index
    limit at_most;
end $$;

-- Environments in which a document waits for its vectors and no process has it, or in which one is past its retention.
create function parley.knowledge_due(after_tenant uuid, at_most integer)
returns table (tenant_id uuid, owner_id uuid, environment text)
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select t.tenant_id, t.owner_id, t.environment from parley.tenants t
  where (after_tenant is null or t.tenant_id > after_tenant) and (
    exists (
      select from parley.knowledge_embeddings e
      where e.tenant_id = t.tenant_id and e.state = 'pending' and e.next_at <= statement_timestamp()
        and (e.lease_until is null or e.lease_until <= clock_timestamp())
    ) or (
      t.document_days is not null and exists (
        select from parley.knowledge_documents d
        where d.tenant_id = t.tenant_id and d.created_at <= statement_timestamp() - t.document_days * interval '1 day'
      )
    )
  )
  order by t.tenant_id limit at_most;
end;

do $$
declare named text;
begin
  foreach named in array array['search_words(text, uuid[], integer)', 'knowledge_due(uuid, integer)'] loop
    execute format('alter function parley.%s owner to parley_system', named);
    execute format('revoke all on function parley.%s from public', named);
    execute format('grant execute on function parley.%s to parley_app, parley_system', named);
  end loop;
end $$;
