-- As before, and a query whose words are all frequent reads few rows: chunks with every word share the highest place and chunks with the
-- rarest word alone the lowest, and of equals any are taken. Only the index of words tells them without reading the others, which the planner
-- does not know: where few are wanted it would read the environment's chunks by their ids, or all, so those ways are closed to it.
-- Its owner alone may replace it.
set local role parley_system;
create or replace function parley.search_words(query text, of_documents uuid[], at_most integer)
returns table (document_id uuid, chunk_index integer, score double precision)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
#variable_conflict use_column
declare
  tenant constant uuid := parley.current_tenant();
  prefix text;
  total double precision;
  lexemes text[];
  counts integer[];
  queries tsquery[];
  weights double precision[];
  every tsquery;
  others tsquery;
  candidates tsquery;
  rated bigint := 0;
  weight double precision := 0;
  found_rows integer := 0;
  n integer;
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
    weight := weight + weights[i];
    every := case when every is null then queries[i] else every && queries[i] end;
    if i > 1 then others := case when others is null then queries[i] else others || queries[i] end; end if;
    if i = 1 or rated + counts[i] <= 2000 then
      candidates := case when candidates is null then queries[i] else candidates || queries[i] end;
      rated := rated + counts[i];
    end if;
  end loop;
  if rated > 2000 then
    return query
      select c.document_id, c.chunk_index, weight
      from parley.knowledge_chunks c
      where c.words @@ every and c.tenant_id::text = tenant::text and (of_documents is null or c.document_id = any (of_documents))
      limit at_most;
    get diagnostics found_rows = row_count;
    if found_rows >= at_most or others is null then return; end if;
    return query
      select c.document_id, c.chunk_index, rating.score
      from parley.knowledge_chunks c
      cross join lateral (
        select sum(u.weight) as score from unnest(queries, weights) u (lexeme, weight) where c.words @@ u.lexeme
      ) rating
      where c.words @@ (queries[1] && others && !!every) and c.tenant_id::text = tenant::text
        and (of_documents is null or c.document_id = any (of_documents))
      order by rating.score desc, c.document_id, c.chunk_index
      limit at_most - found_rows;
    get diagnostics n = row_count;
    found_rows := found_rows + n;
    if found_rows >= at_most then return; end if;
    return query
      select c.document_id, c.chunk_index, weights[1]
      from parley.knowledge_chunks c
      where c.words @@ (queries[1] && !!others) and c.tenant_id::text = tenant::text
        and (of_documents is null or c.document_id = any (of_documents))
      limit at_most - found_rows;
    return;
  end if;
  return query
    select c.document_id, c.chunk_index, rating.score
    from parley.knowledge_chunks c
    cross join lateral (
      select sum(u.weight) as score from unnest(queries, weights) u (lexeme, weight) where c.words @@ u.lexeme
    ) rating
    where c.words @@ candidates and c.tenant_id::text = tenant::text
      and (of_documents is null or c.document_id = any (of_documents))
    order by rating.score desc, c.document_id, c.chunk_index
    limit at_most;
end $$;
reset role;
