import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:net'
import { type FakeModelOptions, FakeOpenAiChat } from '@parley/fakes'
import { type Time, VirtualTime } from '@parley/kernel'
import { runningTime } from '@parley/kernel/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { GenerationEvent } from '../../language-model/language-model.ts'
import { retryAfterMs } from '../../model-service/model-failure.ts'
import { OpenAiChat, type OpenAiChatOptions } from './openai-chat.ts'

const REQUEST = { messages: [{ role: 'user', content: 'Hi' }] } as const
const KEY = 'sk-very-secret-1234567890'
const never = new AbortController().signal

async function service(options: FakeModelOptions = {}): Promise<FakeOpenAiChat> {
  const fake = await FakeOpenAiChat.open(options)
  onTestFinished(() => fake.close())
  return fake
}

function chatWith(baseUrl: string, time: Time = runningTime, rest: Partial<OpenAiChatOptions> = {}): OpenAiChat {
  const chat = new OpenAiChat({ baseUrl, apiKey: KEY, model: 'gpt-test', time, ...rest })
  onTestFinished(() => chat.close())
  return chat
}

async function collect(chat: OpenAiChat, signal = never): Promise<GenerationEvent[]> {
  const events: GenerationEvent[] = []
  for await (const event of chat.generate(REQUEST, signal)) events.push(event)
  return events
}

/** The error of an answer, once it has ended. */
function ending(chat: OpenAiChat, signal = never): { error: unknown } {
  const ended = { error: undefined as unknown }
  collect(chat, signal).then(
    events => {
      ended.error = events.at(-1)?.type ?? 'no events'
    },
    (error: unknown) => {
      ended.error = error
    },
  )
  return ended
}

describe('a model whose service is slow', () => {
  it('a model whose service is slow fails when no connection is established in time', async () => {
    const mute = createServer(() => {
      connected++
    })
    let connected = 0
    await new Promise<void>(resolve => mute.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void mute.close())
    const address = mute.address() as { port: number }
    const time = new VirtualTime()
    // The server never answers the handshake.
    const ended = ending(chatWith(`https://127.0.0.1:${address.port}`, time))
    await expect.poll(() => connected).toBe(1)
    time.advance(4999)
    expect(ended.error).toBeUndefined()
    time.advance(1)
    await expect.poll(() => ended.error).toMatchObject({ code: 'model_unreachable', retryable: true })
  })

  it('a model whose service is slow fails when no answer begins in time, although comments arrive', async () => {
    const fake = await service()
    const time = new VirtualTime()
    fake.script({ do: 'write', text: ': processing\n\n' }, { do: 'stall' })
    const ended = ending(chatWith(fake.baseUrl, time, { budgets: { idleMs: 60_000 } }))
    await expect.poll(() => fake.requests.length).toBe(1)
    for (let turns = 0; turns < 50; turns++) await new Promise(setImmediate)
    time.advance(9999)
    expect(ended.error).toBeUndefined()
    time.advance(1)
    await expect.poll(() => ended.error).toMatchObject({ code: 'model_unreachable', retryable: true })
    await expect.poll(() => fake.abandoned).toBe(1)
  })

  it('a model whose service is slow fails when the answer stalls or never ends', async () => {
    const fake = await service()
    const time = new VirtualTime()
    const chat = chatWith(fake.baseUrl, time, { budgets: { idleMs: 3000, wholeMs: 5000 } })
    fake.script({ do: 'say', text: 'One' }, { do: 'stall' })
    const silent = chat.generate(REQUEST, never)
    await silent.next()
    const next = silent.next().catch((error: unknown) => error)
    await expect.poll(() => time.nextDeadline()).toBe(3000)
    time.advance(3000)
    expect(await next).toMatchObject({ code: 'model_unreachable' })

    fake.script({ do: 'say', text: 'One' }, { do: 'say', text: 'Two' }, { do: 'stall' })
    const endless = chat.generate(REQUEST, never)
    await endless.next()
    time.advance(2500)
    await endless.next()
    const last = endless.next().catch((error: unknown) => error)
    await expect.poll(() => time.nextDeadline()).toBe(8000)
    time.advance(2500)
    expect(await last).toMatchObject({ code: 'model_failed', retryable: false })
  })

  it('a model whose service is slow does not keep the connection of an answer that was abandoned', async () => {
    const fake = await service()
    const time = new VirtualTime()
    fake.script({ do: 'say', text: 'One' }, { do: 'stall' })
    const forgotten = chatWith(fake.baseUrl, time).generate(REQUEST, never)
    await forgotten.next()
    time.advance(60_000)
    await expect.poll(() => fake.abandoned).toBe(1)
  })

  it('a model whose service is slow does not wait for the stream to close once the answer has finished', async () => {
    const fake = await service()
    const time = new VirtualTime()
    fake.script({ do: 'say', text: 'Hi' }, { do: 'finish', reason: 'stop' }, { do: 'stall' })
    const answer = chatWith(fake.baseUrl, time).generate(REQUEST, never)
    await answer.next()
    const last = answer.next()
    await expect.poll(() => time.nextDeadline()).toBe(1000)
    time.advance(1000)
    expect((await last).value).toEqual({ type: 'finished', reason: 'stop' })
  })
})

