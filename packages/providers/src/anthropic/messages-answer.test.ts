import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { GenerationEvent } from '../language-model/language-model.ts'
import { AnswerBytes } from '../model-service/answer-bytes.ts'
import { MessagesAnswer } from './messages-answer.ts'

type JsonObject = Readonly<Record<string, unknown>>

const event = (given: JsonObject) => `event: ${given.type}\ndata: ${JSON.stringify(given)}\n\n`
const begin = (index: number, content_block: JsonObject) => event({ type: 'content_block_start', index, content_block })
const delta = (index: number, given: JsonObject) => event({ type: 'content_block_delta', index, delta: given })
const stop = (index: number) => event({ type: 'content_block_stop', index })
const text = (index: number, given: string) => delta(index, { type: 'text_delta', text: given })
const json = (index: number, partial_json: string) => delta(index, { type: 'input_json_delta', partial_json })
const over = (stop_reason: string, usage: JsonObject = { output_tokens: 3 }) =>
  event({ type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage })
const START = event({
  type: 'message_start',
  message: { role: 'assistant', usage: { input_tokens: 7, output_tokens: 1 } },
})
const END = event({ type: 'message_stop' })

function read(given: string, answer = new AnswerBytes(new MessagesAnswer())): GenerationEvent[] {
  return [...answer.push(Buffer.from(given)), ...answer.end(), ...answer.answer.end()]
}

const textOf = (events: readonly GenerationEvent[]) =>
  events.map(each => (each.type === 'text' ? each.delta : '')).join('')
const calls = (events: readonly GenerationEvent[]) =>
  events.flatMap(each => (each.type === 'tool-call' ? [[each.call.id, each.call.name, each.arguments]] : []))

