import { type FakeContentStyle, FakeGemini, type FakeModelOptions, type FakeModelStep } from '@parley/fakes'
import { type Time, VirtualTime } from '@parley/kernel'
import { runningTime } from '@parley/kernel/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { GenerationEvent, GenerationRequest } from '../../language-model/language-model.ts'
import { retryAfterMs } from '../../model-service/model-failure.ts'
import { GeminiContent, type GeminiContentOptions } from './gemini-content.ts'

const REQUEST: GenerationRequest = { messages: [{ role: 'user', content: 'Hi' }] }
const KEY = 'AIza-very-secret-1234567890'
const never = new AbortController().signal

async function service(options: FakeModelOptions<FakeContentStyle> = {}): Promise<FakeGemini> {
  const fake = await FakeGemini.open(options)
  onTestFinished(() => fake.close())
  return fake
}

function modelOf(fake: FakeGemini, rest: Partial<GeminiContentOptions> = {}, time: Time = runningTime) {
  const model = new GeminiContent({ baseUrl: fake.baseUrl, apiKey: KEY, model: 'gemini-3.8-flash', time, ...rest })
  onTestFinished(() => model.close())
  return model
}

async function collect(model: GeminiContent, request = REQUEST): Promise<GenerationEvent[]> {
  const events: GenerationEvent[] = []
  for await (const event of model.generate(request, never)) events.push(event)
  return events
}

const failed = (model: GeminiContent, request = REQUEST) =>
  collect(model, request).then(
    () => null,
    (error: unknown) => error,
  )
const failure = (code: number, status: string, message = 'x'): FakeModelStep => {
  return { do: 'answer', status: code, body: JSON.stringify({ error: { code, status, message } }) }
}

describe('Gemini, when a request fails', () => {
  it.each<[string, FakeModelStep, string, boolean]>([
    ['the service is overloaded', failure(503, 'UNAVAILABLE'), 'model_busy', true],
    ['the service is overloaded in mid-answer', { do: 'fail', error: { code: 503 } }, 'model_busy', true],
    ['the service fails in mid-answer', { do: 'fail', error: { code: 500, message: 'x' } }, 'model_failed', true],
    ['the service crashes', failure(500, 'INTERNAL'), 'model_failed', true],
    [
      'the prompt is too long',
      failure(400, 'INVALID_ARGUMENT', 'The input token count (1200000) exceeds the maximum number of tokens allowed.'),
      'prompt_too_long',
      false,
    ],
    ['the project may not use the service', failure(403, 'PERMISSION_DENIED'), 'model_refused', false],
    ['the service does not know the model', failure(404, 'NOT_FOUND'), 'model_failed', false],
    ['the connection breaks before an answer', { do: 'break-off' }, 'model_unreachable', true],
    ['the stream ends before the answer finishes', { do: 'end' }, 'model_unreachable', true],
    [
      'the model writes a call that is no JSON',
      { do: 'finish', reason: 'MALFORMED_FUNCTION_CALL' },
      'model_failed',
      true,
    ],
  ])('the Gemini model reports the matching error code when %s', async (_name, step, code, retryable) => {
    const fake = await service()
    fake.script(...(step.do === 'fail' ? [{ do: 'say', text: 'Well' } as const, step] : [step]))
    expect(await failed(modelOf(fake))).toMatchObject({ name: 'ParleyError', code, retryable })
  })

  it('an event of more than a megabyte ends the answer, and no request is sent again', async () => {
    const fake = await service()
    // A connection that breaks while this is read would be another error.
    fake.script({ do: 'say', text: 'a'.repeat(1_100_000) }, { do: 'stall' })
    expect(await failed(modelOf(fake))).toMatchObject({ name: 'ParleyError', code: 'model_failed', retryable: false })
    expect(fake.requests).toHaveLength(1)
  })

  it('the error of a rate limit carries the time that the service asks to wait', async () => {
    const fake = await service()
    fake.script({ do: 'turn-away' })
    expect(retryAfterMs(await failed(modelOf(fake)))).toBeCloseTo(34_074.8, 0)
  })

  it('a blocked prompt and a withheld answer end as content that was filtered', async () => {
    const fake = await service()
    fake.script({ do: 'write', text: 'data: {"promptFeedback":{"blockReason":"SAFETY"}}\n\n' }, { do: 'end' })
    expect((await collect(modelOf(fake))).at(-1)).toEqual({ type: 'finished', reason: 'content-filter' })
    fake.script({ do: 'say', text: 'Well' }, { do: 'finish', reason: 'PROHIBITED_CONTENT' })
    expect((await collect(modelOf(fake))).at(-1)).toEqual({ type: 'finished', reason: 'content-filter' })
  })

  it('the key is sent in the x-goog-api-key header and appears in no error', async () => {
    const fake = await service({ key: 'another' })
    const error = await failed(modelOf(fake))
    expect(error).toMatchObject({ code: 'model_refused', retryable: false })
    expect(fake.requests[0]).toMatchObject({ key: KEY, path: expect.not.stringContaining('secret') })
    for (let each: unknown = error; each instanceof Error; each = each.cause)
      expect(`${each.message} ${each.stack} ${JSON.stringify(each)}`).not.toContain('secret')
  })

  it('a model without a key is not ready and sends no request', async () => {
    const fake = await service()
    const model = modelOf(fake, { apiKey: '' })
    expect(await model.readiness()).toBe('no key for gemini/gemini-3.8-flash')
    expect(await failed(model)).toMatchObject({ code: 'model_refused' })
    expect(fake.requests).toEqual([])
  })

  it('an answer that stalls fails after its idle budget', async () => {
    const time = new VirtualTime()
    const fake = await service({ time })
    const model = modelOf(fake, { budgets: { firstEventMs: 4000, idleMs: 3000 } }, time)
    fake.script({ do: 'say', text: 'One' }, { do: 'stall' })
    const answer = model.generate(REQUEST, never)
    expect((await answer.next()).value).toEqual({ type: 'text', delta: 'One' })
    const next = answer.next().catch((error: unknown) => error)
    await expect.poll(() => time.nextDeadline()).toBe(3000)
    time.advance(3000)
    expect(await next).toMatchObject({ code: 'model_unreachable', retryable: true })
  })
})

