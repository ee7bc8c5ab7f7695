import { setTimeout as sleep } from 'node:timers/promises'
import type { Ms } from '@parley/kernel'
import type { ChatMessage, GenerationEvent, GenerationRequest, LanguageModel } from '@parley/providers'
import type { ModelIdentity } from '@parley/providers/testing'
import { HeardLines } from './heard-lines.ts'
import { CALLER_LINES, scriptedDelay } from './script.ts'

/** How the instructions introduce passages of documents. */
const PASSAGES = 'Passages of documents that may answer'

/** The scripted answer. */
export const ANSWER = 'Certainly.'

/** A model that answers each turn with the same sentence after `scriptedDelay`. */
export class ScriptedModel implements LanguageModel {
  readonly identity = { provider: 'bench', model: 'scripted' }
  readonly #leastMs: Ms
  readonly #plantedMs: Ms

  /** `leastMs`: shortest delay; `plantedMs`: additional delay, a planted fault. */
  constructor(leastMs: Ms, plantedMs: Ms) {
    this.#leastMs = leastMs
    this.#plantedMs = plantedMs
  }

  async readiness(): Promise<string | null> {
    return null
  }

  async *generate({ messages }: GenerationRequest, signal: AbortSignal): AsyncGenerator<GenerationEvent> {
    const { length } = turnsIn(messages)
    try {
      await sleep(scriptedDelay(length, this.#leastMs) + this.#plantedMs, null, { signal })
    } catch {
      return
    }
    yield { type: 'text', delta: ANSWER }
    yield { type: 'finished', reason: 'stop' }
  }

  async close(): Promise<void> {}
}

/** Requests of all calls to the model. */
export class RequestCounts {
  requests = 0
  /** Requests with passages of documents. */
  withPassages = 0
  /** Last turns of requests that differ from the callers' lines. */
  readonly misheard: string[] = []
  /** What each call heard. */
  readonly calls: HeardLines[] = []
}

/** The model of one call: forwards to a model and counts the requests. */
export class CountedModel implements LanguageModel {
  readonly #model: LanguageModel
  readonly #counts: RequestCounts
  readonly #heard = new HeardLines()

  constructor(model: LanguageModel, counts: RequestCounts) {
    this.#model = model
    this.#counts = counts
    counts.calls.push(this.#heard)
  }

  get identity(): ModelIdentity {
    return this.#model.identity
  }

  readiness(): Promise<string | null> {
    return this.#model.readiness()
  }

  generate(request: GenerationRequest, signal: AbortSignal): AsyncIterable<GenerationEvent> {
    const counts = this.#counts
    counts.requests++
    if (request.messages.some(({ content }) => content.includes(PASSAGES))) counts.withPassages++
    const newest = turnsIn(request.messages).at(-1)?.content ?? ''
    this.#heard.hear(newest)
    if (!CALLER_LINES.includes(newest)) counts.misheard.push(newest)
    return this.#model.generate(request, signal)
  }

  close(): Promise<void> {
    return this.#model.close()
  }
}

/** The caller's turns; adapters send notes in brackets for turns without words. */
function turnsIn(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  return messages.filter(({ role, content }) => role === 'user' && !content.startsWith('['))
}
