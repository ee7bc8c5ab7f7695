import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { GenerationEvent } from '../language-model/language-model.ts'
import { AnswerBytes } from '../model-service/answer-bytes.ts'
import { ChatAnswer } from './chat-answer.ts'

function chunk(delta: object, finish_reason: string | null = null): string {
  return `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`
}

/** The events of an answer whose bytes arrive in pieces of these lengths. */
function read(text: string, lengths: readonly number[] = []): GenerationEvent[] {
  const bytes = Buffer.from(text, 'utf8')
  const answer = new AnswerBytes(new ChatAnswer())
  const events: GenerationEvent[] = []
  let at = 0
  for (let i = 0; at < bytes.length; i++) {
    const length = lengths.length === 0 ? bytes.length : Math.max(1, lengths[i % lengths.length]!)
    events.push(...answer.push(bytes.subarray(at, at + length)))
    at += length
  }
  return [...events, ...answer.end(), ...answer.answer.end()]
}

const textOf = (events: readonly GenerationEvent[]) =>
  events.map(event => (event.type === 'text' ? event.delta : '')).join('')
const calls = (events: readonly GenerationEvent[]) =>
  events.flatMap(event => (event.type === 'tool-call' ? [[event.call.name, event.arguments]] : []))

const STREAM = `\ufeff: hello\r\n\r\n${chunk({ role: 'assistant', content: 'Señora, ' })}${chunk({ content: '20 °C 🌞' })}${chunk(
  {
    tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'weather', arguments: '{"city":"Á' } }],
  },
)}${chunk({ tool_calls: [{ index: 0, function: { arguments: 'vila"}' } }] })}${chunk({}, 'tool_calls')}data: [DONE]\n\n`

