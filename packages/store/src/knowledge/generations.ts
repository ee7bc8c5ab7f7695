import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries } from '../protocol.ts'
import { MAX_TABLE_DIMENSION } from './vector-table.ts'

/** The identity of an embedding model, as in the API. */
export interface EmbeddingModel {
  readonly model_id: string
  readonly provider: string
  readonly tier: 'frontier' | 'platform-served' | 'customer-gpu'
}

export interface KnowledgeStatusRow {
  /** Null: no model is chosen. */
  readonly model: EmbeddingModel | null
  readonly dimension: number | null
  readonly generation_id: string | null
  readonly generation_state: 'building' | 'ready' | 'failed' | null
  readonly generation_created_at: string | null
  readonly embedded: number
  readonly pending: number
}

/** The chosen model, and the newest generation with its progress. */
export async function knowledgeStatus(db: Queries, scope: Scope): Promise<KnowledgeStatusRow> {
  const { rows } = await sql<KnowledgeStatusRow>`
    with newest as (
      select * from parley.knowledge_generations
      where tenant_id = ${scope.tenant_id} order by created_at desc, generation_id desc limit 1
    ), counted as (
      select count(*) filter (where e.state = 'embedded')::integer as embedded,
        count(*) filter (where e.state = 'failed')::integer as failed
      from parley.knowledge_embeddings e join newest n using (tenant_id, generation_id)
    ), documents as (
      select count(*)::integer as all_of_them, count(*) filter (where error is not null)::integer as unreadable
      from parley.knowledge_documents where tenant_id = ${scope.tenant_id}
    )
    select s.model, n.dimension, n.generation_id, n.state as generation_state, n.created_at as generation_created_at,
      c.embedded, d.all_of_them - c.embedded - case when n.state is null then d.unreadable else c.failed end as pending
    from counted c cross join documents d
    left join newest n on true
    left join parley.knowledge_settings s on s.tenant_id = ${scope.tenant_id}`.execute(db)
  return rows[0]!
}

/** Chooses the embedding model of later generations. */
export async function writeEmbeddingModel(tx: Queries, scope: Scope, model: EmbeddingModel): Promise<void> {
  const { model_id, provider, tier } = model
  await sql`
    insert into parley.knowledge_settings as s (tenant_id, model)
    values (${scope.tenant_id}, ${JSON.stringify({ model_id, provider, tier })}::jsonb)
    on conflict (tenant_id) do update set model = excluded.model, updated_at = parley.now_ms()
    where s.model <> excluded.model`.execute(tx)
}

/** Begins a generation of all documents with the chosen model; generations being built fail. Null: no model is chosen. */
export async function beginGeneration(tx: Queries, scope: Scope): Promise<string | null> {
  const { rows } = await sql<{ model: EmbeddingModel }>`
    select model from parley.knowledge_settings where tenant_id = ${scope.tenant_id} for update`.execute(tx)
  const [settings] = rows
  if (settings === undefined) return null
  await sql`
    update parley.knowledge_generations set state = 'failed', error = 'superseded'
    where tenant_id = ${scope.tenant_id} and state = 'building'`.execute(tx)
  const { rows: begun } = await sql<{ generation_id: string }>`
    insert into parley.knowledge_generations (tenant_id, model, state)
    values (${scope.tenant_id}, ${JSON.stringify(settings.model)}::jsonb, 'building') returning generation_id`.execute(
    tx,
  )
  const { generation_id } = begun[0]!
  await sql`
    insert into parley.knowledge_embeddings (tenant_id, generation_id, document_id)
    select tenant_id, ${generation_id}::uuid, document_id from parley.knowledge_documents
    where tenant_id = ${scope.tenant_id}`.execute(tx)
  await finishGenerations(tx, scope)
  return generation_id
}

/** Generations without waiting documents become ready; the newest ready one replaces those before it, whose vectors go. */
export async function finishGenerations(tx: Queries, scope: Scope): Promise<void> {
  const { numAffectedRows } = await sql`
    update parley.knowledge_generations g set state = 'ready'
    where g.tenant_id = ${scope.tenant_id} and g.state = 'building' and not exists (
      select from parley.knowledge_embeddings e
      where e.tenant_id = g.tenant_id and e.generation_id = g.generation_id and e.state = 'pending'
    )`.execute(tx)
  if ((numAffectedRows ?? 0n) > 0n)
    await sql`
      delete from parley.knowledge_generations g
      where g.tenant_id = ${scope.tenant_id} and exists (
        select from parley.knowledge_generations n
        where n.tenant_id = g.tenant_id and n.state = 'ready'
          and (n.created_at, n.generation_id) > (g.created_at, g.generation_id)
      )`.execute(tx)
}

/** The generation fails, because its model cannot be used; documents that wait for it are not tried again. */
export async function failGeneration(tx: Queries, scope: Scope, generationId: string, error: string): Promise<void> {
  await sql`
    update parley.knowledge_generations set state = 'failed', error = ${error}
    where tenant_id = ${scope.tenant_id} and generation_id = ${generationId}::uuid and state = 'building'`.execute(tx)
  await sql`
    delete from parley.knowledge_embeddings
    where tenant_id = ${scope.tenant_id} and generation_id = ${generationId}::uuid and state = 'pending' and exists (
      select from parley.knowledge_generations g
      where g.tenant_id = ${scope.tenant_id} and g.generation_id = ${generationId}::uuid and g.state = 'failed'
    )`.execute(tx)
}

/** The generation that searches use: the newest ready one. */
export interface SearchedGeneration {
  readonly generation_id: string
  readonly model: EmbeddingModel
  readonly dimension: number | null
  /** int8 as text. */
  readonly joined: string
  readonly removed: string
  /** Whether its vectors are in a table of pgvector as well, which then searches them. */
  readonly in_table: boolean
}

/** Null: none is ready. `configured`: whether a model is chosen. */
export async function searchedGeneration(
  db: Queries,
  scope: Scope,
): Promise<{ readonly configured: boolean; readonly generation: SearchedGeneration | null }> {
  const { rows } = await sql<
    { configured: boolean } & { [Key in keyof SearchedGeneration]: SearchedGeneration[Key] | null }
  >`
    select exists (select from parley.knowledge_settings where tenant_id = ${scope.tenant_id}) as configured, g.*
    from (select 1) one left join lateral (
      select generation_id, model, dimension, joined::text, removed::text,
        to_regclass('parley.knowledge_vectors') is not null and dimension <= ${MAX_TABLE_DIMENSION}::integer as in_table
      from parley.knowledge_generations
      where tenant_id = ${scope.tenant_id} and state = 'ready' order by created_at desc, generation_id desc limit 1
    ) g on true`.execute(db)
  const { configured, ...generation } = rows[0]!
  return { configured, generation: generation.generation_id === null ? null : (generation as SearchedGeneration) }
}
