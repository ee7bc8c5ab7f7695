import { FakeAnthropic, type FakeMessagesStyle, type FakeModelOptions, type FakeModelStep } from '@parley/fakes'
import { type Time, VirtualTime } from '@parley/kernel'
import { runningTime } from '@parley/kernel/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { GenerationEvent, GenerationRequest } from '../../language-model/language-model.ts'
import { retryAfterMs } from '../../model-service/model-failure.ts'
import { AnthropicMessages, type AnthropicMessagesOptions } from './anthropic-messages.ts'

const REQUEST: GenerationRequest = { messages: [{ role: 'user', content: 'Hi' }] }
const KEY = 'sk-ant-very-secret-1234567890'
const never = new AbortController().signal

async function service(options: FakeModelOptions<FakeMessagesStyle> = {}): Promise<FakeAnthropic> {
  const fake = await FakeAnthropic.open(options)
  onTestFinished(() => fake.close())
  return fake
}

function modelOf(fake: FakeAnthropic, rest: Partial<AnthropicMessagesOptions> = {}, time: Time = runningTime) {
  const options = { baseUrl: fake.origin, apiKey: KEY, model: 'claude-haiku-4-5', time, ...rest }
  const model = new AnthropicMessages(options)
  onTestFinished(() => model.close())
  return model
}

async function collect(model: AnthropicMessages, request = REQUEST): Promise<GenerationEvent[]> {
  const events: GenerationEvent[] = []
  for await (const event of model.generate(request, never)) events.push(event)
  return events
}

const failed = (model: AnthropicMessages, request = REQUEST) =>
  collect(model, request).then(
    () => null,
    (error: unknown) => error,
  )

const failure = (status: number, type: string, message = 'x'): FakeModelStep => {
  return { do: 'answer', status, body: JSON.stringify({ type: 'error', error: { type, message }, request_id: 'req' }) }
}

describe('the Anthropic model, when a request fails', () => {
  it.each<[string, FakeModelStep, string, boolean]>([
    ['the service is overloaded', failure(529, 'overloaded_error'), 'model_busy', true],
    [
      'the service is overloaded in mid-answer',
      { do: 'fail', error: { type: 'overloaded_error' } },
      'model_busy',
      true,
    ],
    [
      'the service fails in mid-answer',
      { do: 'fail', error: { type: 'api_error', message: 'x' } },
      'model_failed',
      true,
    ],
    ['the service crashes', failure(500, 'api_error'), 'model_failed', true],
    ['the request is too large', failure(413, 'request_too_large'), 'prompt_too_long', false],
    ['the service does not know the model', failure(404, 'not_found_error'), 'model_failed', false],
    ['a gateway cannot reach the service', { do: 'answer', status: 502, body: '<html>' }, 'model_unreachable', true],
    ['the connection breaks before an answer', { do: 'break-off' }, 'model_unreachable', true],
    ['the stream ends before the answer finishes', { do: 'end' }, 'model_unreachable', true],
  ])('the Anthropic model reports the matching error code when %s', async (_name, step, code, retryable) => {
    const fake = await service()
    fake.script(...(step.do === 'fail' ? [{ do: 'say', text: 'Well' } as const, step] : [step]))
    expect(await failed(modelOf(fake))).toMatchObject({ name: 'ParleyError', code, retryable })
  })

  it('the error of a rate limit carries the Retry-After time', async () => {
    const fake = await service()
    fake.script({ do: 'turn-away', retryAfter: '7' })
    expect(retryAfterMs(await failed(modelOf(fake)))).toBe(7000)
  })

  it('the key is sent in the x-api-key header and appears in no error', async () => {
    const fake = await service({ key: 'another' })
    const error = await failed(modelOf(fake))
    expect(error).toMatchObject({ code: 'model_refused', retryable: false })
    expect(fake.requests[0]?.key).toBe(KEY)
    for (let each: unknown = error; each instanceof Error; each = each.cause)
      expect(`${each.message} ${each.stack} ${JSON.stringify(each)}`).not.toContain('secret')
  })

  it('a model without a key is not ready and sends no request', async () => {
    const fake = await service()
    const model = modelOf(fake, { apiKey: '' })
    expect(await model.readiness()).toBe('no key for anthropic/claude-haiku-4-5')
    expect(await failed(model)).toMatchObject({ code: 'model_refused' })
    expect(fake.requests).toEqual([])
    expect(await modelOf(fake).readiness()).toBeNull()
  })
})