describe('an answer of the OpenAI chat API', () => {
  it('an answer of the OpenAI chat API yields the same events wherever its bytes are split, inside characters and lines too', () => {
    const whole = read(STREAM)
    expect(textOf(whole)).toBe('Señora, 20 °C 🌞')
    expect(calls(whole)).toEqual([['weather', { city: 'Ávila' }]])
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 20 }), lengths => {
        expect(read(STREAM, lengths)).toEqual(whole)
      }),
    )
  })

  it.each([
    [
      'a last event without a blank line',
      `${chunk({ content: 'Hi' })}data: {"choices":[{"delta":{},"finish_reason":"stop"}]}`,
    ],
    ['events without blank lines between', `${chunk({ content: 'Hi' }).trim()}\n${chunk({}, 'stop').trim()}\n\n`],
    ['[DONE] and no finish reason', `${chunk({ content: 'Hi' })}data: [DONE]\n\n`],
    ['an unknown finish reason', `${chunk({ content: 'Hi' })}${chunk({}, 'eos_token')}`],
    ['text in parts', `${chunk({ content: [{ type: 'text', text: 'Hi' }] })}${chunk({}, 'stop')}`],
    ['no choice index', 'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\n'],
    [
      'events of other choices',
      `data: {"choices":[{"index":1,"delta":{"content":"No"}}]}\n\n${chunk({ content: 'Hi' }, 'stop')}`,
    ],
    ['empty events', `data: {}\n\ndata: {"choices":null}\n\nevent: ping\n\n${chunk({ content: 'Hi' }, 'stop')}`],
    ['one JSON document instead of a stream', '  {"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}'],
  ])('an answer of the OpenAI chat API is parsed with %s', (_name, text) => {
    const events = read(text)
    expect(textOf(events)).toBe('Hi')
    expect(events.at(-1)).toEqual({ type: 'finished', reason: 'stop' })
  })

  it.each([
    ['max_tokens', 'length'],
    ['content_filter', 'content-filter'],
    ['stop_sequence', 'stop'],
  ])('an answer of the OpenAI chat API reports the finish reason "%s" as %s', (reason, expected) => {
    expect(read(chunk({ content: 'Hi' }, reason)).at(-1)).toEqual({ type: 'finished', reason: expected })
  })

  it('an answer of the OpenAI chat API reports the last usage, once', () => {
    const usage = (input: number) =>
      `data: {"choices":[],"usage":{"prompt_tokens":${input},"completion_tokens":-1}}\n\n`
    const events = read(`${usage(3)}${chunk({ content: 'Hi' }, 'stop')}${usage(5)}`)
    expect(events.filter(event => event.type === 'usage')).toEqual([
      { type: 'usage', inputTokens: 5, outputTokens: 0, cachedInputTokens: 0 },
    ])
  })

  it('an answer of the OpenAI chat API reports the usage received so far when it is abandoned', () => {
    const usage = 'data: {"choices":[],"usage":{"prompt_tokens":4,"completion_tokens":2}}\n\n'
    const bytes = new AnswerBytes(new ChatAnswer())
    bytes.push(Buffer.from(chunk({ content: 'Once' })))
    expect(bytes.answer.abandoned()).toEqual([])
    bytes.push(Buffer.from(usage))
    expect(bytes.answer.abandoned()).toEqual([{ type: 'usage', inputTokens: 4, outputTokens: 2, cachedInputTokens: 0 }])
    expect(bytes.answer.abandoned()).toEqual([])
  })

  it.each([
    ['broke off', chunk({ content: 'It' }), 'model_unreachable'],
    ['is a web page', '<html>Welcome</html>', 'model_unreachable'],
    ['is not JSON', 'data: {"choices"\n\n', 'model_failed'],
    ['holds an error', 'data: {"error":{"message":"boom","code":500}}\n\n', 'model_failed'],
    ['holds an error about load', 'data: {"error":{"message":"x","type":"overloaded_error"}}\n\n', 'model_busy'],
    ['holds an error as a text', '{"error":"the context length is exceeded"}', 'prompt_too_long'],
  ])('an answer of the OpenAI chat API fails when it %s', (_name, text, code) => {
    expect(() => read(text)).toThrow(expect.objectContaining({ name: 'ParleyError', code }))
  })

  it('an answer of the OpenAI chat API fails when a line or the whole stream exceeds its limit', () => {
    const tooLong = expect.objectContaining({ code: 'model_failed', message: expect.stringContaining('too long') })
    const line = new AnswerBytes(new ChatAnswer())
    const endless = Buffer.from(`data: ${'a'.repeat(100_000)}`)
    expect(() => {
      for (let i = 0; i < 20; i++) line.push(i === 0 ? endless : endless.subarray(6))
    }).toThrow(tooLong)
    const comments = new AnswerBytes(new ChatAnswer())
    const comment = Buffer.from(`: ${'a'.repeat(1_000_000)}\n`)
    expect(() => {
      for (let i = 0; i < 20; i++) comments.push(comment)
    }).toThrow(tooLong)
  })

  it('an answer of the OpenAI chat API fails when an event is too long, however its bytes are split', () => {
    const event = Buffer.from(`data: {"choices":[{"index":0,"delta":{"content":"${'a'.repeat(1_100_000)}"}}]}\n\n`)
    for (const piece of [event.length, event.length - 1, 600_000, 16_384]) {
      const answer = new AnswerBytes(new ChatAnswer())
      const readAll = () => {
        for (let at = 0; at < event.length; at += piece) answer.push(event.subarray(at, at + piece))
      }
      expect(readAll).toThrow(expect.objectContaining({ code: 'model_failed', retryable: false }))
    }
  })

  it('an answer of the OpenAI chat API may begin with any number of blank lines, split anywhere', () => {
    const blanks = Buffer.from('\n'.repeat(1000))
    const answer = new AnswerBytes(new ChatAnswer())
    for (let i = 0; i < 12_000; i++) answer.push(blanks)
    const events = answer.push(Buffer.from('data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n'))
    expect(events).toEqual([{ type: 'text', delta: 'Hi' }])
  })

  it('an answer of the OpenAI chat API causes no error but a ParleyError for arbitrary bytes', () => {
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc
        .constantFrom('data:', 'data: ', '\n', '\r', '\n\n', '{', '}', '[DONE]', '{"choices":[', '"delta":', 'null')
        .map(Buffer.from),
      fc.json({ maxDepth: 4 }).map(json => Buffer.from(`data: ${json}\n\n`)),
      fc.json({ maxDepth: 3 }).map(json => Buffer.from(`data: {"choices":[{"delta":{"tool_calls":[${json}]}}]}\n\n`)),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), pieces => {
        const answer = new AnswerBytes(new ChatAnswer())
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

describe('tool calls of an answer of the OpenAI chat API', () => {
  const call = (members: object) => chunk({ tool_calls: [members] })
  const fn = (name: string | undefined, text: unknown) => ({
    function: { ...(name !== undefined && { name }), arguments: text },
  })
  const both = [
    ['weather', { city: 'Oslo' }],
    ['weather', { city: 'Lima' }],
  ]

  it.each([
    [
      'all with index 0',
      [
        call({ index: 0, id: 'a', ...fn('weather', '{"city":"Oslo"}') }),
        call({ index: 0, id: 'b', ...fn('weather', '{"city":"Lima"}') }),
      ],
    ],
    [
      'without an index',
      [
        call({ id: 'a', ...fn('weather', '{"city":') }),
        call(fn(undefined, '"Oslo"}')),
        call({ id: 'b', ...fn('weather', '{"city":"Lima"}') }),
      ],
    ],
    ['without index and id', [call(fn('weather', '{"city":"Oslo"}')), call(fn('weather', '{"city":"Lima"}'))]],
    [
      'in one chunk',
      [
        chunk({
          tool_calls: [
            { index: 0, id: 'a', ...fn('weather', '{"city":"Oslo"}') },
            { index: 1, id: 'b', ...fn('weather', '{"city":"Lima"}') },
          ],
        }),
      ],
    ],
    [
      'with arguments as an object',
      [call({ index: 0, ...fn('weather', { city: 'Oslo' }) }), call({ index: 1, ...fn('weather', { city: 'Lima' }) })],
    ],
    [
      'with names that come late',
      [
        call({ index: 0, id: 'a' }),
        call({ index: 0, ...fn(undefined, '{"city":') }),
        call({ index: 0, ...fn('weather', '"Oslo"}') }),
        call({ index: 1, id: 'b', ...fn('weather', '{"city":"Lima"}') }),
      ],
    ],
  ])('tool calls of an answer of the OpenAI chat API stay separate when they come %s', (_name, chunks) => {
    const events = read(`${chunks.join('')}${chunk({}, 'stop')}`)
    expect(calls(events)).toEqual(both)
    expect(events.at(-1)).toEqual({ type: 'finished', reason: 'tool-calls' })
    const ids = events.flatMap(event => (event.type === 'tool-call' ? [event.call.id] : []))
    expect(new Set(ids).size).toBe(2)
  })

  it('tool calls of an answer of the OpenAI chat API are parsed in the old "function_call" form', () => {
    const events = read(
      `${chunk({ function_call: { name: 'weather', arguments: '{"city":' } })}${chunk({ function_call: { arguments: '"Oslo"}' } })}${chunk({}, 'function_call')}`,
    )
    expect(calls(events)).toEqual([['weather', { city: 'Oslo' }]])
  })
})
