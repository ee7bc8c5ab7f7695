import type { Plan } from '@parley/flow'
import { type Ms, ParleyError, type Time, type Timer } from '@parley/kernel'
import type { ChatMessage } from '@parley/providers'
import type { KnowledgePassage, KnowledgeSearcher } from '../ports.ts'
import type { TimelineFact } from '../timeline.ts'
import { type NodeKnowledge, nodeKnowledge } from './node-knowledge.ts'

/** What was found for a turn. */
export interface RetrievedKnowledge {
  readonly generation_id: string
  readonly passages: readonly KnowledgePassage[]
  /** From the start of the search to its answer. */
  readonly searchMs: Ms
  /** How long the model's request waited for it. */
  readonly waitedMs: Ms
}

/** What was found, or a promise of it. */
export type TurnPassages = RetrievedKnowledge | null | Promise<RetrievedKnowledge | null>

interface Search {
  /** Never rejects; null: it failed. */
  readonly found: Promise<RetrievedKnowledge | null>
  /** Set when it is over. */
  result: RetrievedKnowledge | null
}

interface TurnKnowledgeOptions {
  readonly plan: Plan
  readonly searcher: KnowledgeSearcher
  readonly time: Time
  /** How long a request to the model waits for a search, where nothing was found for earlier words of the turn. */
  readonly waitMs: Ms
  readonly onFact: (fact: TimelineFact) => void
}

/** With fewer words the caller's turn alone says too little: the agent's last words are searched with it. */
const FEW_WORDS = 3
/** While the caller speaks, a search begins at most this often: a recogniser reports each word, and revises it. */
const MIN_INTERVAL_MS = 300
/** Searches of one turn that are remembered. */
const MAX_SEARCHES = 40
/** The longest query, in characters; its end counts. */
const MAX_QUERY = 1000

/**
 * Searches documents while the caller still speaks: new words start a search of the words so far, every 300 ms at most, so that the
 * passages are there when the turn ends. All words of the turn are searched at once when it ends. The same words get the same passages, as an answer that was requested early needs.
 */
export class TurnKnowledge {
  readonly #options: TurnKnowledgeOptions
  /** By node and words, the oldest first. */
  readonly #searches = new Map<string, Search>()
  readonly #answers = new Map<string, TurnPassages>()
  readonly #closing = new AbortController()
  #hasFailed = false
  #lastSearchAt: Ms | null = null
  /** The search of the newest words, 300 ms after the one before. */
  #scheduled: Timer | null = null
  /** The last turn has ended, and nothing of the next one was heard. */
  #isOver = false

  constructor(options: TurnKnowledgeOptions) {
    this.#options = options
  }

