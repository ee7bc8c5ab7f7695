import { modelIdentity, text, uri } from '@parley/nodes'
import { z } from 'zod'
import { MIB, operation } from '../operation.ts'
import { uuid } from '../values/names.ts'
import { listQuery, page } from '../values/page.ts'
import { timestamp } from '../values/time.ts'

/** The largest request that creates a document, which is also the largest that the API reads. */
const DOCUMENT_BYTES = 8 * MIB
/** Base64 characters of a file that fits into such a request. */
const MAX_BASE64 = 8_000_000

const TEXT_TYPES = ['text/plain', 'text/markdown', 'text/html'] as const
const FILE_TYPES = [
  'application/pdf',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
] as const

const mediaType = z.enum([...TEXT_TYPES, ...FILE_TYPES])

export const knowledgeStatus = z
  .strictObject({
    /** Whether an embedding model is chosen. */
    configured: z.boolean(),
    /** The chosen embedding model; a generation keeps the model with which it was begun. */
    model_identity: modelIdentity.nullable(),
    /** Length of the vectors of the newest generation; null until its first vector. */
    dimension: z.int().min(1).nullable(),
    /** The newest generation. Searches use the newest one that is ready. */
    generation: z
      .strictObject({
        generation_id: uuid,
        state: z.enum(['building', 'ready', 'failed']),
        /** Documents whose vectors are in the generation. */
        document_count: z.int().min(0),
        created_at: timestamp,
      })
      .nullable(),
    /** Documents that the newest generation does not contain yet. */
    pending_documents: z.int().min(0),
  })
  .meta({ id: 'KnowledgeStatus' })

/** A document that agents search, without its content. */
export const knowledgeDocument = z
  .strictObject({
    document_id: uuid,
    title: text(1, 256),
    media_type: mediaType,
    source_url: text(1, 2048).nullable(),
    /** Size of the content as it was sent. */
    byte_size: z.int().min(0),
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
    /** `embedded`: the newest ready generation contains it. `failed`: see `error`. */
    state: z.enum(['pending', 'embedded', 'failed']),
    /** Null until the content was read. */
    chunk_count: z.int().min(0).nullable(),
    /** Why the document cannot be searched, in one sentence; null: it can be, or will be. */
    error: text(0, 1024).nullable(),
    created_at: timestamp,
    /** When retention deletes the document; null: never. */
    expires_at: timestamp.nullable(),
  })
  .meta({ id: 'KnowledgeDocument' })

const getStatus = operation({
  id: 'knowledge.get',
  method: 'GET',
  path: '/api/v1/knowledge',
  summary: 'Get the embedding model, the newest generation of embedded documents, and how many documents wait',
  role: 'viewer',
  idempotency: 'none',
  params: null,
  query: null,
  body: null,
  output: knowledgeStatus,
  statuses: [200],
  refusals: {},
})

const configure = operation({
  id: 'knowledge.configure',
  method: 'PUT',
  path: '/api/v1/knowledge',
  summary: 'Choose the embedding model; documents are embedded with it by the next re-embedding',
  role: 'admin',
  idempotency: 'natural',
  params: null,
  query: null,
  body: z.strictObject({ model_identity: modelIdentity }),
  output: knowledgeStatus,
  statuses: [200],
  refusals: { capability_unavailable: ['model_not_ready'] },
})

const reembed = operation({
  id: 'knowledge.reembed',
  method: 'POST',
  path: '/api/v1/knowledge/reembed',
  summary:
    'Build a new generation: embed all documents with the chosen model; searches use the old one until it is ready',
  role: 'member',
  idempotency: 'required_header',
  params: null,
  query: null,
  body: z.strictObject({}),
  output: knowledgeStatus,
  statuses: [202],
  refusals: { capability_unavailable: ['model_not_ready'], knowledge_unavailable: ['not_configured'] },
})