describe('the Anthropic model, when the service is slow', () => {
  it('an answer that stalls fails after its idle budget, although pings arrive', async () => {
    const time = new VirtualTime()
    const fake = await service({ time })
    const model = modelOf(fake, { budgets: { firstEventMs: 4000, idleMs: 3000 } }, time)
    fake.script({ do: 'say', text: 'One' }, { do: 'wait', ms: 2000 }, { do: 'ping' }, { do: 'stall' })
    const answer = model.generate(REQUEST, never)
    expect((await answer.next()).value).toEqual({ type: 'text', delta: 'One' })
    const next = answer.next().catch((error: unknown) => error)
    await expect.poll(() => time.nextDeadline()).toBe(2000)
    time.advance(2000)
    for (let turns = 0; turns < 50; turns++) await new Promise(setImmediate)
    expect(time.nextDeadline()).toBe(3000)
    time.advance(1000)
    expect(await next).toMatchObject({ code: 'model_unreachable', retryable: true })
    await expect.poll(() => fake.abandoned).toBe(1)
  })

  it('thinking counts as progress and yields no text', async () => {
    const fake = await service()
    fake.script(
      { do: 'think', text: 'The caller greets.' },
      { do: 'think', text: 'So do I.' },
      { do: 'say', text: 'Hello.' },
      { do: 'finish', reason: 'end_turn' },
    )
    const events = await collect(modelOf(fake))
    expect(events.filter(({ type }) => type === 'text')).toEqual([{ type: 'text', delta: 'Hello.' }])
  })
})

describe('the Anthropic model and its connections', () => {
  it('a request goes over a new connection when the service closed the idle one', async () => {
    const fake = await service()
    const model = modelOf(fake)
    await collect(model)
    fake.breakNextReused()
    for (let i = 0; i < 10 && fake.brokenReused === 0; i++)
      expect((await collect(model)).at(-1)).toEqual({ type: 'finished', reason: 'stop' })
    expect(fake.brokenReused).toBe(1)
  })

  it('an answer that is one JSON document yields the same events as a stream', async () => {
    const fake = await service({ style: { whole: true } })
    fake.script(
      { do: 'say', text: 'One moment.' },
      { do: 'begin-tool', index: 0, id: 'a', name: 'weather' },
      { do: 'tool-arguments', index: 0, text: '{"city":"Oslo"}' },
      { do: 'finish', reason: 'tool_use' },
      { do: 'report-usage', input: 9, output: 4, cached: 5 },
    )
    const events = await collect(modelOf(fake))
    expect(events[0]).toEqual({ type: 'text', delta: 'One moment.' })
    expect(events).toContainEqual(expect.objectContaining({ type: 'tool-call', arguments: { city: 'Oslo' } }))
    expect(events.slice(-2)).toEqual([
      { type: 'usage', inputTokens: 9, outputTokens: 4, cachedInputTokens: 5 },
      { type: 'finished', reason: 'tool-calls' },
    ])
  })

  it('a tool call with a whole input and no id completes, under an id of its own', async () => {
    const fake = await service({ style: { wholeInputs: true, withoutIds: true } })
    fake.script(
      { do: 'begin-tool', index: 0, id: '', name: 'weather' },
      { do: 'tool-arguments', index: 0, text: '{"city":"Oslo"}' },
      { do: 'finish', reason: 'tool_use' },
    )
    const call = { id: 'call_0_', name: 'weather', argumentsText: '{"city":"Oslo"}' }
    expect(await collect(modelOf(fake))).toContainEqual({ type: 'tool-call', call, arguments: { city: 'Oslo' } })
  })
})

describe('each Claude model', () => {
  const tools = [{ name: 'weather', description: '', parameters: {} }]
  const MODELS = [
    'claude-haiku-4-5',
    'claude-opus-4-8',
    'claude-opus-5',
    'claude-haiku-5-5',
    'claude-sonnet-5-5',
    'claude-opus-5-5',
  ]

  it.each(MODELS)('%s accepts every tool choice, a temperature and both thinking modes', async model => {
    const fake = await service()
    for (const thinking of ['least', 'model'] as const) {
      const tested = modelOf(fake, { model, thinking })
      for (const toolChoice of ['auto', 'none', 'required', { name: 'weather' }] as const)
        expect(await failed(tested, { ...REQUEST, tools, toolChoice, temperature: 0.3 })).toBeNull()
    }
  })

  it('a request that sends a temperature to a model without one fails', async () => {
    const fake = await service()
    const traits = { takesTemperature: true }
    const error = await failed(modelOf(fake, { model: 'claude-opus-5-5', traits }), { ...REQUEST, temperature: 0.3 })
    expect(error).toMatchObject({ code: 'model_failed', retryable: false })
  })
})
