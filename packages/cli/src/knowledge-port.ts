import type { KnowledgeFailure, Platform } from '@parley/control-plane'
import { KnowledgeError, type KnowledgeSource } from '@parley/knowledge'

const FAILURES: Readonly<Record<string, KnowledgeFailure>> = {
  knowledge_not_configured: 'not_configured',
  knowledge_no_generation: 'no_generation',
  knowledge_model_not_ready: 'model_not_ready',
  knowledge_embedding_failed: 'provider_unavailable',
}

/** The search as the API serves it. */
export function knowledgePort(source: KnowledgeSource): Platform['knowledge'] {
  const never = new AbortController().signal
  return {
    async search(scope, query) {
      try {
        const { generation_id, items } = await source.search(scope, query, never)
        return { state: 'found', body: { generation_id, items: [...items] } }
      } catch (error) {
        const failure = KnowledgeError.is(error) ? FAILURES[error.code] : undefined
        if (failure === undefined) throw error
        return { state: 'failed', failure, message: (error as Error).message }
      }
    },
  }
}
