import { type knowledgeDocument, type knowledgeStatus, Refusal } from '@parley/contract'
import {
  beginGeneration,
  type DocumentRow,
  deleteDocument,
  type EmbeddingModel,
  ENVIRONMENT_LIMITS,
  insertDocument,
  insertTombstone,
  type KnowledgeStatusRow,
  listDocuments,
  knowledgeStatus as readStatus,
  tombstoneOf,
  writeEmbeddingModel,
} from '@parley/store'
import type { z } from 'zod'
import type { Context, Handlers, KnowledgeFailure } from '../context.ts'
import { invalid } from './invalid-request.ts'

type Status = z.input<typeof knowledgeStatus>
type Document = z.input<typeof knowledgeDocument>

export const knowledgeHandlers = {
  'knowledge.get': async (_input, { db, scope }) => ({ status: 200, body: toStatus(await readStatus(db, scope)) }),

  'knowledge.configure': async ({ body: { model_identity } }, context) => {
    const { db, scope } = context
    context.auditResource({ kind: 'model', id: `${model_identity.provider}/${model_identity.model_id}`.slice(0, 512) })
    await checkReady(context, model_identity)
    await writeEmbeddingModel(db, scope, model_identity)
    return { status: 200, body: toStatus(await readStatus(db, scope)) }
  },

  'knowledge.reembed': async (_input, context) => {
    const { db, scope } = context
    const { model } = await readStatus(db, scope)
    if (model === null) throw notConfigured()
    await checkReady(context, model)
    const generationId = await beginGeneration(db, scope)
    if (generationId === null) throw notConfigured()
    context.auditResource({ kind: 'knowledge_generation', id: generationId })
    context.dueAfterCommit('knowledge')
    return { status: 202, body: toStatus(await readStatus(db, scope)) }
  },

  'knowledge.documents_list': async ({ query: { cursor, limit } }, { db, scope }) => {
    const { rows, next_cursor } = await listDocuments(db, scope, { cursor: cursor ?? null, limit })
    return { status: 200, body: { items: rows.map(toDocument), next_cursor } }
  },

  'knowledge.documents_create': async ({ body: { title, text, content_base64, media_type, source_url } }, context) => {
    const content = text === undefined ? Buffer.from(content_base64 ?? '', 'base64') : Buffer.from(text, 'utf8')
    if (text === undefined && !looksLike(media_type, content))
      throw invalid('/body/content_base64', `the bytes are not those of ${media_type}`)
    const made = await insertDocument(context.db, context.scope, {
      title,
      media_type,
      source_url: source_url ?? null,
      content,
    })
    if (made === 'limit_reached')
      throw new Refusal('conflict', `the environment has ${ENVIRONMENT_LIMITS.documents} documents: delete one first`, {
        reason: 'limit_reached',
      })
    context.auditResource({ kind: 'document', id: made.document_id })
    context.dueAfterCommit('knowledge')
    return { status: 201, body: toDocument(made) }
  },

  'knowledge.documents_delete': async ({ params: { document_id } }, context) => {
    const { db, scope } = context
    context.auditResource({ kind: 'document', id: document_id })
    const deleted = await deleteDocument(db, scope, document_id)
    if (deleted === null) {
      const tombstone = await tombstoneOf(db, scope, 'document', document_id)
      if (tombstone === null) throw new Refusal('not_found', `there is no document ${document_id}`)
      return { status: 200, body: tombstone as Document }
    }
    const body = toDocument(deleted)
    await insertTombstone(db, scope, 'document', document_id, body)
    return { status: 200, body }
  },

  'knowledge.search': async ({ body: { query, top_k, min_score, document_ids } }, { platform, scope }) => {
    const result = await platform.knowledge.search(scope, {
      query,
      topK: top_k,
      minScore: min_score,
      documentIds: document_ids ?? null,
    })
    if (result.state === 'failed') throw searchRefused(result.failure, result.message)
    return { status: 200, body: result.body }
  },
} satisfies Partial<Handlers>

/** Refuses a model that is not an embedding model of the catalogue, or not ready. */
async function checkReady({ platform, scope, db }: Context, { provider, model_id }: EmbeddingModel): Promise<void> {
  const { models } = await platform.catalogue(scope, db)
  const isReady = models.some(
    ({ kind, model, ready }) =>
      kind === 'embedding' && ready && model.provider === provider && model.model_id === model_id,
  )
  if (!isReady)
    throw new Refusal(
      'capability_unavailable',
      `${provider}/${model_id} is not a ready embedding model: choose one of GET /models?kind=embedding&ready=true`,
      { reason: 'model_not_ready' },
    )
}

/** Whether the first bytes are those of the file type. */
function looksLike(mediaType: string, content: Buffer): boolean {
  if (mediaType === 'application/pdf') return content.subarray(0, 1024).includes('%PDF-')
  return content.subarray(0, 4).equals(Buffer.from('PK\x03\x04', 'latin1'))
}

function searchRefused(failure: KnowledgeFailure, message: string): Refusal {
  switch (failure) {
    case 'provider_unavailable':
      return new Refusal('provider_unavailable', message)
    case 'model_not_ready':
      return new Refusal('capability_unavailable', message, { reason: 'model_not_ready' })
    default:
      return new Refusal('knowledge_unavailable', message, { reason: failure })
  }
}

function notConfigured(): Refusal {
  return searchRefused('not_configured', 'no embedding model is chosen: choose one with PUT /knowledge')
}

function toStatus(row: KnowledgeStatusRow): Status {
  const { generation_id, generation_state, generation_created_at } = row
  return {
    configured: row.model !== null,
    model_identity: row.model,
    dimension: row.dimension,
    generation:
      generation_id === null || generation_state === null || generation_created_at === null
        ? null
        : {
            generation_id,
            state: generation_state,
            document_count: row.embedded,
            created_at: generation_created_at,
          },
    pending_documents: row.pending,
  }
}

function toDocument(row: DocumentRow): Document {
  return { ...row, media_type: row.media_type as Document['media_type'] }
}
