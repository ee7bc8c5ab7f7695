import { type Ms, ParleyError, type Time } from '@parley/kernel'
import type { GenerationRequest, LanguageModel, ToolCall } from '@parley/providers'
import { withDeadline } from '../deadline.ts'
import { JobsError } from '../errors.ts'

/** A model that says so much does not stop by itself. */
const MOST_EVENTS = 20_000

export interface ModelAnswer {
  /** Of the tool that was asked for; null: it was not called. */
  readonly call: ToolCall | null
  /** Null where they are no JSON object. */
  readonly args: Readonly<Record<string, unknown>> | null
  readonly inputTokens: number
  readonly outputTokens: number
  /** Null: it answered to the end. */
  readonly failure: { readonly code: string; readonly retryable: boolean } | null
}

/** Asks once, whatever the model does: it may stall, never end, throw, or take no notice of an abort. Never rejects. */
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
      if (++count > MOST_EVENTS) throw new JobsError('model_failed', 'the model does not stop answering')
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
