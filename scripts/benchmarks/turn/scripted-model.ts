import { setTimeout as sleep } from 'node:timers/promises'
import type { Ms } from '@parley/kernel'
import type { GenerationEvent, GenerationRequest, LanguageModel } from '@parley/providers'
import { CALLER_LINES, scriptedDelay } from './script.ts'

/** What it says. */
export const ANSWER = 'Certainly.'

/** A model that answers each turn with the same sentence, all of it at once after `scriptedDelay`, and counts. */
export class ScriptedModel implements LanguageModel {
  readonly identity = { provider: 'bench', model: 'scripted' }
  requests = 0
  /** Newest turns of requests that are no line of the callers. */
  readonly misheard: string[] = []
  readonly #plantedMs: Ms

  /** `plantedMs`: a planted fault, waited for on top. */
  constructor(plantedMs: Ms) {
    this.#plantedMs = plantedMs
  }

  async readiness(): Promise<string | null> {
    return null
  }

  async *generate({ messages }: GenerationRequest, signal: AbortSignal): AsyncGenerator<GenerationEvent> {
    this.requests++
    const turns = messages.filter(message => message.role === 'user')
    const newest = turns.at(-1)?.content ?? ''
    if (!CALLER_LINES.includes(newest)) this.misheard.push(newest)
    try {
      await sleep(scriptedDelay(turns.length) + this.#plantedMs, null, { signal })
    } catch {
      return
    }
    yield { type: 'text', delta: ANSWER }
    yield { type: 'finished', reason: 'stop' }
  }

  async close(): Promise<void> {}
}