describe('a model whose service answers with an error', () => {
  it('a model whose service answers with an error reports the Retry-After time', async () => {
    const fake = await service()
    fake.script({ do: 'turn-away', retryAfter: '7' })
    const error = await collect(chatWith(fake.baseUrl)).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'model_busy', retryable: true })
    expect(retryAfterMs(error)).toBe(7000)
  })

  it('a model whose service answers with an error reports the error at once, however long its body is', async () => {
    const server = createHttpServer((request, response) => {
      request.resume()
      response.writeHead(401, { 'content-type': 'application/json' }).write('{"error":')
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    const time = new VirtualTime()
    const ended = ending(chatWith(`http://127.0.0.1:${(server.address() as { port: number }).port}`, time))
    await expect.poll(() => time.nextDeadline()).toBe(500)
    time.advance(500)
    await expect.poll(() => ended.error).toMatchObject({ code: 'model_refused', retryable: false })
  })

  it('a model whose service answers with an error never reveals the API key', async () => {
    const fake = await service({ key: 'another' })
    const error = (await collect(chatWith(fake.baseUrl)).catch((thrown: unknown) => thrown)) as Error
    expect(error).toMatchObject({ code: 'model_refused' })
    expect(fake.requests[0]?.key).toBe(KEY)
    for (let each: unknown = error; each instanceof Error; each = each.cause)
      expect(`${each.message} ${each.stack} ${JSON.stringify(each)}`).not.toContain('secret')
  })

  it.each([
    [
      'an error page of a proxy',
      { do: 'answer', status: 502, body: '<html>Bad gateway</html>' } as const,
      'model_unreachable',
    ],
    ['a crash', { do: 'answer', status: 500, body: '{"error":{"message":"x"}}' } as const, 'model_failed'],
    [
      'a prompt too long',
      { do: 'answer', status: 400, body: '{"error":{"code":"context_length_exceeded"}}' } as const,
      'prompt_too_long',
    ],
    ['a connection that breaks before an answer', { do: 'break-off' } as const, 'model_unreachable'],
    ['a stream that ends before the answer finishes', { do: 'end' } as const, 'model_unreachable'],
    ['an error in the stream', { do: 'fail', error: { message: 'x', code: 503 } } as const, 'model_busy'],
  ])(
    'a model whose service answers with an error reports the matching error code for %s',
    async (_name, step, code) => {
      const fake = await service()
      fake.script(step)
      await expect(collect(chatWith(fake.baseUrl))).rejects.toMatchObject({ name: 'ParleyError', code })
    },
  )

  it('a model whose service answers with an error reports why the service cannot be reached', async () => {
    const fake = await service()
    const { baseUrl } = fake
    await fake.close()
    await expect(collect(chatWith(baseUrl))).rejects.toMatchObject({
      code: 'model_unreachable',
      retryable: true,
      message: expect.stringContaining('ECONNREFUSED'),
    })
  })
})

