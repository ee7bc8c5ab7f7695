import { appendEvents, claimRun, finishRun, moveRun, type RunOwnership } from '@parley/store'
import { localBus } from '@parley/store/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newChat } from '../testing/valid-requests.ts'
import { openWholeApi, type WholeApi } from '../testing/whole-api.ts'

const STREAMS = { perKey: 3, all: 5 }
const GENEROUS = { perSecond: 1e6, burst: 1e6 }
const limits = { streams: STREAMS, rates: { key: GENEROUS, costly: GENEROUS, address: GENEROUS } }

let api: WholeApi
let bus: ReturnType<typeof localBus>
beforeAll(async () => {
  bus = localBus()
  api = await openWholeApi({ bus, limits })
})
afterAll(() => api?.close())

/** A claimed chat; the functions are those of the process that owns it. */
async function liveChat() {
  const { db, scope, world } = api
  const run_id = await newChat(world)
  const within = <Result>(work: Parameters<typeof db.database.transaction<Result>>[1]) =>
    db.database.transaction(scope, work)
  const claimed = await within(tx => claimRun(tx, scope, run_id, { engine: 'e', worker: null }, 600_000))
  const owned: RunOwnership = { run_id, fence: claimed!.fence }
  await within(tx => moveRun(tx, scope, owned, { state: 'running' }))
  let seq = claimed!.last_seq
  return {
    run_id,
    last: () => seq,
    async append(count: number, publishes = true) {
      const at = new Date().toISOString()
      const items = Array.from({ length: count }, (_, n) => ({
        at,
        offset_ms: null,
        kind: 'digits',
        fields: { direction: 'in', digits: String(seq + 1 + n) },
      }))
      expect(await within(tx => appendEvents(tx, scope, owned, seq + 1, items))).toBe('appended')
      seq += count
      if (publishes) bus.publish('runs', run_id)
    },
    async end(publishes = true) {
      const outcome = { kind: 'completed', detail: null, sip_status: null, ended_by: 'agent' }
      await within(tx => finishRun(tx, scope, owned, { state: 'completed', outcome, disposition: 'completed' }))
      seq += 1
      if (publishes) bus.publish('runs', run_id)
    },
  }
}

interface ReceivedEvent {
  readonly id: number | null
  readonly event: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into items of every kind
  readonly data: any
}

async function open(run_id: string, { after, key = api.keys.viewer }: { after?: number; key?: string | null } = {}) {
  const ending = new AbortController()
  const response = await fetch(new URL(`/api/v1/runs/${run_id}/events`, api.url), {
    signal: ending.signal,
    headers: {
      ...(key !== null && { authorization: `Bearer ${key}` }),
      ...(after !== undefined && { 'last-event-id': String(after) }),
    },
  })
  return { response, cut: () => ending.abort(), events: response.ok ? readEvents(response) : null }
}

async function* readEvents(response: Response): AsyncGenerator<ReceivedEvent> {
  let text = ''
  for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
    text += piece
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const fields = new Map(
        text
          .slice(0, end)
          .split('\n')
          .map(line => line.split(': ', 2) as [string, string]),
      )
      text = text.slice(end + 2)
      const data = fields.get('data')
      if (data === undefined) continue
      const id = fields.get('id')
      yield { id: id === undefined ? null : Number(id), event: fields.get('event')!, data: JSON.parse(data) }
    }
  }
}

/** Reads events until `end`, or until there are `most`; then disconnects. */
async function follow(
  run_id: string,
  { after, most }: { after?: number; most?: number } = {},
): Promise<ReceivedEvent[]> {
  const { events, cut } = await open(run_id, { ...(after !== undefined && { after }) })
  const all: ReceivedEvent[] = []
  try {
    for await (const one of events!) {
      all.push(one)
      if (one.event === 'end' || all.length === most) break
    }
  } finally {
    cut()
  }
  return all
}

const upTo = (last: number, from = 1) => Array.from({ length: last - from + 1 }, (_, n) => n + from)