describe('an answer of the Anthropic Messages API', () => {
  it('the text leaves out thinking, citations and tools that the service runs itself', () => {
    const events = read(
      [
        START,
        begin(0, { type: 'thinking', thinking: '', signature: '' }),
        delta(0, { type: 'thinking_delta', thinking: 'The caller wants the weather.' }),
        delta(0, { type: 'signature_delta', signature: 'abc' }),
        stop(0),
        begin(1, { type: 'server_tool_use', id: 'srv', name: 'web_search', input: {} }),
        json(1, '{"query":"weather"}'),
        stop(1),
        begin(2, { type: 'text', text: 'It is' }),
        text(2, ' sunny.'),
        delta(2, { type: 'citations_delta', citation: {} }),
        stop(2),
        over('end_turn'),
        END,
      ].join(''),
    )
    expect(textOf(events)).toBe('It is sunny.')
    expect(events.at(-1)).toEqual({ type: 'finished', reason: 'stop' })
    expect(calls(events)).toEqual([])
  })

  it('a tool call completes whether its input comes in fragments or whole', () => {
    const events = read(
      [
        START,
        begin(0, { type: 'tool_use', id: 'a', name: 'weather', input: {} }),
        json(0, ''),
        json(0, '{"city":'),
        json(0, '"Oslo"}'),
        stop(0),
        begin(1, { type: 'tool_use', id: 'b', name: 'weather', input: { city: 'Lima' } }),
        stop(1),
        begin(2, { type: 'tool_use', id: 'c', name: 'hang_up', input: {} }),
        stop(2),
        over('tool_use'),
        END,
      ].join(''),
    )
    expect(calls(events)).toEqual([
      ['a', 'weather', { city: 'Oslo' }],
      ['b', 'weather', { city: 'Lima' }],
      ['c', 'hang_up', {}],
    ])
    expect(events.at(-1)).toEqual({ type: 'finished', reason: 'tool-calls' })
  })

  it.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['pause_turn', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['refusal', 'content-filter'],
  ])('the stop reason "%s" is reported as %s', (reason, expected) => {
    expect(read(`${START}${over(reason)}${END}`).at(-1)).toEqual({ type: 'finished', reason: expected })
  })

  it('cached tokens count as input, and the newest counts are reported', () => {
    const usage = { input_tokens: 10, cache_read_input_tokens: 5, cache_creation_input_tokens: 2, output_tokens: 1 }
    const start = event({ type: 'message_start', message: { usage } })
    const events = read(`${start}${over('end_turn', { input_tokens: null, output_tokens: 9 })}${END}`)
    expect(events).toContainEqual({ type: 'usage', inputTokens: 17, outputTokens: 9, cachedInputTokens: 5 })
  })

  it('an abandoned answer reports the usage so far, once', () => {
    const bytes = new AnswerBytes(new MessagesAnswer())
    expect(bytes.answer.abandoned()).toEqual([])
    bytes.push(Buffer.from(`${START}${begin(0, { type: 'text', text: '' })}${text(0, 'Once upon')}`))
    expect(bytes.answer.abandoned()).toEqual([{ type: 'usage', inputTokens: 7, outputTokens: 1, cachedInputTokens: 0 }])
    expect(bytes.answer.abandoned()).toEqual([])
  })

  it('an answer that is one JSON document yields text, tool calls and usage', () => {
    const content = [
      { type: 'thinking', thinking: 'Hm.' },
      { type: 'text', text: 'One moment.' },
      { type: 'tool_use', id: 'a', name: 'weather', input: { city: 'Oslo' } },
    ]
    const events = read(
      JSON.stringify({ type: 'message', content, stop_reason: 'tool_use', usage: { input_tokens: 3 } }),
    )
    expect(textOf(events)).toBe('One moment.')
    expect(calls(events)).toEqual([['a', 'weather', { city: 'Oslo' }]])
    expect(events.slice(-2).map(({ type }) => type)).toEqual(['usage', 'finished'])
  })

  it.each([
    ['broke off', START + begin(0, { type: 'text', text: 'It' }), 'model_unreachable'],
    ['is a web page', '<html>Welcome</html>', 'model_unreachable'],
    ['is not JSON', 'data: {"type"\n\n', 'model_failed'],
    [
      'is overloaded',
      START + event({ type: 'error', error: { type: 'overloaded_error', message: 'x' } }),
      'model_busy',
    ],
    ['is a JSON document with an error', '{"type":"error","error":{"type":"rate_limit_error"}}', 'model_busy'],
  ])('an answer that %s fails', (_name, given, code) => {
    expect(() => read(given)).toThrow(expect.objectContaining({ name: 'ParleyError', code }))
  })

  it('pings and comments do not count as progress', () => {
    const bytes = new AnswerBytes(new MessagesAnswer())
    bytes.push(Buffer.from(START))
    const before = bytes.progress
    bytes.push(Buffer.from(`${event({ type: 'ping' })}: comment\n\n`))
    expect(bytes.progress).toBe(before)
    bytes.push(Buffer.from(text(0, 'Hi')))
    expect(bytes.progress).toBeGreaterThan(before)
  })

  it('arbitrary bytes cause no error but a ParleyError', () => {
    const kinds = 'message_start content_block_start content_block_delta content_block_stop message_delta message_stop'
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc.json({ maxDepth: 4 }).map(given => Buffer.from(`data: ${given}\n\n`)),
      fc
        .record({
          type: fc.constantFrom(...kinds.split(' '), 'error', 'message'),
          index: fc.oneof(fc.integer({ min: -1, max: 3 }), fc.constant(null)),
          content_block: fc.oneof(
            fc.record({ type: fc.constantFrom('text', 'tool_use', 'x'), id: fc.string(), input: fc.jsonValue() }),
            fc.jsonValue(),
          ),
          delta: fc.oneof(
            fc.record({ type: fc.constantFrom('text_delta', 'input_json_delta'), partial_json: fc.jsonValue() }),
            fc.record({ stop_reason: fc.jsonValue() }),
            fc.jsonValue(),
          ),
          usage: fc.jsonValue(),
        })
        .map(given => Buffer.from(event(given))),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), pieces => {
        const answer = new AnswerBytes(new MessagesAnswer())
        try {
          for (const bytes of pieces) answer.push(bytes)
          answer.end()
          answer.answer.end()
        } catch (error) {
          expect(error).toMatchObject({ name: 'ParleyError' })
        }
      }),
      { numRuns: 500 },
    )
  })
})
