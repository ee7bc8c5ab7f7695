import type { GenerationEvent, GenerationRequest, LanguageModel } from '@parley/providers'

/** What the model does in one answer: says something, takes the way on of that condition, says nothing for ever, fails. */
type Thought = { readonly say: string } | { readonly take: string } | 'stalls' | 'fails'

/** A model that follows a script, answer by answer; without a script it answers "Yes." It records its requests. */
export class ScriptedModel implements LanguageModel {
  readonly identity = { provider: 'test', model: 'scripted' }
  readonly requests: GenerationRequest[] = []
  /** Requests that nobody wanted answered any more. */
  givenUp = 0
  readonly #thoughts: Thought[] = []

  thinks(...thoughts: readonly Thought[]): void {
    this.#thoughts.push(...thoughts)
  }

  async readiness(): Promise<null> {
    return null
  }

  async *generate(request: GenerationRequest, signal: AbortSignal): AsyncGenerator<GenerationEvent> {
    this.requests.push(request)
    const thought = this.#thoughts.shift() ?? { say: 'Yes.' }
    if (thought === 'fails') throw new Error('down')
    if (thought === 'stalls') {
      await new Promise<void>(resolve => signal.addEventListener('abort', () => resolve(), { once: true }))
      this.givenUp++
      return
    }
    if ('say' in thought) yield { type: 'text', delta: thought.say }
    else yield callOf(request, thought.take)
    yield { type: 'usage', inputTokens: 7, outputTokens: 3, cachedInputTokens: 0 }
    yield { type: 'finished', reason: 'stop' }
  }

  async close(): Promise<void> {}
}

function callOf(request: GenerationRequest, condition: string): GenerationEvent {
  const tool = request.tools?.find(({ description }) => description === condition)
  if (tool === undefined) throw new Error(`"${condition}" is not offered`)
  return { type: 'tool-call', call: { id: 'call', name: tool.name, argumentsText: '{}' }, arguments: {} }
}
