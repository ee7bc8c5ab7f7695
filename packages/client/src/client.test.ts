import { describe, expect, it } from 'vitest'
import { ParleyApiError, ParleyClient, ParleyConnectionError } from './index.ts'

interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: Headers
  readonly body: string | null
}

type Step = Response | Error | ((seen: Seen, signal: AbortSignal) => Response | Promise<Response>)

const json = (body: unknown, status = 200, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } })

const refusal = (
  status: number,
  code: string,
  more: Record<string, unknown> = {},
  headers: Record<string, string> = {},
) => json({ error: { code, message: `${code}!`, retryable: false, outcome: 'none', ...more } }, status, headers)

/** A server that answers step by step, and what it saw; waits between tries take no time and are noted. */
function serverOf(...steps: Step[]) {
  const seen: Seen[] = []
  const waits: number[] = []
  const client = (options: { timeoutMs?: number; retries?: number } = {}) =>
    new ParleyClient({
      baseUrl: 'https://parley.example/below/',
      key: 'parley_live_x',
      ...options,
      wait: async (ms, signal) => {
        waits.push(ms)
        signal?.throwIfAborted()
      },
      fetch: async (url, init = {}) => {
        const request = {
          method: init.method ?? 'GET',
          url: String(url),
          headers: new Headers(init.headers),
          body: typeof init.body === 'string' ? init.body : null,
        }
        seen.push(request)
        const step = steps.shift()
        if (step === undefined) throw new Error('the test foresaw no further request')
        if (step instanceof Error) throw step
        return step instanceof Response ? step : step(request, init.signal!)
      },
    })
  return { seen, waits, client }
}

const CREATE = { body: { template: 'blank', name: 'Anna' } } as const

describe('a request', () => {
  it('a request reaches the path of its operation with the API key and resolves with the response', async () => {
    const { client, seen } = serverOf(json({ ref: { id: 'a' } }, 201))
    expect(await client().agents.create(CREATE)).toEqual({ ref: { id: 'a' } })
    const [{ method, url, headers, body }] = seen as [Seen]
    expect([method, url]).toEqual(['POST', 'https://parley.example/below/api/v1/agents'])
    expect(headers.get('authorization')).toBe('Bearer parley_live_x')
    expect(headers.get('content-type')).toBe('application/json')
    expect(JSON.parse(body!)).toEqual(CREATE.body)
    // As the operation takes it: 8 to 255 printable ASCII characters.
    expect(headers.get('idempotency-key')).toMatch(/^[0-9a-f]{32}$/)
  })

  it('path and query parameters are encoded, whatever characters they have', async () => {
    const { client, seen } = serverOf(json({}), json({}))
    await client().publications.get({ params: { agent_id: 'a/b?c#d é', version: 3 } })
    await client().agents.list({ query: { q: 'a&b=c d', limit: 7, channel: undefined } })
    expect(seen.map(({ url }) => url.slice('https://parley.example/below/api/v1'.length))).toEqual([
      '/agents/a%2Fb%3Fc%23d%20%C3%A9/publications/3',
      '/agents?q=a%26b%3Dc+d&limit=7',
    ])
    expect(seen[0]!.headers.has('idempotency-key')).toBe(false)
  })

  it.each(['.', '..', ''])('a path parameter %j cannot change the path and is refused', async id => {
    const { client, seen } = serverOf()
    await expect(client().agents.get({ params: { agent_id: id } })).rejects.toThrow('params.agent_id')
    expect(seen).toEqual([])
  })

  it('groups and operations have camelCase names', () => {
    const api = serverOf().client()
    expect(Object.keys(api)).toContain('tenantSettings')
    expect(api.environments.ensureSandbox).toBeTypeOf('function')
    expect(api.agents.importInspect).toBeTypeOf('function')
  })
})

