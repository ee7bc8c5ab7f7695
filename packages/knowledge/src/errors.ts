import { errorsOf } from '@parley/kernel'

/** The errors of this package. A code is stable: the API, logs and timelines show it. */
export const KnowledgeError = errorsOf({
  knowledge_not_configured: { retryable: false, text: 'The environment has no embedding model.' },
  knowledge_no_generation: { retryable: true, text: 'No generation of embedded documents is ready.' },
  knowledge_model_not_ready: { retryable: false, text: 'The embedding model of the documents is not ready.' },
  knowledge_embedding_failed: { retryable: true, text: 'The embedding model gave no vector for the query.' },
})
