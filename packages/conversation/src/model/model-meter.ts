import type { Ms, Time } from '@parley/kernel'
import type { GenerationEvent, GenerationRequest, LanguageModel } from '@parley/providers'
import type { UsageReport } from '../usage-report.ts'

const CHARACTERS_PER_TOKEN = 4
/** A model that was told to stop has done so by then, or it takes no notice. */
const STOPS_WITHIN_MS: Ms = 250

/**
 * Tells what each answer of a model cost: used or not, asked early or not, also where it was given up. A request that the
 * service refused, or that never reached it, costs nothing.
 */
export class ModelMeter {
  readonly #onUsage: (usage: UsageReport) => void
  /** Answers that were given up and have not told yet. */
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

  /** When what was given up has told, or 250 ms later. */
  async over(time: Time): Promise<void> {
    if (this.#ending.size === 0) return
    const late = Promise.withResolvers<void>()
    const timer = time.at(time.now() + STOPS_WITHIN_MS, () => late.resolve())
    await Promise.race([Promise.all(this.#ending), late.promise])
    timer.cancel()
  }

  async *#generate(
    model: LanguageModel,
    request: GenerationRequest,
    signal: AbortSignal,
  ): AsyncGenerator<GenerationEvent> {
    if (signal.aborted) return
    const bill = new Bill(model, this.#onUsage)
    const { promise: over, resolve } = Promise.withResolvers<void>()
    const onAbort = () => this.#ending.add(over)
    signal.addEventListener('abort', onAbort, { once: true })
    let hasFailed = false
    try {
      for await (const event of model.generate(request, signal)) {
        bill.note(event)
        yield event
      }
    } catch (error) {
      hasFailed = true
      throw error
    } finally {
      signal.removeEventListener('abort', onAbort)
      bill.close(request, hasFailed)
      this.#ending.delete(over)
      resolve()
    }
  }
}

/** What one answer costs. */
class Bill {
  readonly #model: LanguageModel
  readonly #onUsage: (usage: UsageReport) => void
  #isTold = false
  #began = false
  #written = 0

  constructor(model: LanguageModel, onUsage: (usage: UsageReport) => void) {
    this.#model = model
    this.#onUsage = onUsage
  }

  note(event: GenerationEvent): void {
    this.#began = true
    if (event.type === 'usage') {
      this.#isTold = true
      this.#tell('llm_input_tokens', event.inputTokens)
      this.#tell('llm_output_tokens', event.outputTokens)
    } else if (event.type === 'text' || event.type === 'tool-call-arguments') this.#written += event.delta.length
  }

  /** Nothing more of the answer comes. What the service did not count is counted here. */
  close(request: GenerationRequest, hasFailed: boolean): void {
    if (this.#isTold || (hasFailed && !this.#began)) return
    this.#tell('llm_input_tokens', tokens(charactersAsked(request)))
    this.#tell('llm_output_tokens', tokens(this.#written))
  }

  #tell(meter: UsageReport['meter'], quantity: number): void {
    const { provider, model: model_id } = this.#model.identity
    if (quantity > 0) this.#onUsage({ meter, provider, model_id, quantity })
  }
}

function charactersAsked({ messages, tools = [] }: GenerationRequest): number {
  const said = messages.map(message => {
    const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : []
    return calls.reduce((sum, call) => sum + call.name.length + call.argumentsText.length, message.content.length)
  })
  return said.reduce((sum, each) => sum + each, tools.length === 0 ? 0 : JSON.stringify(tools).length)
}

function tokens(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN)
}