describe('GET /runs/{run_id}/events', () => {
  it('the stream sends past items, then new items, then the end of the run', async () => {
    const chat = await liveChat()
    await chat.append(3)
    const following = follow(chat.run_id)
    for (let n = 0; n < 5; n++) await chat.append(2)
    await chat.end()
    const events = await following
    expect(events.map(({ id }) => id)).toEqual([...upTo(chat.last()), null])
    expect(events.at(-1)).toEqual({ id: null, event: 'end', data: {} })
    expect(events.at(-2)).toMatchObject({ event: 'state', data: { state: 'completed', phone_state: null } })
    const timeline = await api.world.call('runs.timeline', { params: { run_id: chat.run_id } })
    expect(events.slice(0, -1).map(({ data }) => data)).toEqual(timeline.items)
    for (const { id, event, data } of events.slice(0, -1)) expect([id, event]).toEqual([data.seq, data.kind])
  })

  it('a client that reconnects while items are added misses and repeats none', async () => {
    const chat = await liveChat()
    const adding = (async () => {
      for (let n = 0; n < 40; n++) await chat.append(1 + (n % 7), n % 3 === 0)
      await chat.end()
    })()
    const seen: ReceivedEvent[] = []
    while (seen.at(-1)?.event !== 'end')
      seen.push(...(await follow(chat.run_id, { after: seen.at(-1)?.id ?? 0, most: 9 })))
    await adding
    expect(seen.map(({ id }) => id)).toEqual([...upTo(chat.last()), null])
  })

  it('the stream of an ended run can be replayed from any item and then ends', async () => {
    const chat = await liveChat()
    await chat.append(250)
    await chat.end()
    const last = chat.last()
    expect((await follow(chat.run_id)).map(({ id }) => id)).toEqual([...upTo(last), null])
    expect((await follow(chat.run_id, { after: 100 })).map(({ id }) => id)).toEqual([...upTo(last, 101), null])
    expect(await follow(chat.run_id, { after: last })).toMatchObject([{ event: 'end' }])
  })

  it('a Last-Event-ID that never existed restarts the stream from the beginning', async () => {
    const chat = await liveChat()
    await chat.append(3)
    const following = follow(chat.run_id, { after: 1000 })
    await chat.append(2)
    await chat.end()
    expect((await following).map(({ id }) => id)).toEqual([...upTo(chat.last()), null])
    const past = await follow(chat.run_id, { after: chat.last() + 1 })
    expect(past.map(({ id }) => id)).toEqual([...upTo(chat.last()), null])
  })

  it('the stream delivers new items even when no bus message arrives', async () => {
    const chat = await liveChat()
    const following = follow(chat.run_id)
    await chat.append(1, false)
    await chat.end(false)
    expect((await following).at(-1)).toMatchObject({ event: 'end' })
  })

  it('the answer is text/event-stream and forbids caching and buffering', async () => {
    const chat = await liveChat()
    const { response, cut } = await open(chat.run_id)
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    expect(response.headers.get('cache-control')).toBe('no-store')
    cut()
  })
})

describe('access to the event stream', () => {
  it('only a key of the environment of the run may follow it', async () => {
    const run_id = await newChat(api.world)
    const refused = async (key: string | null, id = run_id) => {
      const { response } = await open(id, { key })
      return [response.status, ((await response.json()) as { error: { code: string } }).error.code]
    }
    expect(await refused(null)).toEqual([401, 'unauthenticated'])
    expect(await refused(api.keys.sandboxAdmin)).toEqual([404, 'not_found'])
    expect(await refused(api.keys.viewer, '0b0e3c1e-5a3c-4f4e-9f57-0b0f9c1d2e3f')).toEqual([404, 'not_found'])
    expect(await refused(api.keys.viewer, 'nonsense')).toEqual([400, 'invalid_request'])
  })

  // A stream looks at its key only every 15 s, in case that a message of the bus is lost.
  it('the streams of a key end with its revocation or its rotation without overlap, before they look at it again', async () => {
    const run_id = await newChat(api.world)
    for (const end of ['revoke', 'rotate'] as const) {
      const { secret, key_id } = await api.newKey('viewer')
      const { response } = await open(run_id, { key: secret })
      expect(response.status).toBe(200)
      const ended = response.text().then(() => performance.now())
      const changed = await (end === 'revoke'
        ? api.send('keys.revoke', { params: { key_id } })
        : api.send('keys.rotate', { params: { key_id }, body: { overlap_seconds: 0 } }))
      expect(changed.status).toBe(200)
      const at = performance.now()
      expect((await ended) - at).toBeLessThan(10_000)
    }
  })

  it('a stream goes on when its key is rotated with an overlap', async () => {
    const chat = await liveChat()
    const { secret, key_id } = await api.newKey('viewer')
    const { events } = await open(chat.run_id, { key: secret })
    await api.send('keys.rotate', { params: { key_id }, body: { overlap_seconds: 60 } })
    await chat.append(1)
    await chat.end()
    const kinds: string[] = []
    for await (const { event } of events!) kinds.push(event)
    expect(kinds.at(-1)).toBe('end')
  })

  it('streams are limited per key and per process', async () => {
    const run_id = await newChat(api.world)
    const viewers = await Promise.all([1, 2, 3].map(() => open(run_id)))
    const { response } = await open(run_id)
    expect(response.status).toBe(429)
    expect(response.headers.get('retry-after')).toBe('1')
    expect(await response.json()).toMatchObject({ error: { details: { reason: 'streams', limit: 3, used: 3 } } })
    const admins = await Promise.all([1, 2].map(() => open(run_id, { key: api.keys.admin })))
    const over = await open(run_id, { key: api.keys.admin })
    expect(over.response.status).toBe(503)
    for (const { cut } of [...viewers, ...admins]) cut()
    // Their places are free once the server has noticed the disconnects.
    await expect
      .poll(async () => {
        const again = await open(run_id)
        again.cut()
        return again.response.status
      })
      .toBe(200)
  })
})

it('closing the server ends open event streams without waiting for their clients', async () => {
  const own = await openWholeApi({ bus: localBus(), limits })
  const run_id = await newChat(own.world)
  const response = await fetch(new URL(`/api/v1/runs/${run_id}/events`, own.url), {
    headers: { authorization: `Bearer ${own.keys.viewer}` },
  })
  const reading = response.text()
  await own.close()
  expect(await reading).toContain('event: state')
})
