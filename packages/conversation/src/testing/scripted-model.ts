import type { Ms, Time } from '@parley/kernel'
import type { GenerationEvent, GenerationRequest, LanguageModel } from '@parley/providers'

/** One step of a scripted answer. */
type Step =
  | { readonly say: string }
  /** A complete tool call. A string in `args` is sent as raw argument text. */
  | { readonly call: string; readonly args?: Readonly<Record<string, unknown>> | string }
  /** Calls the transition tool with this condition. */
  | { readonly take: string }
  | { readonly wait: Ms }
  | { readonly fail: unknown }
  /** The usage that the service reports. */
  | { readonly tokens: readonly [input: number, output: number] }
  /** Waits until the request is aborted, then reports this usage. */
  | { readonly tokensWhenStopped: readonly [input: number, output: number] }
  /** Sends nothing more. */
  | { readonly stall: true }
  /** Repeats the text forever, without a pause. */
  | { readonly babble: string }
  | { readonly finish: Extract<GenerationEvent, { type: 'finished' }>['reason'] }

export type Answer = readonly Step[] | ((request: GenerationRequest) => readonly Step[])

/** A model that plays scripted answers in order, empty ones when the script is over, and records its requests. */
export class ScriptedModel implements LanguageModel {
  readonly identity = { provider: 'test', model: 'scripted' }
  readonly requests: GenerationRequest[] = []
  /** Number of requests that did not finish: aborted, or failed by a "fail" step. */
  givenUp = 0
  /** Whether the model continues after an abort. */
  ignoresAborts = false
  readonly #time: Time
  readonly #answers: Answer[] = []
  #call = 0

  constructor(time: Time) {
    this.#time = time
  }

  /** Scripts the answers to the next requests, in order. */
  answers(...answers: readonly Answer[]): void {
    this.#answers.push(...answers)
  }

  async readiness(): Promise<null> {
    return null
  }

  async *generate(request: GenerationRequest, signal: AbortSignal): AsyncGenerator<GenerationEvent> {
    this.requests.push(request)
    const answer = this.#answers.shift() ?? []
    const steps = typeof answer === 'function' ? answer(request) : answer
    let isComplete = false
    try {
      let reason: Extract<GenerationEvent, { type: 'finished' }>['reason'] = 'stop'
      for (const step of steps) {
        await Promise.resolve()
        if (signal.aborted && !this.ignoresAborts) return
        if ('wait' in step) await this.#pause(step.wait, signal)
        else if ('stall' in step) await this.#pause(Number.POSITIVE_INFINITY, signal)
        else if ('tokensWhenStopped' in step) {
          await this.#pause(Number.POSITIVE_INFINITY, signal)
          yield usage(step.tokensWhenStopped)
        } else if ('fail' in step) throw step.fail
        else if ('tokens' in step) yield usage(step.tokens)
        else if ('babble' in step) for (;;) yield { type: 'text', delta: step.babble }
        else if ('finish' in step) reason = step.finish
        else yield* this.#events(step, request)
      }
      if (signal.aborted && !this.ignoresAborts) return
      isComplete = true
      yield { type: 'finished', reason }
    } finally {
      if (!isComplete) this.givenUp++
    }
  }

  async close(): Promise<void> {}

  *#events(
    step: Extract<Step, { say: string } | { call: string } | { take: string }>,
    request: GenerationRequest,
  ): Generator<GenerationEvent> {
    if ('say' in step) {
      yield { type: 'text', delta: step.say }
      return
    }
    const name = 'take' in step ? toolOf(request, step.take) : step.call
    const args = 'take' in step ? {} : (step.args ?? {})
    const id = `model_${++this.#call}`
    const argumentsText = typeof args === 'string' ? args : JSON.stringify(args)
    yield { type: 'tool-call-started', id, name }
    yield { type: 'tool-call-arguments', id, delta: argumentsText }
    yield { type: 'tool-call', call: { id, name, argumentsText }, arguments: typeof args === 'string' ? null : args }
  }

  #pause(ms: Ms, signal: AbortSignal): Promise<void> {
    return new Promise(resolve => {
      if (ms !== Number.POSITIVE_INFINITY) this.#time.at(this.#time.now() + ms, resolve)
      if (!this.ignoresAborts) signal.addEventListener('abort', () => resolve(), { once: true })
    })
  }
}

function usage([inputTokens, outputTokens]: readonly [number, number]): GenerationEvent {
  return { type: 'usage', inputTokens, outputTokens, cachedInputTokens: 0 }
}

function toolOf(request: GenerationRequest, condition: string): string {
  const tool = request.tools?.find(({ description }) => description === condition)
  if (tool === undefined) {
    const offered = request.tools?.map(({ name, description }) => `${name}: ${description}`).join(', ')
    throw new Error(`no tool has the condition "${condition}"; offered: ${offered ?? 'none'}`)
  }
  return tool.name
}

/** The system message of a request. */
export function systemOf({ messages }: GenerationRequest): string {
  return messages[0]?.role === 'system' ? messages[0].content : ''
}

/** The messages of a request as lines: `user: …`, `agent: …`, `call NAME …`, `result …`. */
export function linesOf(messages: GenerationRequest['messages']): string[] {
  return messages.flatMap(message => {
    if (message.role === 'user') return [`user: ${message.content}`]
    if (message.role === 'tool') return [`result ${message.content}`]
    if (message.role !== 'assistant') return []
    const calls = (message.toolCalls ?? []).map(({ name, argumentsText }) => `call ${name} ${argumentsText}`)
    return message.content === '' ? calls : [`agent: ${message.content}`, ...calls]
  })
}