  /** The caller has said this much of a turn: `messages` end with it. */
  hearing(nodeId: string, messages: readonly ChatMessage[]): void {
    const knowledge = nodeKnowledge(this.#options.plan, nodeId)
    const query = queryOf(messages)
    if (this.#isOver) this.#forget()
    this.#unschedule()
    if (knowledge === null || query === null || this.#searches.has(keyOf(nodeId, query))) return
    const { time } = this.#options
    const earliest = (this.#lastSearchAt ?? -Infinity) + MIN_INTERVAL_MS
    if (earliest <= time.now()) this.#search(nodeId, query, knowledge)
    else this.#scheduled = time.at(earliest, () => this.#search(nodeId, query, knowledge))
  }

  /**
   * The passages for the caller's last turn in `messages`, at once where they are there. Null: there are none, because nothing is
   * searched in this node, the search failed, or it took too long. The promise never rejects.
   */
  forTurn(nodeId: string, messages: readonly ChatMessage[]): TurnPassages {
    const knowledge = nodeKnowledge(this.#options.plan, nodeId)
    const query = queryOf(messages)
    if (knowledge === null || query === null) return null
    // All words are searched now.
    this.#unschedule()
    const key = keyOf(nodeId, query)
    const known = this.#answers.get(key)
    if (known !== undefined) return known
    const search = this.#search(nodeId, query, knowledge)
    const answer = search.result ?? this.#latestOf(nodeId) ?? this.#awaited(search)
    this.#answers.set(key, answer)
    if (answer instanceof Promise)
      void answer.then(found => {
        if (this.#answers.get(key) === answer) this.#answers.set(key, found)
      })
    return answer
  }

  /** The caller's turn has ended; what was found for it counts until something of the next one is heard. */
  turnEnded(): void {
    if (this.#isOver) this.#forget()
    this.#unschedule()
    this.#isOver = true
  }

  close(): void {
    this.#unschedule()
    this.#closing.abort()
  }

  #forget(): void {
    this.#searches.clear()
    this.#answers.clear()
    this.#isOver = false
  }

  #unschedule(): void {
    this.#scheduled?.cancel()
    this.#scheduled = null
  }

  async #awaited(search: Search): Promise<RetrievedKnowledge | null> {
    const { time, waitMs } = this.#options
    const startedAt = time.now()
    const { promise: late, resolve } = Promise.withResolvers<null>()
    const timer = time.at(startedAt + waitMs, () => resolve(null))
    const found = await Promise.race([search.found, late])
    timer.cancel()
    return found === null ? null : { ...found, waitedMs: time.now() - startedAt }
  }

  /** What was found last for earlier words of this turn. */
  #latestOf(nodeId: string): RetrievedKnowledge | null {
    let latest: RetrievedKnowledge | null = null
    for (const [key, { result }] of this.#searches)
      if (key.startsWith(`${nodeId}\n`) && result !== null) latest = result
    return latest
  }

  #search(nodeId: string, query: string, knowledge: NodeKnowledge): Search {
    const key = keyOf(nodeId, query)
    const known = this.#searches.get(key)
    if (known !== undefined) return known
    this.#lastSearchAt = this.#options.time.now()
    const search: Search = { found: this.#found(query, knowledge), result: null }
    void search.found.then(result => {
      search.result = result
    })
    this.#searches.set(key, search)
    const [oldest] = this.#searches.keys()
    if (this.#searches.size > MAX_SEARCHES && oldest !== undefined) this.#searches.delete(oldest)
    return search
  }

  async #found(query: string, knowledge: NodeKnowledge): Promise<RetrievedKnowledge | null> {
    const { searcher, time, onFact } = this.#options
    const startedAt = time.now()
    try {
      const { generation_id, items } = await searcher.search({ query, ...knowledge }, this.#closing.signal)
      this.#hasFailed = false
      return { generation_id, passages: items, searchMs: time.now() - startedAt, waitedMs: 0 }
    } catch (error) {
      // One item for many searches that fail in a row.
      if (!this.#hasFailed && !this.#closing.signal.aborted) {
        const code = error instanceof ParleyError ? error.code : 'knowledge_failed'
        const why = error instanceof Error ? error.message : String(error)
        onFact({ kind: 'error', code, message: `The documents were not searched: ${why}`.slice(0, 1000) })
      }
      this.#hasFailed = true
      return null
    }
  }
}

/** The words to search for; null: the caller has said none. */
function queryOf(messages: readonly ChatMessage[]): string | null {
  const at = messages.findLastIndex(({ role }) => role === 'user')
  const words = messages[at]?.content ?? ''
  // A note, such as keys that were pressed.
  const text = words.replace(/\[[^\]]*\]/g, ' ').trim()
  if (!/\p{L}/u.test(text)) return null
  if ((text.match(/[\p{L}\p{N}]+/gu)?.length ?? 0) >= FEW_WORDS) return text.slice(-MAX_QUERY)
  const before = messages.slice(0, at).findLast(({ role }) => role === 'assistant')?.content ?? ''
  return `${before} ${text}`.trim().slice(-MAX_QUERY)
}

/** Punctuation and capitals do not count: the recogniser may still change them. */
function keyOf(nodeId: string, query: string): string {
  return `${nodeId}\n${(query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(' ')}`
}