describe('a request that fails', () => {
  it('an API error has code, reason, issues, diagnostics and request id', async () => {
    const issues = [{ path: '/name', message: 'body: not 1 to 256 characters' }, 'no issue']
    const details = { reason: 'body_too_large', issues }
    const { client } = serverOf(refusal(400, 'invalid_request', { details }, { 'x-request-id': 'r-1' }))
    const error = await client()
      .agents.create({ ...CREATE, idempotency_key: 'my-own-key' })
      .catch(e => e)
    expect(error).toBeInstanceOf(ParleyApiError)
    expect(error).toMatchObject({
      message: 'invalid_request!',
      code: 'invalid_request',
      reason: 'body_too_large',
      status: 400,
      requestId: 'r-1',
      operation: 'agents.create',
      attempts: 1,
      idempotencyKey: 'my-own-key',
      retryable: false,
    })
    expect(error.issues).toEqual([issues[0]])
    expect(error.envelope.error.details).toEqual(details)
  })

  it('a failed request is retried with the same idempotency key until a response comes', async () => {
    const { client, seen, waits } = serverOf(
      new TypeError('fetch failed', { cause: new Error('read ECONNRESET') }),
      refusal(504, 'outcome_unknown', { retryable: true, outcome: 'unknown' }),
      refusal(409, 'conflict', { retryable: true, details: { reason: 'in_progress' } }),
      json({ ref: {} }),
    )
    await client().agents.create(CREATE)
    expect(seen).toHaveLength(4)
    expect(new Set(seen.map(({ headers }) => headers.get('idempotency-key'))).size).toBe(1)
    for (const [i, wait] of waits.entries()) {
      expect(wait).toBeGreaterThanOrEqual(125 * 2 ** i)
      expect(wait).toBeLessThanOrEqual(250 * 2 ** i)
    }
  })

  it('a retry waits for Retry-After if that is at most a minute', async () => {
    const busy = (after: string) => refusal(429, 'rate_limited', { retryable: true }, { 'retry-after': after })
    const { client, waits } = serverOf(busy('7'), json({}), busy('3600'))
    await client().agents.list()
    expect(waits).toEqual([7000])
    await expect(client().agents.list()).rejects.toMatchObject({ code: 'rate_limited', retryAfterMs: 3_600_000 })
    const { client: later, waits: dated } = serverOf(busy(new Date(Date.now() + 20_000).toUTCString()), json({}))
    await later().agents.list()
    expect(dated[0]).toBeGreaterThan(15_000)
    expect(dated[0]).toBeLessThanOrEqual(20_000)
  })

  it('after the last retry the error has the number of attempts', async () => {
    const lost = () => new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') })
    const { client, seen } = serverOf(lost(), lost(), lost(), lost(), lost())
    const error = await client()
      .agents.list()
      .catch(e => e)
    expect(error).toBeInstanceOf(ParleyConnectionError)
    expect(error).toMatchObject({
      code: 'connection_failed',
      attempts: 4,
      message: expect.stringContaining('ECONNREFUSED'),
    })
    expect(seen).toHaveLength(4)
    await expect(client({ retries: 0 }).agents.list()).rejects.toMatchObject({ attempts: 1 })
  })

  it.each([
    ['invalid_request', 400],
    ['not_found', 404],
    ['idempotency_conflict', 409],
    ['publication_invalid', 422],
  ])('a request is not retried after %s', async (code, status) => {
    const { client, seen } = serverOf(refusal(status, code))
    await expect(client().agents.create(CREATE)).rejects.toMatchObject({ code, attempts: 1 })
    expect(seen).toHaveLength(1)
  })

  it('a response of something other than the API is an error, and the 502 of a proxy is retried', async () => {
    const page = (status: number, headers = {}) => new Response('<html>', { status, headers })
    const { client, seen } = serverOf(
      page(502),
      page(503),
      json({}),
      page(404),
      page(301, { location: 'https://other' }),
    )
    await client().agents.list()
    expect(seen).toHaveLength(3)
    const not = { code: 'unexpected_answer', attempts: 1 }
    await expect(client().agents.list()).rejects.toMatchObject({ ...not, status: 404 })
    await expect(client().agents.list()).rejects.toMatchObject({
      ...not,
      message: expect.stringContaining('https://other'),
    })
  })

  it('a request without response fails after timeoutMs', async () => {
    const never = (_: Seen, signal: AbortSignal) =>
      new Promise<Response>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    const { client } = serverOf(never, json({ agents: [] }), never)
    expect(await client({ timeoutMs: 20 }).agents.list()).toEqual({ agents: [] })
    await expect(client({ timeoutMs: 20, retries: 0 }).agents.list()).rejects.toMatchObject({ code: 'timeout' })
  })

  it('an aborted signal ends the request at once and without retry', async () => {
    const stop = new AbortController()
    const { client, seen } = serverOf((_, signal) => {
      queueMicrotask(() => stop.abort(new Error('no longer wanted')))
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    })
    await expect(client().agents.list({}, { signal: stop.signal })).rejects.toThrow('no longer wanted')
    await expect(client().agents.list({}, { signal: stop.signal })).rejects.toThrow('no longer wanted')
    expect(seen).toHaveLength(1)
  })

  it('a response beyond the maximum size is not read to its end', async () => {
    const endless = new ReadableStream({ pull: controller => controller.enqueue(new Uint8Array(2 ** 23)) })
    const { client } = serverOf(new Response(endless))
    await expect(client({ retries: 0 }).agents.list()).rejects.toMatchObject({
      code: 'connection_failed',
      message: expect.stringContaining('longer than'),
    })
  })
})

describe('a list', () => {
  const page = (ids: string[], next: string | null) =>
    json({ agents: ids.map(id => ({ ref: { id } })), issues: [], next_cursor: next })

  it('list.all() requests each page when its first row is needed', async () => {
    const { client, seen } = serverOf(page(['a', 'b'], 'after b'), page([], 'after c'), page(['d'], null))
    const ids: string[] = []
    for await (const agent of client().agents.list.all({ query: { limit: 2 } })) {
      ids.push(agent.ref.id)
      if (ids.length === 2) expect(seen).toHaveLength(1)
    }
    expect(ids).toEqual(['a', 'b', 'd'])
    expect(seen.map(({ url }) => url.split('?')[1])).toEqual([
      'limit=2',
      'limit=2&cursor=after+b',
      'limit=2&cursor=after+c',
    ])
  })

  it('list.all() requests no further page after the loop is left', async () => {
    const { client, seen } = serverOf(page(['a', 'b'], 'more'))
    for await (const _ of client().agents.list.all()) break
    expect(seen).toHaveLength(1)
  })

  it('list.all() throws if the server returns the same cursor again', async () => {
    const { client } = serverOf(page(['a'], 'same'), page(['a'], 'same'), page(['a'], 'same'))
    const walk = async () => {
      for await (const _ of client().agents.list.all());
    }
    await expect(walk()).rejects.toThrow('the same cursor')
  })
})

describe('a client', () => {
  const options = { baseUrl: 'https://parley.example', key: 'parley_live_x' }
  it.each([
    [{ baseUrl: 'parley.example' }, 'baseUrl'],
    [{ baseUrl: 'ftp://parley.example' }, 'baseUrl'],
    [{ baseUrl: 'https://a:b@parley.example' }, 'baseUrl'],
    [{ key: '' }, 'key'],
    [{ key: 'two words' }, 'key'],
    [{ timeoutMs: 0 }, 'timeoutMs'],
    [{ retries: -1 }, 'retries'],
  ])('a client with the options %j is refused', (wrong, named) => {
    expect(() => new ParleyClient({ ...options, ...wrong })).toThrow(named)
  })
})
