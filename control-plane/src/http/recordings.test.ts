import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Blobs, MasterKeySealer, openFileBlobs, recordingKey } from '@parley/store'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { callBody, newChat } from '../testing/valid-requests.ts'
import { openWholeApi, type WholeApi } from '../testing/whole-api.ts'

let api: WholeApi
let blobs: Blobs
let directory: string
let clock = 0
let base = ''
const AUDIO = randomBytes(5000)

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parley-recordings-'))
  blobs = await openFileBlobs({ directory })
  const sealer = new MasterKeySealer(new Map([[1, randomBytes(32)]]))
  api = await openWholeApi({ platform: { blobs, sealer, baseUrl: () => base, now: () => Date.now() + clock } })
  base = api.url.replace(/\/$/, '')
})
afterAll(async () => {
  await api?.close()
  await rm(directory, { recursive: true, force: true })
})

/** A call of an agent that records; `signed`: whether its links to the player page expire. */
async function recorded(signed = true) {
  const { run_id, agent_id } = await api.world.call('runs.create', { body: await callBody(api.world) })
  const recording = { required: true, channels: 'dual', signed_urls: signed }
  await api.db.owner.query(
    "update parley.publications set plan = jsonb_set(plan, '{recording}', $2::jsonb) where agent_id = $1",
    [agent_id, JSON.stringify(recording)],
  )
  const read = () => api.world.call('runs.recording', { params: { run_id } })
  const put = async (state = 'ready') => {
    const artifact_id = randomUUID()
    await blobs.put(recordingKey(api.scope, run_id, artifact_id), AUDIO)
    const content = {
      artifact_id,
      sha256: '0'.repeat(64),
      byte_size: AUDIO.length,
      media_type: 'audio/wav',
      expires_at: null,
    }
    await api.db.owner.query(
      `insert into parley.run_recordings (tenant_id, run_id, state, content) values ($1, $2, $3, $4)
       on conflict (tenant_id, run_id) do update set state = excluded.state, content = excluded.content`,
      [api.scope.tenant_id, run_id, state, JSON.stringify(content)],
    )
    return artifact_id
  }
  return { run_id, read, put }
}

const get = (url: string, headers: Record<string, string> = {}) => fetch(url, { headers })
const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer())

