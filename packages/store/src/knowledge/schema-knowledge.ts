import type { Generated } from 'kysely'

/** `knowledge_documents`, as queries see it. */
export interface KnowledgeDocumentsTable {
  tenant_id: Generated<string>
  document_id: Generated<string>
  title: string
  media_type: string
  source_url: string | null
  byte_size: number
  sha256: Buffer
  chunk_count: number | null
  error: string | null
  created_at: Generated<string>
}