describe('answers of Gemini', () => {
  it('thoughts yield no text and count as output', async () => {
    const fake = await service()
    const usage = { promptTokenCount: 9, candidatesTokenCount: 4, thoughtsTokenCount: 20, cachedContentTokenCount: 5 }
    const last = { candidates: [{ finishReason: 'STOP' }], usageMetadata: usage }
    fake.script(
      { do: 'think', text: 'The caller greets.' },
      { do: 'say', text: 'Hello.' },
      { do: 'write', text: `data: ${JSON.stringify(last)}\n\n` },
      { do: 'end' },
    )
    expect(await collect(modelOf(fake))).toEqual([
      { type: 'text', delta: 'Hello.' },
      { type: 'usage', inputTokens: 9, outputTokens: 24, cachedInputTokens: 5 },
      { type: 'finished', reason: 'stop' },
    ])
  })

  it('a last response with text and finish reason, and calls without ids, are complete', async () => {
    const fake = await service({ style: { finishWithText: true, withoutIds: true } })
    fake.script(
      { do: 'say', text: 'One moment.' },
      { do: 'begin-tool', index: 0, id: '', name: 'weather' },
      { do: 'tool-arguments', index: 0, text: '{"city":"Oslo"}' },
      { do: 'finish', reason: 'STOP' },
    )
    const events = await collect(modelOf(fake))
    const call = { id: 'call_0_', name: 'weather', argumentsText: '{"city":"Oslo"}' }
    expect(events[0]).toEqual({ type: 'text', delta: 'One moment.' })
    expect(events).toContainEqual({ type: 'tool-call', call, arguments: { city: 'Oslo' } })
    expect(events.at(-1)).toEqual({ type: 'finished', reason: 'tool-calls' })
  })

  it('a request goes over a new connection when the service closed the idle one', async () => {
    const fake = await service()
    const model = modelOf(fake)
    await collect(model)
    fake.breakNextReused()
    for (let i = 0; i < 10 && fake.brokenReused === 0; i++)
      expect((await collect(model)).at(-1)).toEqual({ type: 'finished', reason: 'stop' })
    expect(fake.brokenReused).toBe(1)
  })
})

describe('each Gemini model', () => {
  const tools = [{ name: 'weather', description: '', parameters: {} }]
  const MODELS = 'gemini-2.0-flash gemini-2.5-pro gemini-3.1-pro-preview gemini-3.5-flash-lite gemini-3.7-flash'.split(
    ' ',
  )

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
    const error = await failed(modelOf(fake, { traits: { takesTemperature: true } }), { ...REQUEST, temperature: 0.3 })
    expect(error).toMatchObject({ code: 'model_failed', retryable: false })
  })
})
