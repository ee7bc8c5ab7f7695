import type { FakeModelAnswer } from '../models/model-dialect.ts'
import { eventText, type FakeModelStep, type FakeStreamStyle } from '../models/model-step.ts'

/** How the service writes its answers. The defaults are Google's. */
export interface FakeContentStyle extends FakeStreamStyle {
  /** Tool calls have no id, as before Gemini 3. */
  readonly withoutIds?: boolean
  /** Text and finish reason come in one response. */
  readonly finishWithText?: boolean
}

interface FakeCall {
  readonly id: string
  readonly name: string
  text: string
  isWritten: boolean
}

/** One answer of `:streamGenerateContent`: a call is written when its arguments are complete, because they are sent parsed. */
export class ContentStream implements FakeModelAnswer {
  readonly #style: FakeContentStyle
  readonly #model: string
  readonly #calls = new Map<number, FakeCall>()
  readonly #parts: object[] = []
  #usage: object | null = null
  #waiting: object[] = []
  #reason: string | null = null

  constructor(style: FakeContentStyle, model: string, steps: readonly FakeModelStep[]) {
    this.#style = style
    this.#model = model
    const usage = steps.find(step => step.do === 'report-usage')
    if (usage === undefined) return
    const { input, output, cached } = usage
    this.#usage = {
      promptTokenCount: input,
      candidatesTokenCount: output,
      totalTokenCount: input + output,
      ...(cached !== undefined && { cachedContentTokenCount: cached }),
    }
  }

  get isFinished(): boolean {
    return this.#reason !== null
  }

  lines(step: FakeModelStep): string {
    switch (step.do) {
      case 'say':
        return this.#write([{ text: step.text }])
      case 'think':
        return this.#write([{ text: step.text, thought: true }])
      case 'begin-tool':
        this.#calls.set(step.index, { id: step.id, name: step.name, text: '', isWritten: false })
        return ''
      case 'tool-arguments': {
        const call = this.#callOf(step.index)
        call.text += step.text
        return parsed(call.text) === undefined ? '' : this.#write([this.#partOf(call)])
      }
      case 'finish':
        return this.#finish(step.reason)
      case 'ping':
        return ': ping\n\n'
      case 'fail':
        return this.#event({ error: step.error })
      case 'write':
        return step.text
      default:
        return ''
    }
  }

  /** The service has no marker for the end of its stream. */
  done(): string {
    return ''
  }

  document(): string {
    return JSON.stringify(this.#response(this.#parts, this.#reason))
  }

  #finish(reason: string): string {
    const open = [...this.#calls.values()].filter(({ isWritten }) => !isWritten)
    const isMalformed = reason === 'STOP' && open.some(({ text }) => text.trim() !== '')
    this.#reason = isMalformed ? 'MALFORMED_FUNCTION_CALL' : reason
    const empty = reason === 'STOP' && !isMalformed ? open.map(call => this.#partOf(call)) : []
    this.#parts.push(...empty)
    const last = [...this.#waiting, ...empty]
    // Google's last response has an empty text.
    return this.#event(this.#response(last.length > 0 ? last : [{ text: '' }], this.#reason))
  }

  #write(parts: readonly object[]): string {
    this.#parts.push(...parts)
    if (this.#style.finishWithText !== true) return this.#event(this.#response(parts, null))
    const before = this.#waiting
    this.#waiting = [...parts]
    return before.length === 0 ? '' : this.#event(this.#response(before, null))
  }

  #partOf(call: FakeCall): object {
    call.isWritten = true
    const args = parsed(call.text)
    const { withoutIds } = this.#style
    return {
      functionCall: {
        ...(withoutIds !== true && { id: call.id }),
        name: call.name,
        ...(args !== undefined && { args }),
      },
      thoughtSignature: 'ZmFrZQ==',
    }
  }

  #callOf(index: number): FakeCall {
    const call = this.#calls.get(index)
    if (call === undefined)
      throw new Error(`The script writes arguments of call ${index}, which has no step "begin-tool"; add one before.`)
    return call
  }

  #response(parts: readonly object[], finishReason: string | null): object {
    return {
      candidates: [{ content: { parts, role: 'model' }, index: 0, ...(finishReason !== null && { finishReason }) }],
      ...(this.#usage !== null && { usageMetadata: this.#usage }),
      modelVersion: this.#model,
      responseId: 'fake',
    }
  }

  #event(response: object): string {
    return eventText(this.#style, JSON.stringify(response))
  }
}

/** Undefined while the text is not complete JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
