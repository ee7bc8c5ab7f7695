// Web calls over sockets: a WebRTC peer in the place of the browser, against a platform in a process of its own.
import type { ParleyClient } from '@parley/client'
import { randomBelow, SeededRandom } from '@parley/kernel'
import { BrowserStandIn } from '@parley/webrtc/testing'
import { beforeAll, describe, expect, it } from 'vitest'
import { handingOver } from './handed-over-call.ts'
import { clientOf, eventually, hasEnded, waitForRun } from './placed-call.ts'
import { CALL_METERS, metersOf, recordingOf, webhooksOf } from './run-records.ts'
import { sayUntil } from './say-until.ts'
import { type SharedPlatform, sharedPlatform } from './shared-platform/shared-platform.ts'
import { aiortcCalls } from './web-aiortc.ts'
import { rms, spokenWide } from './wide-speech.ts'

/** What takes seconds on an idle machine. */
const SOON_MS = 60_000
const OFFERS_OF_NONSENSE = 1000
const SENDERS = 8

describe('web calls', () => {
  const platform = sharedPlatform('web calls')
  let serving: SharedPlatform
  let client: ParleyClient
  beforeAll(() => {
    serving = platform()
    client = clientOf(serving)
  })

  const created = async () => {
    const run = await client.runs.create({ body: { agent_id: 'clinic', channel: 'web', mode: 'inbound' } })
    return { run_id: run.run_id, ...run.web! }
  }
  const said = (browser: BrowserStandIn, role: 'agent' | 'user') =>
    browser.messages.filter(message => message.type === 'utterance' && message.role === role).map(({ text }) => text)

  it('a browser talks with the agent, presses keys and hangs up; the run is as that of a phone call', async () => {
    const request = await spokenWide('I would like to book an appointment')
    const { run_id, url, token } = await created()
    const browser = new BrowserStandIn()
    expect(await browser.call(url, token), serving.output()).toBe(201)
    expect(await new BrowserStandIn().call(url, token)).toBe(409)
    await eventually(
      async () => said(browser, 'agent').join(' '),
      text => text.includes('Hillside Clinic'),
      SOON_MS,
    )
    await sayUntil(
      ['would like', 'book', 'appointment'],
      () => browser.speak(request),
      () => said(browser, 'user').join(' '),
    )
    const isSpeaking = () => browser.messages.findLast(({ type }) => type === 'agent')?.state === 'speaking'
    await eventually(
      async () => isSpeaking(),
      speaking => speaking,
      SOON_MS,
    )
    browser.send({ type: 'digits', digits: '1' })
    const digitsOf = async () => {
      const { items } = await client.runs.timeline({ params: { run_id }, query: {} })
      return items.filter(({ kind }) => kind === 'digits').map(item => ('digits' in item ? item.digits : ''))
    }
    await eventually(digitsOf, digits => digits.join('') === '1', SOON_MS)
    browser.send({ type: 'hangup' })

    const run = await waitForRun(client, run_id, hasEnded, SOON_MS)
    expect(run).toMatchObject({
      channel: 'web',
      state: 'completed',
      phone_state: null,
      contact: 'not_applicable',
      outcome: { kind: 'caller_hung_up', ended_by: 'caller' },
    })
    expect(run.connected_ms).toBeGreaterThan(1000)
    expect(browser.messages.at(-1)).toEqual({ type: 'ended' })
    browser.close()
    expect(rms(browser.heard)).toBeGreaterThan(0.005)
    expect(await metersOf(client, run)).toEqual(CALL_METERS)
    expect(await webhooksOf(client, run, SOON_MS)).toEqual(['run.started', 'run.ended'])
    const { channels, sampleRate } = await recordingOf(client, run_id, SOON_MS)
    expect(sampleRate).toBe(16_000)
    expect(channels).toHaveLength(2)
    for (const channel of channels) expect(rms(channel)).toBeGreaterThan(0.002)
  })

  it('an agent hands its web call to another one: the page goes on, also over a new path, and hangs up the same call', async () => {
    const { first } = await handingOver(client, { staysOnLine: true })
    const run = await client.runs.create({
      body: { agent_id: first, channel: 'web', mode: 'inbound', dynamic_variables: { topic: 'bills' } },
    })
    const { run_id } = run
    const { url, token } = run.web!
    const browser = new BrowserStandIn()
    expect(await browser.call(url, token), serving.output()).toBe(201)
    const source = await waitForRun(client, run_id, hasEnded, 2 * SOON_MS)
    expect(source, serving.output()).toMatchObject({
      state: 'completed',
      outcome: { kind: 'transferred', detail: expect.stringMatching(/^agent_swap:/) },
    })
    await eventually(
      async () => said(browser, 'agent').join(' '),
      text => text.includes('Specialist for bills'),
      SOON_MS,
    )
    const indices = browser.messages.filter(({ type }) => type === 'utterance').map(({ index }) => index)
    expect(indices).toEqual(indices.map((_, index) => index))
    browser.loseNetwork()
    expect(await browser.call(url, browser.resume!)).toBe(201)
    await eventually(
      async () => browser.state,
      state => state === 'connected',
      SOON_MS,
    )
    const next = source.outcome!.detail!.slice('agent_swap:'.length)
    expect((await client.runs.get({ params: { run_id: next } })).state).toBe('running')
    await fetch(url, { method: 'DELETE', headers: { authorization: `Bearer ${token}` } })
    expect(await waitForRun(client, next, hasEnded, SOON_MS)).toMatchObject({
      channel: 'web',
      phone_state: null,
      trigger: { kind: 'callback', source_run_id: run_id },
      outcome: { kind: 'caller_hung_up' },
    })
    for (const id of [run_id, next])
      await eventually(
        () => client.runs.recording({ params: { run_id: id } }),
        ({ state }) => state === 'ready',
        SOON_MS,
      )
    browser.close()
  })

  it('a page whose path was lost comes back on the same run with the secret of the first answer', async () => {
    const { run_id, url, token } = await created()
    const browser = new BrowserStandIn()
    expect(await browser.call(url, token)).toBe(201)
    await eventually(
      async () => said(browser, 'agent').length,
      lines => lines > 0,
      SOON_MS,
    )
    browser.loseNetwork()
    const heardBefore = browser.heard.length
    expect(await browser.call(url, browser.resume!)).toBe(201)
    await eventually(
      async () => browser.state,
      state => state === 'connected',
      SOON_MS,
    )
    await eventually(
      async () => browser.heard.length,
      heard => heard > heardBefore + 16_000,
      SOON_MS,
    )
    expect((await client.runs.get({ params: { run_id } })).state).toBe('running')
    await fetch(url, { method: 'DELETE', headers: { authorization: `Bearer ${token}` } })
    expect((await waitForRun(client, run_id, hasEnded, SOON_MS)).outcome).toMatchObject({ kind: 'caller_hung_up' })
    browser.close()
  })

  it('a browser that sends its ICE candidates by PATCH after its offer is connected', async () => {
    const { run_id, url, token } = await created()
    const browser = new BrowserStandIn({ trickles: true })
    expect(await browser.call(url, token)).toBe(201)
    await eventually(
      async () => said(browser, 'agent').length,
      lines => lines > 0,
      SOON_MS,
    )
    browser.send({ type: 'hangup' })
    expect((await waitForRun(client, run_id, hasEnded, SOON_MS)).outcome).toMatchObject({ kind: 'caller_hung_up' })
    browser.close()
  })

  /** A browser that listens to the run's call. */
  const listenerOf = async (run_id: string) => {
    const browser = new BrowserStandIn({ receivesOnly: true })
    const status = await browser.call('http://api.test/', 'unused', async (_url, init) => {
      const { listener_id } = await client.runs.listen({ params: { run_id }, body: { offer: String(init?.body) } })
      const { answer, refusal } = await eventually(
        () => client.runs.listener({ params: { run_id, listener_id } }),
        ({ state }) => state !== 'waiting',
        SOON_MS,
      )
      return new Response(answer ?? refusal, { status: answer === null ? 409 : 201 })
    })
    return { browser, status }
  }
  const hears = (browser: BrowserStandIn) =>
    eventually(
      async () => rms(browser.heard),
      level => level > 0.005,
      SOON_MS,
    )
  const loses = (browser: BrowserStandIn) =>
    eventually(
      async () => browser.state,
      state => state === 'closed' || state === 'disconnected' || state === 'failed',
      SOON_MS,
    )

  it('a member hears a live phone call, and hears it no more when the call is over', async () => {
    const body = { agent_id: 'clinic', channel: 'phone', mode: 'outbound', to: serving.demo.phone! } as const
    const { run_id } = await client.runs.create({ body })
    await waitForRun(client, run_id, ({ state }) => state === 'running', SOON_MS)
    const { browser, status } = await listenerOf(run_id)
    expect(status, serving.output()).toBe(201)
    await hears(browser)
    await client.runs.cancel({ params: { run_id } })
    await loses(browser)
    browser.close()
    await waitForRun(client, run_id, hasEnded, SOON_MS)
  })

  it('members hear a live web call, at most four at once; when they leave, the call goes on', async () => {
    const { run_id, url, token } = await created()
    const caller = new BrowserStandIn()
    expect(await caller.call(url, token)).toBe(201)
    await waitForRun(client, run_id, ({ state }) => state === 'running', SOON_MS)
    const listeners = [await listenerOf(run_id)]
    await hears(listeners[0]!.browser)
    while (listeners.at(-1)!.status === 201 && listeners.length < 5) listeners.push(await listenerOf(run_id))
    expect(listeners.at(-1)!.status).toBe(409)
    expect(listeners.length).toBeGreaterThan(2)
    for (const { browser } of listeners) browser.close()
    const heard = caller.heard.length
    await eventually(
      async () => caller.heard.length,
      length => length > heard + 16_000,
      SOON_MS,
    )
    expect((await client.runs.get({ params: { run_id } })).state).toBe('running')
    caller.send({ type: 'hangup' })
    await waitForRun(client, run_id, hasEnded, SOON_MS)
    caller.close()
  })

  it('invalid offers and unknown tokens are refused, and the token of the call stays unused', async () => {
    const { run_id, url, token } = await created()
    const post = async (body: string, bearer = token, type = 'application/sdp') => {
      const headers = { authorization: `Bearer ${bearer}`, 'content-type': type }
      return (await fetch(url, { method: 'POST', headers, body })).status
    }
    expect(await post('v=0\r\ns=-\r\n')).toBe(400)
    expect(await post('nonsense')).toBe(400)
    expect(await post('a'.repeat(40_000))).toBe(400)
    expect(await post('{}', token, 'application/json')).toBe(400)
    expect(await post('v=0', `wt_${'a'.repeat(32)}`)).toBe(401)
    expect((await client.runs.get({ params: { run_id } })).state).toBe('admitted')
    const browser = new BrowserStandIn()
    expect(await browser.call(url, token)).toBe(201)
    await eventually(
      async () => browser.state,
      state => state === 'connected',
      SOON_MS,
    )
    const cancelled = await client.runs.cancel({ params: { run_id } })
    expect(cancelled.channel).toBe('web')
    expect((await waitForRun(client, run_id, hasEnded, SOON_MS)).state).toBe('cancelled')
    browser.close()
  })

  it('a thousand invalid offers for one web call are refused, most of them by the rate limit of that call, and another call is answered', async () => {
    const { run_id, url, token } = await created()
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/sdp' }
    const random = new SeededRandom(22)
    const nonsense = () => String.fromCharCode(...Array.from({ length: 200 }, () => 10 + randomBelow(random, 110)))
    const statuses = new Map<number, number>()
    const send = async () => {
      for (let i = 0; i < OFFERS_OF_NONSENSE / SENDERS; i++) {
        const body = i % 2 === 0 ? nonsense() : `v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nm=audio ${nonsense()}\r\n`
        const response = await fetch(url, { method: 'POST', headers, body })
        await response.arrayBuffer()
        statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
      }
    }
    await Promise.all(Array.from({ length: SENDERS }, send))
    expect([...statuses.keys()].sort()).toEqual([400, 429])
    expect(statuses.get(429)!).toBeGreaterThan(0)
    expect((await client.runs.get({ params: { run_id } })).state).toBe('admitted')
    const other = await created()
    const browser = new BrowserStandIn()
    expect(await browser.call(other.url, other.token)).toBe(201)
    for (const started of [run_id, other.run_id]) await client.runs.cancel({ params: { run_id: started } })
    for (const started of [run_id, other.run_id]) await waitForRun(client, started, hasEnded, SOON_MS)
    browser.close()
  })
  aiortcCalls(() => ({ serving, client }))
})
