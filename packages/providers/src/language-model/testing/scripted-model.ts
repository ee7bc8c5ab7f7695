import { ProviderError } from '../../errors.ts'
import type { GenerationEvent, LanguageModel } from '../language-model.ts'
import { ToolCallAssembly } from '../tool-call-assembly.ts'
import type { ModelUnderTest, ServiceStep } from './conformance.ts'

/** A model without a service, which answers with scripted steps. For tests of code that uses a model. */
export function scriptedModel(): ModelUnderTest {
  const scripts: (readonly ServiceStep[])[] = []
  let abandoned = 0

  async function* play(steps: readonly ServiceStep[], signal: AbortSignal): AsyncGenerator<GenerationEvent> {
    let complete = false
    try {
      const tools = new ToolCallAssembly()
      let reason: 'stop' | 'tool-calls' | 'length' = 'stop'
      for (const step of steps) {
        await Promise.resolve()
        if (signal.aborted) return
        if (step.do === 'stall') return await aborted(signal)
        if (step.do === 'finish') reason = step.reason
        const event = eventOf(step, tools)
        if (event !== null) yield event
      }
      if (reason !== 'length') yield* tools.complete()
      complete = true
      yield { type: 'finished', reason }
    } finally {
      if (!complete) abandoned++
    }
  }

  const model: LanguageModel = {
    identity: { provider: 'test', model: 'scripted' },
    readiness: async () => null,
    async *generate(_request, signal) {
      if (!signal.aborted) yield* play(scripts.shift() ?? [], signal)
    },
    close: async () => {},
  }
  return { model, script: steps => void scripts.push(steps), abandoned: () => abandoned, close: async () => {} }
}

function eventOf(step: ServiceStep, tools: ToolCallAssembly): GenerationEvent | null {
  switch (step.do) {
    case 'say':
      return { type: 'text', delta: step.text }
    case 'begin-tool':
      return tools.begin(step.index, step.id, step.name)
    case 'tool-arguments':
      return tools.append(step.index, step.text)
    case 'report-usage':
      return { type: 'usage', inputTokens: step.input, outputTokens: step.output, cachedInputTokens: 0 }
    case 'turn-away':
      throw new ProviderError('model_busy', 'Too many requests.')
    case 'refuse':
      throw new ProviderError('model_refused', 'The key is not valid.')
    case 'break-off':
      throw new ProviderError('model_unreachable', 'The connection broke.')
    case 'finish':
    case 'stall':
      return null
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