const listDocuments = operation({
  id: 'knowledge.documents_list',
  method: 'GET',
  path: '/api/v1/knowledge/documents',
  summary: 'List the documents that agents can search, newest first, and whether they are embedded',
  role: 'viewer',
  idempotency: 'none',
  params: null,
  query: listQuery({}),
  body: null,
  output: page(knowledgeDocument),
  statuses: [200],
  refusals: {},
})

const createDocument = operation({
  id: 'knowledge.documents_create',
  method: 'POST',
  path: '/api/v1/knowledge/documents',
  summary: 'Add a document that agents search for answers: text, Markdown or HTML, or a PDF or DOCX file as base64',
  role: 'member',
  idempotency: 'required_header',
  params: null,
  query: null,
  body: z
    .strictObject({
      title: text(1, 256),
      /** The content of `text/plain`, `text/markdown` and `text/html`. */
      text: text(1, 4_000_000).optional(),
      /** The bytes of `application/pdf` and of DOCX. */
      content_base64: z
        .string()
        .min(4)
        .max(MAX_BASE64)
        .regex(/^[A-Za-z0-9+/]+={0,2}$/, 'base64 without line breaks')
        .optional(),
      media_type: mediaType.default('text/plain'),
      /** Where the document comes from; it is shown and never fetched. */
      source_url: uri(2048, ['https', 'http']).optional(),
    })
    .refine(({ text, content_base64 }) => (text === undefined) !== (content_base64 === undefined), {
      message: 'give either text or content_base64',
      path: ['text'],
    })
    .refine(({ text, media_type }) => (text !== undefined) === (TEXT_TYPES as readonly string[]).includes(media_type), {
      message: 'text media types take text; PDF and DOCX take content_base64',
      path: ['media_type'],
    }),
  output: knowledgeDocument,
  statuses: [201, 200],
  refusals: { conflict: ['limit_reached'] },
  bodyBytes: DOCUMENT_BYTES,
})

const deleteDocument = operation({
  id: 'knowledge.documents_delete',
  method: 'DELETE',
  path: '/api/v1/knowledge/documents/{document_id}',
  summary: 'Delete a document; searches stop finding it at once',
  role: 'member',
  idempotency: 'natural',
  params: z.strictObject({ document_id: uuid }),
  query: null,
  body: null,
  output: knowledgeDocument,
  statuses: [200],
  refusals: {},
})

const searchKnowledge = operation({
  id: 'knowledge.search',
  method: 'POST',
  path: '/api/v1/knowledge/search',
  summary: 'Search the documents by meaning and by words, as agents do in conversations',
  role: 'viewer',
  idempotency: 'none',
  params: null,
  query: null,
  body: z.strictObject({
    query: text(1, 2000).regex(/\S/, 'must not be blank'),
    top_k: z.int().min(1).max(20).default(5),
    /** Passages with a lower score are left out. */
    min_score: z.number().min(0).max(1).default(0),
    /** Only these documents; default: all. */
    document_ids: z.array(uuid).min(1).max(100).optional(),
  }),
  output: z.strictObject({
    generation_id: uuid,
    /** The most relevant passage first. */
    items: z.array(
      z.strictObject({
        document_id: uuid,
        title: text(1, 256),
        /** Position of the passage in its document, from 0. */
        chunk_index: z.int().min(0),
        text: text(1),
        /** Cosine similarity of query and passage, at least 0. The order also weighs matching words, so it may differ. */
        score: z.number().min(0).max(1),
      }),
    ),
  }),
  statuses: [200],
  refusals: {
    knowledge_unavailable: ['not_configured', 'no_generation'],
    provider_unavailable: [],
    capability_unavailable: ['model_not_ready'],
  },
  hints: { readOnly: true },
  rate: 'costly',
})

export const knowledgeOperations = [
  getStatus,
  configure,
  reembed,
  listDocuments,
  createDocument,
  deleteDocument,
  searchKnowledge,
] as const
