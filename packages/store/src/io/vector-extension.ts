import type { Client } from 'pg'
import { packedFloats, vectorTexts } from '../knowledge/vector-table.ts'

/** The first version that continues the scan of an index when rows of other environments were left out. */
const OLDEST = '0.8.0'
/** Lengths of vectors that have an index; others are compared one by one. An index of pgvector takes at most 2,000 components. */
const INDEXED = [256, 384, 512, 768, 1024, 1536]
/** Documents that are copied at once. */
const PER_PAGE = 100

/**
 * Where the database has the extension pgvector, creates the table of vectors that searches then use, with the vectors of the documents
 * embedded so far. Nothing happens where the extension is missing or too old, or the table exists. Not a migration, because the
 * extension may be created at any time.
 */
export async function ensureVectorTable(client: Client): Promise<void> {
  const { rows } = await client.query<{ schema: string }>(
    `select quote_ident(n.nspname) as schema from pg_extension e join pg_namespace n on n.oid = e.extnamespace
     where e.extname = 'vector' and string_to_array(e.extversion, '.')::integer[] >= string_to_array($1, '.')::integer[]
       and to_regclass('parley.knowledge_vectors') is null`,
    [OLDEST],
  )
  const [extension] = rows
  if (extension === undefined) return
  await client.query('begin')
  try {
    // Documents that are embedded meanwhile wait, and are then written to the table as well.
    await client.query('lock table parley.knowledge_embeddings in share mode')
    await client.query(`grant usage on schema ${extension.schema} to parley_app, parley_system`)
    await client.query(tableSql(extension.schema))
    await copyVectors(client)
    for (const dimension of INDEXED) await client.query(indexSql(extension.schema, dimension))
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw error
  }
  await client.query('analyze parley.knowledge_vectors')
}

async function copyVectors(client: Client): Promise<void> {
  let after = {
    generation_id: '00000000-0000-0000-0000-000000000000',
    document_id: '00000000-0000-0000-0000-000000000000',
  }
  // Row security binds the owner of the tables as well.
  await client.query('set local role parley_system')
  for (;;) {
    const { rows } = await client.query(
      `select e.tenant_id, e.generation_id, e.document_id, e.vectors, g.dimension from parley.knowledge_embeddings e
       join parley.knowledge_generations g using (tenant_id, generation_id)
       where e.state = 'embedded' and (e.generation_id, e.document_id) > ($1::uuid, $2::uuid)
       order by e.generation_id, e.document_id limit $3`,
      [after.generation_id, after.document_id, PER_PAGE],
    )
    for (const { tenant_id, generation_id, document_id, vectors, dimension } of rows)
      await client.query('select parley.store_vectors($1, $2, $3, $4)', [
        tenant_id,
        generation_id,
        document_id,
        vectorTexts(packedFloats(vectors), dimension),
      ])
    const last = rows.at(-1)
    if (last === undefined) break
    after = last
  }
  await client.query('reset role')
}

/**
 * `rated_chunks` returns the `at_most` nearest chunks (`nearest`) and the given places, each with its cosine similarity; vectors have
 * length 1. With more than `exact_up_to` chunks the nearest come from an index and may miss some, but are never fewer than there are.
 * The functions run with the rights of their caller, so that row security holds.
 */
function tableSql(schema: string): string {
  const path = `set search_path = pg_catalog, ${schema}, pg_temp`
  return `
    create table parley.knowledge_vectors (
      tenant_id uuid not null,
      generation_id uuid not null,
      document_id uuid not null,
      chunk_index integer not null,
      dimension integer not null,
      embedding ${schema}.vector not null,
      primary key (tenant_id, generation_id, document_id, chunk_index),
      foreign key (tenant_id, generation_id, document_id) references parley.knowledge_embeddings on delete cascade
    );
    alter table parley.knowledge_vectors enable row level security;
    alter table parley.knowledge_vectors force row level security;
    create policy one_tenant on parley.knowledge_vectors to parley_app
      using (tenant_id = parley.current_tenant()) with check (tenant_id = parley.current_tenant());
    create policy system on parley.knowledge_vectors to parley_system using (true) with check (true);
    grant select, insert, update, delete on parley.knowledge_vectors to parley_app, parley_system;

    create function parley.store_vectors(of_tenant uuid, of_generation uuid, of_document uuid, vectors text[])
    returns void language sql ${path} as $$
      insert into parley.knowledge_vectors (tenant_id, generation_id, document_id, chunk_index, dimension, embedding)
      select of_tenant, of_generation, of_document, u.position - 1, vector_dims(u.text::vector), u.text::vector
      from unnest(vectors) with ordinality as u (text, position)
    $$;

    create function parley.rated_chunks(
      of_generation uuid, query text, at_most integer, exact_up_to integer, of_documents uuid[],
      place_documents uuid[], place_chunks integer[]
    )
    returns table (document_id uuid, chunk_index integer, score double precision, nearest boolean)
    language plpgsql stable ${path} set hnsw.iterative_scan = 'strict_order' set hnsw.ef_search = '200' as $$
    #variable_conflict use_column
    declare
      tenant constant uuid := parley.current_tenant();
      wanted constant vector := query::vector;
      length constant integer := vector_dims(wanted);
      found integer := 0;
    begin
      return query
        select v.document_id, v.chunk_index, -(v.embedding <#> wanted), false
        from unnest(place_documents, place_chunks) p (document_id, chunk_index)
        join parley.knowledge_vectors v on v.tenant_id = tenant and v.generation_id = of_generation
          and v.document_id = p.document_id and v.chunk_index = p.chunk_index
        where v.dimension = length;
      if of_documents is null and length = any (array[${INDEXED.join(', ')}]) and exact_up_to < (
        select count(*) from (
          select from parley.knowledge_vectors v where v.tenant_id = tenant and v.generation_id = of_generation
          limit exact_up_to + 1
        ) counted
      ) then
        return query execute format(
          'select v.document_id, v.chunk_index, -(v.embedding::vector(%1$s) <#> $1), true
           from parley.knowledge_vectors v
           where v.dimension = %1$s and v.tenant_id = $2 and v.generation_id = $3
           order by v.embedding::vector(%1$s) <#> $1 limit $4', length)
          using wanted, tenant, of_generation, at_most;
        get diagnostics found = row_count;
      end if;
      if found < at_most then
        -- What the index found as well comes twice.
        return query
          select v.document_id, v.chunk_index, -(v.embedding <#> wanted), true
          from parley.knowledge_vectors v
          where v.tenant_id = tenant and v.generation_id = of_generation and v.dimension = length
            and (of_documents is null or v.document_id = any (of_documents))
          order by 3 desc, 1, 2 limit at_most;
      end if;
    end $$;

    revoke all on function parley.store_vectors(uuid, uuid, uuid, text[]),
      parley.rated_chunks(uuid, text, integer, integer, uuid[], uuid[], integer[]) from public;
    grant execute on function parley.store_vectors(uuid, uuid, uuid, text[]),
      parley.rated_chunks(uuid, text, integer, integer, uuid[], uuid[], integer[]) to parley_app, parley_system`
}

function indexSql(schema: string, dimension: number): string {
  return `create index knowledge_vectors_${dimension} on parley.knowledge_vectors
    using hnsw ((embedding::${schema}.vector(${dimension})) ${schema}.vector_ip_ops) where dimension = ${dimension}`
}