describe('a model that is stopped', () => {
  it.each([
    ['before the first byte', [{ do: 'stall' } as const]],
    ['in the middle', [{ do: 'say', text: 'Once' } as const, { do: 'stall' } as const]],
  ])('a model that is stopped closes the request %s', async (_name, steps) => {
    const fake = await service()
    fake.script(...steps)
    const controller = new AbortController()
    const ended = ending(chatWith(fake.baseUrl), controller.signal)
    await expect.poll(() => fake.requests.length).toBe(1)
    controller.abort()
    await expect.poll(() => fake.abandoned).toBe(1)
    await expect.poll(() => ended.error).toMatch(/text|no events/)
  })

  it('closing fails the answers in progress', async () => {
    const fake = await service()
    fake.script({ do: 'stall' })
    const chat = chatWith(fake.baseUrl)
    const ended = ending(chat)
    await expect.poll(() => fake.requests.length).toBe(1)
    await chat.close()
    await expect.poll(() => ended.error).toMatchObject({ code: 'model_failed' })
    await expect(collect(chat)).rejects.toMatchObject({ code: 'model_failed' })
    expect(await chat.readiness()).toBe('closed')
  })
})

describe('a model and its connections', () => {
  it('a model reuses its connection', async () => {
    const fake = await service()
    const chat = chatWith(fake.baseUrl)
    for (let i = 0; i < 10; i++) {
      expect((await collect(chat)).at(-1)).toEqual({ type: 'finished', reason: 'stop' })
      await expect.poll(() => fake.isIdle).toBe(true)
    }
    // The connection is free only after the end of the stream was received.
    expect(fake.connections).toBeLessThanOrEqual(2)
  })

  it('a model reads a stream to its end to keep the connection, however late the end comes', async () => {
    const fake = await service()
    const chat = chatWith(fake.baseUrl)
    for (let i = 0; i < 3; i++) {
      fake.script(
        { do: 'say', text: 'Hi' },
        { do: 'finish', reason: 'stop' },
        { do: 'write', text: 'data: [DONE]\n\n' },
        { do: 'wait', ms: 5 },
        { do: 'end' },
      )
      expect((await collect(chat)).at(-1)).toEqual({ type: 'finished', reason: 'stop' })
      await expect.poll(() => fake.isIdle).toBe(true)
    }
    expect(fake.abandoned).toBe(0)
    expect(fake.connections).toBeLessThanOrEqual(2)
  })

  it('a model opens a new connection when the service closed the idle one', async () => {
    const fake = await service()
    const chat = chatWith(fake.baseUrl)
    await collect(chat)
    fake.breakNextReused()
    for (let i = 0; i < 10 && fake.brokenReused === 0; i++)
      expect((await collect(chat)).at(-1)).toEqual({ type: 'finished', reason: 'stop' })
    expect(fake.brokenReused).toBe(1)
  })

  it('a model accepts an answer that is not streamed', async () => {
    const fake = await service({ style: { whole: true } })
    fake.script(
      { do: 'say', text: 'One moment.' },
      { do: 'begin-tool', index: 0, id: 'a', name: 'weather' },
      { do: 'tool-arguments', index: 0, text: '{"city":"Oslo"}' },
      { do: 'finish', reason: 'tool_calls' },
      { do: 'report-usage', input: 3, output: 4 },
    )
    const events = await collect(chatWith(fake.baseUrl))
    expect(events[0]).toEqual({ type: 'text', delta: 'One moment.' })
    expect(events).toContainEqual(expect.objectContaining({ type: 'tool-call', arguments: { city: 'Oslo' } }))
    expect(events.slice(-2).map(event => event.type)).toEqual(['usage', 'finished'])
  })

  it('a model limits the output tokens under the parameter name that the service reads', async () => {
    const fake = await service()
    const request = { ...REQUEST, maxOutputTokens: 9 }
    for (const identityProvider of ['openai', 'ollama']) {
      const chat = chatWith(fake.baseUrl, runningTime, { identityProvider })
      for await (const _event of chat.generate(request, never));
    }
    expect(fake.requests.map(({ body }) => [body?.max_completion_tokens, body?.max_tokens])).toEqual([
      [9, undefined],
      [undefined, 9],
    ])
  })

  it.each(['not a url', 'ftp://host/v1', 'https://user:pass@host/v1'])('refuses the base URL "%s"', baseUrl => {
    expect(() => chatWith(baseUrl)).toThrow(expect.objectContaining({ code: 'model_misconfigured' }))
  })

  it('a model refuses a key that no header can carry, without repeating it', () => {
    const make = () => chatWith('https://127.0.0.1/v1', runningTime, { apiKey: 'secret\r\nX: y' })
    expect(make).toThrow(expect.objectContaining({ message: expect.not.stringContaining('secret') }))
  })
})
