import type { FakeModelAnswer } from '../models/model-dialect.ts'
import { eventText, type FakeModelStep, type FakeStreamStyle } from '../models/model-step.ts'

/** How the service writes its answers. The defaults are Anthropic's. */
export interface FakeMessagesStyle extends FakeStreamStyle {
  /** Blocks of tools are written at once, as services that only speak like Anthropic do. */
  readonly interleaved?: boolean
  /** All arguments of a tool are in the start of its block, without fragments. */
  readonly wholeInputs?: boolean
  /** Tool calls have no id. */
  readonly withoutIds?: boolean
  /** Tool calls end with "end_turn". */
  readonly alwaysEndTurn?: boolean
  /** No "message_stop" at the end. */
  readonly withoutStop?: boolean
  /** Sends events of unknown types in between. */
  readonly novelties?: boolean
}

interface FakeTool {
  readonly id: string
  readonly name: string
  readonly fragments: string[]
}

type Usage = Extract<FakeModelStep, { do: 'report-usage' }>

/** One answer of `/v1/messages`: consecutive blocks, each with a start, fragments and an end. */
export class MessageStream implements FakeModelAnswer {
  readonly #style: FakeMessagesStyle
  readonly #model: string
  readonly #usage: Usage
  #hasBegun = false
  /** The open block: its kind, or the script's index of its tool. */
  #open: 'text' | 'thinking' | number | null = null
  /** Blocks begun so far. */
  #blocks = 0
  #text = ''
  readonly #tools = new Map<number, FakeTool>()
  /** Indexes of the blocks of tools that were written at once. */
  readonly #blockOf = new Map<number, number>()
  #reason: string | null = null

  constructor(style: FakeMessagesStyle, model: string, steps: readonly FakeModelStep[]) {
    this.#style = style
    this.#model = model
    this.#usage = steps.find(step => step.do === 'report-usage') ?? { do: 'report-usage', input: 10, output: 5 }
  }

  get isFinished(): boolean {
    return this.#reason !== null
  }

  lines(step: FakeModelStep): string {
    if (step.do === 'write') return step.text
    const began = this.#hasBegun ? '' : this.#begin()
    this.#hasBegun = true
    return began + this.#lines(step)
  }

  done(): string {
    return this.#style.withoutStop === true ? '' : this.#event('message_stop', {})
  }

  document(): string {
    const text = this.#text === '' ? [] : [{ type: 'text', text: this.#text }]
    const tools = [...this.#tools.values()].map(tool => ({ ...this.#head(tool), input: inputOf(tool) }))
    const usage = { ...this.#inputUsage(), output_tokens: this.#usage.output }
    return JSON.stringify({ ...this.#message(), content: [...text, ...tools], stop_reason: this.#reason, usage })
  }

  #lines(step: FakeModelStep): string {
    switch (step.do) {
      case 'say':
        this.#text += step.text
        return this.#turnTo('text') + this.#delta({ type: 'text_delta', text: step.text })
      case 'think':
        return this.#turnTo('thinking') + this.#delta({ type: 'thinking_delta', thinking: step.text })
      case 'begin-tool':
        this.#tools.set(step.index, { id: step.id, name: step.name, fragments: [] })
        return this.#style.interleaved === true ? this.#beginTool(step.index) : ''
      case 'tool-arguments': {
        this.#toolOf(step.index).fragments.push(step.text)
        return this.#style.interleaved === true ? this.#fragment(step.index, step.text) : ''
      }
      case 'finish':
        return this.#finish(step.reason)
      case 'ping':
        return this.#event('ping', {})
      case 'fail':
        return this.#event('error', { error: step.error })
      default:
        return ''
    }
  }

  #begin(): string {
    const usage = { ...this.#inputUsage(), output_tokens: 1 }
    const message = { ...this.#message(), content: [], stop_reason: null, stop_sequence: null, usage }
    const novelty = this.#style.novelties === true ? this.#event('weather_forecast', { outlook: 'sunny' }) : ''
    return this.#event('message_start', { message }) + this.#event('ping', {}) + novelty
  }

  #finish(reason: string): string {
    const waiting = this.#style.interleaved === true ? [] : [...this.#tools.keys()]
    const tools = waiting.map(index => {
      const begun = this.#beginTool(index)
      const fragments = this.#toolOf(index).fragments.map(text => this.#fragment(index, text))
      return begun + fragments.join('')
    })
    const closed = this.#style.interleaved === true ? this.#closeAll() : this.#close()
    this.#reason = this.#style.alwaysEndTurn === true && reason === 'tool_use' ? 'end_turn' : reason
    const end = this.#event('message_delta', {
      delta: { stop_reason: this.#reason, stop_sequence: null },
      usage: { output_tokens: this.#usage.output },
    })
    return tools.join('') + closed + end
  }

  #beginTool(index: number): string {
    const tool = this.#toolOf(index)
    const closed = this.#style.interleaved === true && typeof this.#open === 'number' ? '' : this.#close()
    this.#open = index
    this.#blockOf.set(index, this.#blocks)
    const input = this.#style.wholeInputs === true ? inputOf(tool) : {}
    return (
      closed +
      this.#event('content_block_start', { index: this.#blocks++, content_block: { ...this.#head(tool), input } })
    )
  }

  #fragment(index: number, text: string): string {
    if (this.#style.wholeInputs === true) return ''
    const delta = { type: 'input_json_delta', partial_json: text }
    return this.#event('content_block_delta', { index: this.#blockOf.get(index), delta })
  }

  #turnTo(kind: 'text' | 'thinking'): string {
    if (this.#open === kind) return ''
    const closed = this.#close()
    this.#open = kind
    const content_block =
      kind === 'text' ? { type: 'text', text: '' } : { type: 'thinking', thinking: '', signature: '' }
    return closed + this.#event('content_block_start', { index: this.#blocks++, content_block })
  }

  #close(): string {
    if (this.#open === null) return ''
    const signed = this.#open === 'thinking' ? this.#delta({ type: 'signature_delta', signature: 'fake' }) : ''
    this.#open = null
    return signed + this.#event('content_block_stop', { index: this.#blocks - 1 })
  }

  #closeAll(): string {
    if (typeof this.#open !== 'number') return this.#close()
    this.#open = null
    return [...this.#blockOf.values()].map(index => this.#event('content_block_stop', { index })).join('')
  }

  #delta(delta: object): string {
    return this.#event('content_block_delta', { index: this.#blocks - 1, delta })
  }

  #event(type: string, members: object): string {
    return eventText(this.#style, JSON.stringify({ type, ...members }), type)
  }

  #toolOf(index: number): FakeTool {
    const tool = this.#tools.get(index)
    if (tool === undefined)
      throw new Error(`The script writes arguments of call ${index}, which has no step "begin-tool"; add one before.`)
    return tool
  }

  #head({ id, name }: FakeTool): object {
    return { type: 'tool_use', ...(this.#style.withoutIds !== true && { id }), name }
  }

  #message(): object {
    return { id: 'msg_fake', type: 'message', role: 'assistant', model: this.#model }
  }

  #inputUsage(): object {
    const { input, cached = 0 } = this.#usage
    return { input_tokens: input - cached, cache_creation_input_tokens: 0, cache_read_input_tokens: cached }
  }
}

/** Parses an object; {} for any other text, because the service sends only valid whole inputs. */
function inputOf({ fragments }: FakeTool): unknown {
  try {
    return JSON.parse(fragments.join('') || '{}')
  } catch {
    return {}
  }
}
