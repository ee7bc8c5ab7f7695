import type { FakeModelAnswer } from '../models/model-dialect.ts'
import { eventText, type FakeModelStep, type FakeStreamStyle } from '../models/model-step.ts'

/** How the service writes its answers. The defaults are OpenAI's. */
export interface FakeChatStyle extends FakeStreamStyle {
  /** Tool calls have no id. */
  readonly withoutIds?: boolean
  /** Tool calls have no index. */
  readonly withoutIndexes?: boolean
  /** Every fragment of a tool call repeats its id and name. */
  readonly repeating?: boolean
  /** Tool calls end with the reason "stop". */
  readonly alwaysStop?: boolean
  /** Content is null in chunks without text. */
  readonly nulls?: boolean
  /** No "[DONE]" at the end. */
  readonly withoutDone?: boolean
}

interface FakeCall {
  readonly index: number
  readonly id: string
  readonly name: string
  text: string
}

/** One answer of `/chat/completions`. */
export class ChatCompletion implements FakeModelAnswer {
  readonly #style: FakeChatStyle
  readonly #model: string
  #text = ''
  readonly #calls: FakeCall[] = []
  #reason: string | null = null
  #usage: object | null = null
  #isFirst = true

  constructor(style: FakeChatStyle, model: string) {
    this.#style = style
    this.#model = model
  }

  get isFinished(): boolean {
    return this.#reason !== null
  }

  lines(step: FakeModelStep): string {
    switch (step.do) {
      case 'say':
        this.#text += step.text
        return this.#delta({ content: step.text })
      case 'think':
        return this.#delta({ reasoning_content: step.text })
      case 'begin-tool':
        this.#calls.push({ index: step.index, id: step.id, name: step.name, text: '' })
        return this.#delta({ tool_calls: [this.#callDelta(step.index, '', true)] })
      case 'tool-arguments':
        return this.#delta({ tool_calls: [this.#callDelta(step.index, step.text, false)] })
      case 'finish':
        this.#reason = this.#style.alwaysStop === true && step.reason === 'tool_calls' ? 'stop' : step.reason
        return this.#event({ choices: [{ index: 0, delta: {}, finish_reason: this.#reason }] })
      case 'report-usage':
        this.#usage = {
          prompt_tokens: step.input,
          completion_tokens: step.output,
          total_tokens: step.input + step.output,
          ...(step.cached !== undefined && { prompt_tokens_details: { cached_tokens: step.cached } }),
        }
        return this.#event({ choices: [], usage: this.#usage })
      case 'ping':
        return `: ping\n\n`
      case 'fail':
        return this.#event({ error: step.error })
      case 'write':
        return step.text
      default:
        return ''
    }
  }

  done(): string {
    return this.#style.withoutDone === true ? '' : eventText({ ...this.#style, comments: false }, '[DONE]')
  }

  document(): string {
    const tool_calls = this.#calls.map(({ id, name, text }) => ({
      ...(this.#style.withoutIds !== true && { id }),
      type: 'function',
      function: { name, arguments: text },
    }))
    const message = {
      role: 'assistant',
      content: this.#text === '' ? null : this.#text,
      ...(tool_calls.length > 0 && { tool_calls }),
    }
    const choices = [{ index: 0, message, finish_reason: this.#reason }]
    return JSON.stringify({ ...this.#envelope('chat.completion'), choices, usage: this.#usage ?? undefined })
  }

  #callDelta(index: number, text: string, begins: boolean): object {
    const call = this.#calls.find(candidate => candidate.index === index)
    if (call === undefined)
      throw new Error(`The script writes arguments of call ${index}, which has no step "begin-tool"; add one before.`)
    call.text += text
    const { withoutIds, withoutIndexes, repeating } = this.#style
    const named = begins || repeating === true
    return {
      ...(withoutIndexes !== true && { index }),
      ...(named && withoutIds !== true && { id: call.id }),
      ...(named && { type: 'function' }),
      function: { ...(named && { name: call.name }), arguments: text },
    }
  }

  #delta(given: object): string {
    const role = this.#isFirst ? { role: 'assistant' } : {}
    this.#isFirst = false
    const delta = { ...role, ...(this.#style.nulls === true && { content: null }), ...given }
    return this.#event({ choices: [{ index: 0, delta, finish_reason: null }] })
  }

  #event(members: object): string {
    return eventText(this.#style, JSON.stringify({ ...this.#envelope('chat.completion.chunk'), ...members }))
  }

  #envelope(object: string): object {
    return { id: 'chatcmpl-fake', object, created: 0, model: this.#model }
  }
}
