import type { Scope } from '@parley/contract'
import { type Ms, ParleyError, type Time, withDeadline } from '@parley/kernel'
import { type DocumentReader, type Embedders, normalised } from '@parley/knowledge'
import type { TextEmbedder } from '@parley/providers'
import type { EnvironmentQueue } from '@parley/runs'
import {
  chunkTexts,
  type Database,
  type DueDocument,
  documentContent,
  type EmbeddingResult,
  expireDocuments,
  nextDocumentDueInMs,
  settleEmbedding,
  storeChunks,
  takeDueDocuments,
} from '@parley/store'
import { EnvironmentRounds } from '../environment-rounds.ts'
import type { JobCounters } from '../metrics.ts'
import type { JobLog } from '../protocol.ts'

/** Long enough for reading a document and embedding thousands of passages. */
const LEASE_MS: Ms = 300_000
const EMBED_WITHIN_MS: Ms = 240_000
/** Pauses after the first, second, … try that failed for the model; after the last one it is given up. */
const PAUSES_MS: readonly Ms[] = [1000, 5000, 30_000, 120_000]
const MAX_TRIES = PAUSES_MS.length + 1
/** Environments served at once by one process. */
const ENVIRONMENTS_AT_ONCE = 4
/** Documents of one environment at once. */
const DOCUMENTS_AT_ONCE = 4
/** Documents past their retention that one transaction deletes. */
const EXPIRED_AT_ONCE = 100

interface KnowledgeBuilderOptions {
  readonly database: Database
  readonly queue: EnvironmentQueue
  readonly embedders: Embedders
  readonly reader: Pick<DocumentReader, 'read'>
  readonly time: Time
  readonly log: JobLog
  readonly counters: JobCounters
  /** Default {@link PAUSES_MS}. */
  readonly embeddingRetryAfterMs?: readonly Ms[]
}

/**
 * Builds generations: reads each waiting document, cuts it into passages, embeds them and lets the document join. The state is
 * in the database, so that a worker that dies leaves its documents to others.
 */
export class KnowledgeBuilder extends EnvironmentRounds<DueDocument> {
  readonly #options: KnowledgeBuilderOptions

  constructor(options: KnowledgeBuilderOptions) {
    super({
      work: 'knowledge',
      queue: options.queue,
      environmentsAtOnce: ENVIRONMENTS_AT_ONCE,
      itemsAtOnce: DOCUMENTS_AT_ONCE,
      time: options.time,
    })
    this.#options = options
  }

  protected nextDueInMs(scope: Scope): Promise<number | null> {
    return nextDocumentDueInMs(this.#options.database.within(scope), scope)
  }

  protected async take(scope: Scope, atMost: number): Promise<DueDocument[]> {
    const { database } = this.#options
    await database.transaction(scope, tx => expireDocuments(tx, scope, EXPIRED_AT_ONCE))
    const limits = { leaseMs: LEASE_MS, atMost, tries: MAX_TRIES }
    return database.transaction(scope, tx => takeDueDocuments(tx, scope, limits))
  }

  /** Never rejects: what could not be settled is due again when its lease ends. */
  protected async carryOut(due: DueDocument): Promise<void> {
    const { database, counters, log } = this.#options
    try {
      const result = await this.#try(due)
      if (result === null) return
      const settled = await database.transaction(due.scope, tx => settleEmbedding(tx, due, result))
      if (settled === 'settled' && result.kind === 'embedded') counters.add('documents_embedded')
      if (settled === 'settled' && result.kind !== 'embedded') counters.add('document_tries_failed')
    } catch (error) {
      log(`the document ${due.document_id} is not embedded`, error)
    }
  }

  /** Null: the document was deleted. */
  async #try(due: DueDocument): Promise<EmbeddingResult | null> {
    const { database, embedders } = this.#options
    const { scope, document_id: documentId, model } = due
    if (due.chunk_count === null) {
      const unreadable = await this.#read(due)
      if (unreadable !== null) return { kind: 'document_failed', error: unreadable }
    }
    const texts = await chunkTexts(database.within(scope), scope, documentId)
    if (texts.length === 0) return null
    const embedder = await embedders(model, scope)
    if (embedder === null) return this.#later(due, `the model ${model.provider}/${model.model_id} is not ready`, true)
    return this.#embed(due, embedder, texts)
  }

  /** Reads the content and stores its passages. Returns why it cannot be read. */
  async #read({ scope, document_id, title, media_type }: DueDocument): Promise<string | null> {
    const { database, reader } = this.#options
    const content = await documentContent(database.within(scope), scope, document_id)
    if (content === null) return null
    const outcome = await reader.read({ title, media_type, content })
    if (outcome.type === 'unreadable') return outcome.error
    await database.transaction(scope, tx => storeChunks(tx, scope, document_id, outcome.chunks))
    return null
  }

  async #embed(due: DueDocument, embedder: TextEmbedder, texts: readonly string[]): Promise<EmbeddingResult> {
    const { time } = this.#options
    const over = new AbortController()
    const signal = AbortSignal.any([this.abortSignal, over.signal])
    try {
      const answer = embedder.embed(texts, signal)
      const vectors = await withDeadline(time, time.now() + EMBED_WITHIN_MS, signal, answer)
      if (vectors === null) return this.#later(due, `${embedder.id} did not answer within 4 minutes`, true)
      return { kind: 'embedded', vectors: vectors.map(normalised) }
    } catch (error) {
      const retryable = !(error instanceof ParleyError) || error.retryable
      return this.#later(due, error instanceof Error ? error.message : String(error), retryable)
    } finally {
      over.abort()
    }
  }

  #later({ attempts }: DueDocument, error: string, retryable: boolean): EmbeddingResult {
    const pause = (this.#options.embeddingRetryAfterMs ?? PAUSES_MS)[attempts - 1]
    if (!retryable || pause === undefined) return { kind: 'model_failed', error: error.slice(0, 500) }
    return { kind: 'again', inMs: pause }
  }
}