describe('GET /runs/{run_id}/recording', () => {
  it('a chat requires no recording, and a call has a pending one until it is connected', async () => {
    const chat = await newChat(api.world)
    expect(await api.world.call('runs.recording', { params: { run_id: chat } })).toMatchObject({
      state: 'not_required',
      url: null,
      media_url: null,
      content: null,
    })
    const { read } = await recorded()
    const pending = await read()
    expect(pending).toMatchObject({ state: 'pending', media_url: null })
    const page = await get(pending.url)
    expect(await page.text()).toContain('has not been connected yet')
  })

  it('a recording has a link to its audio and a link to a player page, each with its own expiry', async () => {
    const { put, read, run_id } = await recorded()
    await put()
    const { url, url_expires_at, media_url, media_url_expires_at } = await read()
    const inMs = (time: string) => Date.parse(time) - Date.now() - clock
    expect(inMs(media_url_expires_at)).toBeLessThanOrEqual(300_000)
    expect(inMs(url_expires_at)).toBeLessThanOrEqual(86_400_000)
    const audio = await get(media_url)
    expect([audio.status, audio.headers.get('content-type'), audio.headers.get('accept-ranges')]).toEqual([
      200,
      'audio/wav',
      'bytes',
    ])
    expect(await bytesOf(audio)).toEqual(AUDIO)
    const page = await get(url)
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    const html = await page.text()
    expect(html).toContain(run_id)
    const source = /<audio[^>]* src="([^"]+)"/.exec(html)![1]!
    expect(await bytesOf(await get(new URL(source, url).href))).toEqual(AUDIO)
    clock += 301_000
    expect((await get(media_url)).status).toBe(404)
    expect((await get(url)).status).toBe(200)
    clock += 86_400_000
    expect((await get(url)).status).toBe(404)
  })

  it('the link to the player page does not expire when the agent disables signed URLs', async () => {
    const { put, read } = await recorded(false)
    await put()
    const { url, url_expires_at, media_url_expires_at } = await read()
    expect([url_expires_at, media_url_expires_at === null]).toEqual([null, false])
    clock += 10 * 365 * 86_400_000
    expect((await get(url)).status).toBe(200)
  })

  it.each([
    ['bytes=0-99', 206, 'bytes 0-99/5000', [0, 100]],
    ['bytes=4990-', 206, 'bytes 4990-4999/5000', [4990, 5000]],
    ['bytes=-10', 206, 'bytes 4990-4999/5000', [4990, 5000]],
    ['bytes=0-99999999999999999999', 206, 'bytes 0-4999/5000', [0, 5000]],
    ['bytes=4999-9999', 206, 'bytes 4999-4999/5000', [4999, 5000]],
    ['bytes=-9999', 206, 'bytes 0-4999/5000', [0, 5000]],
    ['bytes=5000-', 416, 'bytes */5000', [0, 0]],
    ['bytes=-0', 416, 'bytes */5000', [0, 0]],
    ['bytes=9-3', 200, null, [0, 5000]],
    ['bytes=0-1,4-5', 200, null, [0, 5000]],
    ['lines=1-2', 200, null, [0, 5000]],
  ] as const)(
    'the answer to the range request %s has the status %i',
    async (range, status, contentRange, [from, to]) => {
      const { put, read } = await recorded()
      await put()
      const answer = await get((await read()).media_url, { range })
      expect([answer.status, answer.headers.get('content-range')]).toEqual([status, contentRange])
      if (status === 416) expect(await answer.json()).toMatchObject({ error: { code: 'invalid_request' } })
      else expect(await bytesOf(answer)).toEqual(AUDIO.subarray(from, to))
    },
  )

  it('HEAD tells the size of the audio and is not audited as a playback', async () => {
    const { put, read, run_id } = await recorded()
    await put()
    const answer = await fetch((await read()).media_url, { method: 'HEAD', headers: { range: 'bytes=0-9' } })
    expect([answer.status, answer.headers.get('content-length'), answer.headers.get('content-type')]).toEqual([
      200,
      '5000',
      'audio/wav',
    ])
    const { rows } = await api.db.owner.query(
      "select from parley.audit where principal->>'id' = 'recording-link' and resource_id = $1",
      [run_id],
    )
    expect(rows).toEqual([])
  })

  it('a range request whose If-Range names another version gets the whole recording', async () => {
    const { put, read } = await recorded()
    const artifact = await put()
    const { media_url } = await read()
    const part = (ifRange: string) => get(media_url, { range: 'bytes=0-9', 'if-range': ifRange }).then(a => a.status)
    expect([await part(`"${artifact}"`), await part('"other"')]).toEqual([206, 200])
  })

  it('an audio link opens only the version of the recording that it was made for', async () => {
    const { put, read } = await recorded()
    await put('partial')
    const { media_url } = await read()
    await put()
    expect((await get(media_url)).status).toBe(404)
    expect((await get((await read()).media_url)).status).toBe(200)
  })

  it('links cannot be forged, altered or used after the audio is deleted', async () => {
    const { put, read } = await recorded()
    await put()
    const { url, media_url } = await read()
    const token = new URL(url).pathname.split('/').at(-1)!
    const forged = `${token.slice(0, -2)}${token.endsWith('A') ? 'B' : 'A'}A`
    for (const made of ['x', forged, Buffer.from('{"kind":"page"}').toString('base64url'), 'a'.repeat(900)])
      expect((await get(`${base}/recordings/${made}`)).status, made).toBe(404)
    // An audio link does not open the player page.
    expect((await get(media_url.replace(/\/audio$/, ''))).status).toBe(404)
    await api.db.owner.query("update parley.run_recordings set state = 'expired', content = null")
    expect((await get(media_url)).status).toBe(404)
    expect(await (await get(url)).text()).toContain('was deleted')
    expect(await read()).toMatchObject({ state: 'expired', url: null, media_url: null })
  })

  it('each playback of a recording is audited', async () => {
    const { put, read, run_id } = await recorded()
    await put()
    const { media_url } = await read()
    await (await get(media_url)).arrayBuffer()
    await (await get(media_url, { range: 'bytes=100-200' })).arrayBuffer()
    const { items } = await api.world.call('audit.list', { query: { limit: 200 } })
    const reads = items.filter(
      (item: { action: string; resource: { id: string } }) =>
        item.action === 'runs.recording' && item.resource.id === run_id,
    )
    expect(reads.map((item: { principal: { kind: string; id: string } }) => item.principal.kind).sort()).toEqual([
      'api_key',
      'system',
    ])
  })
})
