import { at, type Examples, page, sha256, uuid } from './values.ts'

/** The model that the simulated provider embeds with. */
const embeddingModel = { model_id: 'near-embedding-1', provider: 'near', tier: 'frontier' }
const status = {
  configured: true,
  model_identity: embeddingModel,
  dimension: 256,
  generation: { generation_id: uuid, state: 'ready', document_count: 1, created_at: at },
  pending_documents: 0,
}
const document = {
  document_id: uuid,
  title: 'Parking',
  media_type: 'text/markdown',
  source_url: 'https://example.com/parking',
  byte_size: 27,
  sha256,
  state: 'embedded',
  chunk_count: 1,
  error: null,
  created_at: at,
  expires_at: null,
}

export const knowledgeExamples = {
  'knowledge.get': { answer: status },
  'knowledge.configure': { body: { model_identity: embeddingModel }, answer: status },
  'knowledge.reembed': {
    body: {},
    answer: { ...status, generation: { ...status.generation, state: 'building', document_count: 0 } },
  },
  'knowledge.documents_list': { answer: page(document) },
  'knowledge.documents_create': {
    body: {
      title: 'Parking',
      text: '# Parking\n\nParking is free.',
      media_type: 'text/markdown',
      source_url: 'https://example.com/parking',
    },
    answer: { ...document, state: 'pending', chunk_count: null },
  },
  'knowledge.documents_delete': { answer: document },
  'knowledge.search': {
    body: { query: 'Where do I park?', top_k: 3, min_score: 0.1 },
    answer: {
      generation_id: uuid,
      items: [{ document_id: uuid, title: 'Parking', chunk_index: 0, text: 'Parking is free.', score: 0.82 }],
    },
  },
} as const satisfies Examples
