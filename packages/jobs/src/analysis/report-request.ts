import { type Ms, ParleyError, type Time, withDeadline } from '@parley/kernel'
import type { GenerationRequest, LanguageModel, ToolCall } from '@parley/providers'
import { JobsError } from '../errors.ts'

/** A model that emits more events does not stop by itself. */
const MAX_EVENTS = 20_000

export interface ModelAnswer {
  /** The call of the requested tool; null: it was not called. */
  readonly call: ToolCall | null
  /** The arguments; null: they are not a JSON object. */
  readonly args: Readonly<Record<string, unknown>> | null
  readonly inputTokens: number
  readonly outputTokens: number
  /** Null: the answer is complete. */
  readonly failure: { readonly code: string; readonly retryable: boolean } | null
}

/** Makes one request. The model may stall, never end, throw, or ignore an abort: the result comes by `deadline`. Never rejects. */
export async function requestReport(
  model: LanguageModel,
  request: GenerationRequest,
  { time, deadline, signal }: { readonly time: Time; readonly deadline: Ms; readonly signal: AbortSignal },
): Promise<ModelAnswer> {
  const reading = new Reading()
  const over = new AbortController()
  try {
    const all = reading.read(model.generate(request, AbortSignal.any([signal, over.signal])))
    if ((await withDeadline(time, deadline, signal, all)) === null)
      reading.failure = { code: signal.aborted ? 'aborted' : 'model_timeout', retryable: true }
  } catch (error) {
    reading.failure =
      error instanceof ParleyError
        ? { code: error.code, retryable: error.retryable }
        : { code: 'model_failed', retryable: false }
  }
  over.abort()
  return { ...reading }
}

class Reading implements ModelAnswer {
  call: ToolCall | null = null
  args: ModelAnswer['args'] = null
  inputTokens = 0
  outputTokens = 0
  failure: ModelAnswer['failure'] = null

  async read(events: ReturnType<LanguageModel['generate']>): Promise<true> {
    let count = 0
    for await (const event of events) {
      if (++count > MAX_EVENTS)
        throw new JobsError('model_failed', `the model sent more than ${MAX_EVENTS} events`, { retryable: false })
      if (event.type === 'usage') {
        this.inputTokens = event.inputTokens
        this.outputTokens = event.outputTokens
      } else if (event.type === 'tool-call' && this.call === null) {
        this.call = event.call
        this.args = event.arguments
      }
    }
    return true
  }
}
