import diagnostics from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { PreviewOutcome, PreviewRequest } from '../context.ts'
import { handlers } from '../handlers.ts'
import { type PipelineApi, pipelineApi } from '../testing/pipeline-api.ts'

const MP3 = Buffer.from('the audio')
const BODY = { voice_id: 'bea', model: 'near-1', language: 'en', speed: 1.25, expressiveness: 0.5 }
const PATH = '/api/v1/voices/preview'

let api: PipelineApi
let spoken: PreviewRequest[]
let speak: () => Promise<PreviewOutcome>

beforeAll(async () => {
  const generous = { perSecond: 1_000_000, burst: 1_000_000 }
  api = await pipelineApi(handlers, {
    limits: { rates: { key: generous, costly: generous, address: generous } },
    platform: {
      previewVoice: (_scope, request) => {
        spoken.push(request)
        return speak()
      },
    },
  })
})
afterAll(() => api?.close())
beforeEach(() => {
  spoken = []
  speak = async () => ({ state: 'rendered', mp3: MP3 })
})

const preview = (idempotencyKey: string, body: object = BODY) =>
  api.request('POST', PATH, { key: api.keys.member, idempotencyKey, body })

const consumed = { status: 409, body: { error: { code: 'conflict', details: { reason: 'preview_consumed' } } } }

describe('POST /voices/preview', () => {
  it.each([
    ['en', 'Hello, this is how I sound on a call. How can I help you today?'],
    ['es', 'Hola, así sueno en una llamada. ¿En qué puedo ayudarle hoy?'],
  ] as const)('the line in "%s" is spoken with the voice and the settings of the request', async (language, text) => {
    const { status, body } = await preview(`line-${language}`, { ...BODY, language })
    expect([status, body]).toEqual([200, { audio_base64: MP3.toString('base64'), media_type: 'audio/mpeg', text }])
    expect(spoken).toEqual([
      { provider: 'near', model: 'near-1', voiceId: 'bea', language, text, speed: 1.25, expressiveness: 0.5 },
    ])
  })

  it('a retry after the audio was returned is refused, synthesises nothing, and finds no audio in the database', async () => {
    expect((await preview('once')).status).toBe(200)
    expect(await preview('once')).toMatchObject(consumed)
    expect(await preview('once')).toMatchObject(consumed)
    expect(spoken).toHaveLength(1)
    const { rows } = await api.db.owner.query("select status, answer from parley.idempotency where key = 'once'")
    expect(rows).toEqual([{ status: 200, answer: null }])
    expect((await preview('another')).status).toBe(200)
    expect(spoken).toHaveLength(2)
  })

  it('of many requests with one key, one gets the audio, and it is synthesised once', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => preview('raced')))
    const reasons = answers.map(({ status, body }) => (status === 200 ? 'audio' : body.error.details.reason))
    expect(reasons.filter(reason => reason === 'audio')).toHaveLength(1)
    expect(reasons.filter(reason => !['audio', 'in_progress', 'preview_consumed'].includes(reason))).toEqual([])
    expect(spoken).toHaveLength(1)
  })

  describe('the audio of a client whose connection was lost', () => {
    /** Sends a request whose client is gone before the voice has spoken. */
    async function lost(key: string): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<PreviewOutcome>()
      const started = Promise.withResolvers<void>()
      speak = () => {
        started.resolve()
        return promise
      }
      const closed: Promise<unknown>[] = []
      const onRequest = (message: unknown) => {
        const { request } = message as { request: IncomingMessage }
        if (request.url === PATH) closed.push(once(request.socket, 'close'))
      }
      diagnostics.subscribe('http.server.request.start', onRequest)
      const client = new AbortController()
      const headers = {
        authorization: `Bearer ${api.keys.member}`,
        'content-type': 'application/json',
        'idempotency-key': key,
      }
      const sent = fetch(`${api.url}${PATH}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(BODY),
        signal: client.signal,
      }).catch(() => null)
      await started.promise
      diagnostics.unsubscribe('http.server.request.start', onRequest)
      client.abort()
      await Promise.all([sent, ...closed])
      expect(closed).toHaveLength(1)
      resolve({ state: 'rendered', mp3: MP3 })
      const settled = async () =>
        (await api.db.owner.query('select status from parley.idempotency where key = $1', [key])).rows
      await expect.poll(settled).toEqual([{ status: 200 }])
    }

    it('the audio of a client whose connection was lost waits for a retry, which gets it once', async () => {
      await lost('lost')
      expect(await preview('lost')).toMatchObject({ status: 200, body: { audio_base64: MP3.toString('base64') } })
      expect(await preview('lost')).toMatchObject(consumed)
      expect(spoken).toHaveLength(1)
    })

    it('the audio of a client whose connection was lost is not returned after 10 minutes', async () => {
      await lost('late')
      await api.db.owner.query("update parley.idempotency set created_at = now() - interval '601 s' where key = 'late'")
      expect(await preview('late')).toMatchObject(consumed)
      expect(spoken).toHaveLength(1)
    })
  })

  it.each([
    ['an unknown pair of voice and model', { model: 'distant-1' }, 'no voice "bea" has the model "distant-1"'],
    ['a voice without a key', { voice_id: 'ann', model: 'distant-1' }, 'is not ready (no_key)'],
  ])('%s is refused as not ready', async (_name, changes, message) => {
    const { status, body } = await preview('not-ready', { ...BODY, ...changes })
    expect(status).toBe(409)
    expect(body.error).toMatchObject({ code: 'capability_unavailable', details: { reason: 'voice_not_ready' } })
    expect(body.error.message).toContain(message)
    expect(spoken).toEqual([])
  })

  it('a voice that fails leaves the idempotency key free for a retry', async () => {
    speak = async () => ({ state: 'failed', message: 'no answer' })
    expect(await preview('fails')).toMatchObject({
      status: 503,
      body: { error: { code: 'provider_unavailable', retryable: true } },
    })
    speak = async () => ({ state: 'rendered', mp3: MP3 })
    expect((await preview('fails')).status).toBe(200)
  })

  it('audio that exceeds the bound of the answer is refused', async () => {
    speak = async () => ({ state: 'rendered', mp3: Buffer.alloc(2_250_001) })
    expect(await preview('long')).toMatchObject({ status: 503, body: { error: { code: 'provider_unavailable' } } })
  })
})
