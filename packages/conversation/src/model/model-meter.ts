import type { Ms, Time } from '@parley/kernel'
import type { GenerationEvent, GenerationRequest, LanguageModel } from '@parley/providers'
import type { UsageReport } from '../usage-report.ts'

const CHARACTERS_PER_TOKEN = 4
/** How long aborted answers may take to report their usage. */
const ABORT_TIMEOUT_MS: Ms = 250

/**
 * Reports the token usage of every model answer, including preemptive and aborted ones. A request that the service refused,
 * or that never reached it, uses nothing.
 */
export class ModelMeter {
  readonly #onUsage: (usage: UsageReport) => void
  /** Aborted answers that have not reported their usage yet. */
  readonly #ending = new Set<Promise<void>>()

  constructor(onUsage: (usage: UsageReport) => void) {
    this.#onUsage = onUsage
  }

  metered(model: LanguageModel): LanguageModel {
    return {
      identity: model.identity,
      readiness: () => model.readiness(),
      generate: (request, signal) => this.#generate(model, request, signal),
      close: () => model.close(),
    }
  }

  /** Resolves when all aborted answers have reported, or after 250 ms. */
  async over(time: Time): Promise<void> {
    if (this.#ending.size === 0) return
    const late = Promise.withResolvers<void>()
    const timer = time.at(time.now() + ABORT_TIMEOUT_MS, () => late.resolve())
    await Promise.race([Promise.all(this.#ending), late.promise])
    timer.cancel()
  }

  async *#generate(
    model: LanguageModel,
    request: GenerationRequest,
    signal: AbortSignal,
  ): AsyncGenerator<GenerationEvent> {
    if (signal.aborted) return
    const usage = new AnswerUsage(model, this.#onUsage)
    const { promise: over, resolve } = Promise.withResolvers<void>()
    const onAbort = () => this.#ending.add(over)
    signal.addEventListener('abort', onAbort, { once: true })
    let hasFailed = false
    try {
      for await (const event of model.generate(request, signal)) {
        usage.note(event)
        yield event
      }
    } catch (error) {
      hasFailed = true
      throw error
    } finally {
      signal.removeEventListener('abort', onAbort)
      usage.close(request, hasFailed)
      this.#ending.delete(over)
      resolve()
    }
  }
}

/** The usage of one answer. */
class AnswerUsage {
  readonly #model: LanguageModel
  readonly #onUsage: (usage: UsageReport) => void
  #isReported = false
  #began = false
  #written = 0

  constructor(model: LanguageModel, onUsage: (usage: UsageReport) => void) {
    this.#model = model
    this.#onUsage = onUsage
  }

  note(event: GenerationEvent): void {
    this.#began = true
    if (event.type === 'usage') {
      this.#isReported = true
      const { inputTokens, outputTokens, audio = { inputTokens: 0, outputTokens: 0 } } = event
      this.#report('llm_input_tokens', inputTokens - audio.inputTokens)
      this.#report('llm_output_tokens', outputTokens - audio.outputTokens)
      this.#report('llm_audio_input_tokens', Math.min(inputTokens, audio.inputTokens))
      this.#report('llm_audio_output_tokens', Math.min(outputTokens, audio.outputTokens))
    } else if (event.type === 'text' || event.type === 'speech' || event.type === 'tool-call-arguments')
      this.#written += event.delta.length
  }

  /** Ends the answer; estimates the usage when the service reported none. */
  close(request: GenerationRequest, hasFailed: boolean): void {
    if (this.#isReported || (hasFailed && !this.#began)) return
    this.#report('llm_input_tokens', tokens(charactersAsked(request)))
    this.#report('llm_output_tokens', tokens(this.#written))
  }

  #report(meter: UsageReport['meter'], quantity: number): void {
    const { provider, model: model_id } = this.#model.identity
    if (quantity > 0) this.#onUsage({ meter, provider, model_id, quantity })
  }
}

function charactersAsked({ messages, tools = [] }: GenerationRequest): number {
  const lengths = messages.map(message => {
    const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : []
    return calls.reduce((sum, call) => sum + call.name.length + call.argumentsText.length, message.content.length)
  })
  return lengths.reduce((sum, length) => sum + length, tools.length === 0 ? 0 : JSON.stringify(tools).length)
}

function tokens(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN)
}
