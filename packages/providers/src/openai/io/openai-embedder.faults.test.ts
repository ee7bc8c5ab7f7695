import { type FakeEmbeddingStyle, type FakeModelOptions, FakeOpenAiEmbeddings } from '@parley/fakes'
import { type Time, VirtualTime } from '@parley/kernel'
import { runningTime } from '@parley/kernel/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { OpenAiEmbedder, type OpenAiEmbedderOptions } from './openai-embedder.ts'

const KEY = 'sk-very-secret-1234567890'
const never = new AbortController().signal

async function service(options: FakeModelOptions<FakeEmbeddingStyle> = {}): Promise<FakeOpenAiEmbeddings> {
  const fake = await FakeOpenAiEmbeddings.open(options)
  onTestFinished(() => fake.close())
  return fake
}

function embedderOf(
  fake: FakeOpenAiEmbeddings,
  rest: Partial<OpenAiEmbedderOptions> = {},
  time: Time = runningTime,
): OpenAiEmbedder {
  const embedder = new OpenAiEmbedder({ baseUrl: fake.baseUrl, apiKey: KEY, time, ...rest })
  onTestFinished(() => embedder.close())
  return embedder
}

const failed = (embedder: OpenAiEmbedder, signal = never) =>
  embedder.embed(['Hello', 'there'], signal).then(
    () => null,
    (error: unknown) => error,
  )

describe('an embedder whose service is busy', () => {
  it('an embedder whose service is busy retries after the Retry-After time and no sooner', async () => {
    const fake = await service()
    const time = new VirtualTime()
    fake.script({ do: 'turn-away', retryAfter: '7' })
    const vectors = embedderOf(fake, {}, time).embed(['Hello'], never)
    await expect.poll(() => time.nextDeadline()).toBe(7000)
    time.advance(6999)
    expect(fake.requests).toHaveLength(1)
    time.advance(1)
    expect(await vectors).toHaveLength(1)
    expect(fake.requests).toHaveLength(2)
  })

  it('an embedder whose service is busy retries with exponential backoff without Retry-After, and gives up within its budget', async () => {
    const fake = await service({ otherwise: [{ do: 'turn-away' }] })
    const time = new VirtualTime()
    const error = failed(embedderOf(fake, { retryMs: 3000 }, time))
    for (const at of [500, 1500]) {
      await expect.poll(() => time.nextDeadline()).toBe(at)
      time.advance(at - time.now())
    }
    expect(await error).toMatchObject({ code: 'model_busy', retryable: true })
    expect(fake.requests).toHaveLength(3)
  })

  it('an embedder whose service is busy does not wait longer than its retry budget', async () => {
    const fake = await service()
    fake.script({ do: 'turn-away', retryAfter: '21' })
    expect(await failed(embedderOf(fake))).toMatchObject({ code: 'model_busy' })
    expect(fake.requests).toHaveLength(1)
  })

  it('an embedder whose service is busy can be aborted while it waits for a retry', async () => {
    const fake = await service()
    const time = new VirtualTime()
    fake.script({ do: 'turn-away', retryAfter: '7' })
    const controller = new AbortController()
    const error = failed(embedderOf(fake, {}, time), controller.signal)
    await expect.poll(() => time.nextDeadline()).toBe(7000)
    controller.abort('over')
    expect(await error).toBe('over')
    expect(time.nextDeadline()).toBeUndefined()
  })
})

describe('an embedder whose service sends invalid answers', () => {
  it.each<[string, FakeEmbeddingStyle]>([
    ['one vector fewer than texts', { lacksOne: true }],
    ['a vector that comes twice', { repeatsOne: true }],
    ['a vector with a value that is no number', { alwaysNumbers: true, writesNulls: true }],
    ['vectors of different lengths', { uneven: true }],
  ])('an embedder whose service sends invalid answers refuses %s', async (_name, style) => {
    expect(await failed(embedderOf(await service({ style })))).toMatchObject({ code: 'model_failed', retryable: true })
  })

  it('an embedder whose service sends invalid answers refuses vectors of other dimensions than requested or expected', async () => {
    const fake = await service({ style: { dimensions: 4 } })
    expect(await embedderOf(fake, { dimensions: 16 }).embed(['Hello'], never)).toMatchObject([{ length: 16 }])
    const embedder = embedderOf(fake)
    expect(embedder.dimensions).toBeNull()
    await embedder.embed(['Hello'], never)
    expect(embedder.dimensions).toBe(4)
    const body = JSON.stringify({ data: [0, 1].map(index => ({ index, embedding: [1, 2] })) })
    fake.script({ do: 'answer', status: 200, body })
    expect(await failed(embedder)).toMatchObject({ code: 'model_failed', retryable: false })
  })

  it.each([
    ['a web page', '<html>Sign in</html>', 'model_unreachable'],
    ['truncated JSON', '{"data":[', 'model_failed'],
    ['a stream', 'data: {"data":[]}\n\n', 'model_failed'],
    ['an error document', '{"error":{"message":"x","type":"server_error"}}', 'model_failed'],
    ['invalid base64', '{"data":[{"index":0,"embedding":"abc"},{"index":1,"embedding":"%%%"}]}', 'model_failed'],
    ['an index out of range', '{"data":[{"index":0,"embedding":[1]},{"index":2,"embedding":[1]}]}', 'model_failed'],
  ])(
    'an embedder whose service sends invalid answers reports the matching error code for %s',
    async (_name, body, code) => {
      const fake = await service()
      fake.script({ do: 'answer', status: 200, body })
      expect(await failed(embedderOf(fake))).toMatchObject({ name: 'ParleyError', code })
    },
  )
})

describe('an embedder and its service', () => {
  it('an embedder reports a text that is too long', async () => {
    const embedder = embedderOf(await service())
    await expect(embedder.embed(['word '.repeat(70_000)], never)).rejects.toMatchObject({ code: 'prompt_too_long' })
  })

  it('an embedder fails when no answer comes in time', async () => {
    const fake = await service()
    const time = new VirtualTime()
    fake.script({ do: 'stall' })
    const error = failed(embedderOf(fake, {}, time))
    await expect.poll(() => fake.requests.length).toBe(1)
    time.advance(10_000)
    expect(await error).toMatchObject({ code: 'model_unreachable', retryable: true })
    await expect.poll(() => fake.abandoned).toBe(1)
  })

  it('an embedder splits many texts into batches', async () => {
    const fake = await service()
    await embedderOf(fake, { maxTexts: 2, maxCharacters: 10 }).embed(
      ['one', 'two', 'three', 'sixteen', '9 letters'],
      never,
    )
    expect(fake.requests.map(({ body }) => body?.input)).toEqual([
      ['one', 'two'],
      ['three'],
      ['sixteen'],
      ['9 letters'],
    ])
    expect(fake.maxConcurrent).toBe(1)
  })

  it('the embedder never reveals the API key, and sends no request without one', async () => {
    const fake = await service({ key: 'another' })
    const error = (await failed(embedderOf(fake))) as Error
    expect(error).toMatchObject({ code: 'model_refused' })
    expect(`${error.message} ${error.stack} ${JSON.stringify(error.cause)}`).not.toContain('secret')
    const keyless = embedderOf(fake, { apiKey: '' })
    expect(await keyless.readiness()).toBe('no key for openai/text-embedding-3-small')
    expect(await failed(keyless)).toMatchObject({ code: 'model_refused' })
    expect(fake.requests).toHaveLength(1)
  })
})
