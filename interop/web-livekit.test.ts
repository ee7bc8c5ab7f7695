// Web calls through a LiveKit server of others. The visitor is a second participant by `@livekit/rtc-node`, or a page in Chromium with the
// client of LiveKit for browsers.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import type { ParleyClient } from '@parley/client'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { chromium, logOf, microphoneFile, openCallingBrowser } from './calling-page.ts'
import type { AtTestEnd } from './clean-up.ts'
import { handingOver } from './handed-over-call.ts'
import { liveKit, startLiveKit, type TestLiveKit } from './livekit-server.ts'
import { LiveKitVisitor } from './livekit-visitor.ts'
import { interruptions } from './page-levels.ts'
import { PAGE_PROBE } from './page-probe.ts'
import { peerProcessOf } from './peer-process-of.ts'
import { clientOf, eventually, hasEnded, waitForRun } from './placed-call.ts'
import { atLastTestEnd } from './recipe.ts'
import { CALL_METERS, metersOf, recordingOf, webhooksOf } from './run-records.ts'
import { sayUntil } from './say-until.ts'
import { type Serving, startServing } from './serving.ts'
import { rms, spokenWide } from './wide-speech.ts'

/** What takes seconds on an idle machine. */
const SOON_MS = 60_000
/** Sentences of the microphone of a browser, and the silence before each. */
const SENTENCES = 10
const PAUSE_S = 4
/** Until the agent has begun to answer what was said. */
const WORDS_MS = 8000

/** Serves the example page of a site that calls by LiveKit; its server answers each visitor with `access`. Returns its address. */
async function serveExample(access: object, atTestEnd: AtTestEnd): Promise<string> {
  const bundles = dirname(createRequire(import.meta.url).resolve('livekit-client'))
  const client = readFileSync(join(bundles, 'livekit-client.esm.mjs'))
  const files: Readonly<Record<string, readonly [type: string, content: string | Buffer]>> = {
    '/': ['text/html', readFileSync(join(import.meta.dirname, '../examples/web/livekit.html'))],
    '/livekit-client.esm.mjs': ['text/javascript', client],
    '/start-call': ['application/json', JSON.stringify(access)],
  }
  const server = createServer(({ url }, response) => {
    const [type, content] = files[url ?? ''] ?? ['text/plain', '']
    response.writeHead(files[url ?? ''] === undefined ? 404 : 200, { 'content-type': type }).end(content)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  atTestEnd(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

describe.skipIf(liveKit.missing)(`web calls by LiveKit${liveKit.note}`, () => {
  const afterAllTests = atLastTestEnd()
  let rooms: TestLiveKit
  let serving: Serving
  let client: ParleyClient
  beforeAll(async () => {
    rooms = await startLiveKit(afterAllTests)
    serving = await startServing(afterAllTests, { env: rooms.env })
    client = clientOf(serving)
  })

  const created = async () => {
    const run = await client.runs.create({ body: { agent_id: 'clinic', channel: 'web', mode: 'inbound' } })
    return { run_id: run.run_id, ...run.web! }
  }
  const visitor = () => {
    const made = new LiveKitVisitor()
    onTestFinished(() => made.close())
    return made
  }
  const said = ({ messages }: LiveKitVisitor, role: 'agent' | 'user') =>
    messages
      .filter(message => message.type === 'utterance' && message.role === role)
      .map(({ text }) => text)
      .join(' ')
  const saysSoon = (one: LiveKitVisitor, role: 'agent' | 'user', words: string) =>
    eventually(
      async () => said(one, role),
      text => text.includes(words),
      SOON_MS,
    )
  const effectsOf = async (run_id: string) => (await client.runs.effects({ params: { run_id } })).items

  it('a visitor talks with the agent, presses a key and leaves; the run is as that of a phone call', async () => {
    const request = await spokenWide('I would like to book an appointment')
    const { run_id, kind, url, token, ice_servers } = await created()
    expect({ kind, url, ice_servers }).toEqual({ kind: 'livekit', url: rooms.env.LIVEKIT_URL, ice_servers: [] })
    const one = visitor()
    await one.join({ url, token })
    await saysSoon(one, 'agent', 'Hillside Clinic')
    await sayUntil(
      ['would like', 'book', 'appointment'],
      () => one.speak(request),
      () => said(one, 'user'),
    )
    one.send({ type: 'digits', digits: '1' })
    const digitsOf = async () => {
      const { items } = await client.runs.timeline({ params: { run_id }, query: {} })
      return items.filter(({ kind }) => kind === 'digits').map(item => ('digits' in item ? item.digits : ''))
    }
    await eventually(digitsOf, digits => digits.join('') === '1', SOON_MS)
    one.leave()
    const run = await waitForRun(client, run_id, hasEnded, SOON_MS)
    expect(run).toMatchObject({
      channel: 'web',
      state: 'completed',
      phone_state: null,
      contact: 'not_applicable',
      outcome: { kind: 'caller_hung_up', ended_by: 'caller' },
    })
    expect(one.heard.filter(({ level }) => level > 0.005).length).toBeGreaterThan(25)
    const effects = (await effectsOf(run_id)).filter(({ effect_kind }) => effect_kind === 'rtc_room')
    expect(effects.map(({ action, state, receipts }) => [action.id, state, receipts.length])).toEqual([
      ['room.create', 'succeeded', 1],
      ['room.delete', 'succeeded', 1],
    ])
    expect(await metersOf(client, run)).toEqual(CALL_METERS)
    expect(await webhooksOf(client, run, SOON_MS)).toEqual(['run.started', 'run.ended'])
    const { channels, sampleRate } = await recordingOf(client, run_id, SOON_MS)
    expect([sampleRate, channels.length]).toEqual([16_000, 2])
    for (const channel of channels) expect(rms(channel)).toBeGreaterThan(0.002)
  })

  it.skipIf(chromium.missing)(
    `the example page with the client of LiveKit calls the agent in Chromium, is understood, hears it and interrupts it${chromium.note}`,
    async ({ onTestFinished: atTestEnd }) => {
      const says = await spokenWide('I would like to book an appointment')
      const script = Array.from({ length: SENTENCES }, () => ({ afterS: PAUSE_S, says }))
      const { browser } = await openCallingBrowser(atTestEnd, { microphone: microphoneFile(atTestEnd, script) })
      const { run_id, ...access } = await created()
      const page = await browser.newPage()
      await page.addInitScript(PAGE_PROBE)
      const complaints: string[] = []
      page.on('pageerror', error => complaints.push(error.message))
      await page.goto(await serveExample(access, atTestEnd))
      await page.getByRole('button', { name: 'Call the clinic' }).click()
      const lines = async () => (await client.runs.transcript({ params: { run_id } })).utterances
      const wordsOf = (found: Awaited<ReturnType<typeof lines>>) =>
        found
          .filter(({ role }) => role === 'user')
          .map(({ text }) => text)
          .join(' ')
      const read = async () => ({ log: await logOf(page), lines: await lines() })
      const isHeardBothWays = ({ log, lines }: Awaited<ReturnType<typeof read>>) =>
        log.levels.some(([, , agent]) => agent > 0.01) &&
        /appointment/.test(wordsOf(lines)) &&
        lines.some(({ role, interrupted }) => role === 'agent' && interrupted)
      const { log } = await eventually(read, found => isHeardBothWays(found) || complaints.length > 0, 2 * SOON_MS)
      expect(complaints).toEqual([])
      console.info(`the agent stopped after ${interruptions(log.levels).map(Math.round)} ms in the page`)
      await page.locator('body', { hasText: 'user: ' }).waitFor()
      await page.close()
      const run = await waitForRun(client, run_id, hasEnded, SOON_MS)
      expect(run).toMatchObject({ state: 'completed', outcome: { kind: 'caller_hung_up' } })
      expect(await metersOf(client, run)).toEqual(CALL_METERS)
      expect(await webhooksOf(client, run, SOON_MS)).toEqual(['run.started', 'run.ended'])
      const { channels } = await recordingOf(client, run_id, SOON_MS)
      expect(channels).toHaveLength(2)
      for (const channel of channels) expect(rms(channel)).toBeGreaterThan(0.002)
    },
  )

  it('an agent hands the call to another one in the same room, which is deleted when the last of them has ended', async () => {
    const { first } = await handingOver(client)
    const run = await client.runs.create({
      body: { agent_id: first, channel: 'web', mode: 'inbound', dynamic_variables: { topic: 'bills' } },
    })
    const one = visitor()
    await one.join(run.web!)
    await saysSoon(one, 'agent', 'Specialist for bills')
    const source = await waitForRun(client, run.run_id, hasEnded, SOON_MS)
    const next = source.outcome!.detail!.slice('agent_swap:'.length)
    expect(await waitForRun(client, next, hasEnded, SOON_MS)).toMatchObject({ outcome: { kind: 'completed' } })
    await eventually(
      async () => one.isOut,
      isOut => isOut,
      SOON_MS,
    )
    const roomEffects = async (run_id: string) =>
      (await effectsOf(run_id))
        .filter(({ effect_kind }) => effect_kind === 'rtc_room')
        .map(({ action, state, receipts }) => [action.id, state, receipts])
    const [creation] = await roomEffects(run.run_id)
    expect(creation?.slice(0, 2)).toEqual(['room.create', 'succeeded'])
    expect(await roomEffects(run.run_id)).toHaveLength(1)
    expect(await roomEffects(next)).toMatchObject([
      ['room.delete', 'succeeded', [{ kind: 'rtc_room', resource_id: expect.stringContaining(run.run_id) }]],
    ])
  })

  it('a visitor can interrupt the agent; a killed room process ends the call, and the next call works', async () => {
    const words = await spokenWide('I would like to book an appointment for tomorrow morning')
    const { run_id, ...access } = await created()
    const one = visitor()
    await one.join(access)
    const isSpeaking = () => one.messages.findLast(({ type }) => type === 'agent')?.state === 'speaking'
    const isCut = () => one.messages.some(({ role, interrupted }) => role === 'agent' && interrupted === true)
    // On a slow machine the words may come after the agent's last ones: then it speaks again, and so does the visitor.
    let spokeAt = Number.NEGATIVE_INFINITY
    await eventually(
      async () => {
        if (!isCut() && isSpeaking() && performance.now() - spokeAt > WORDS_MS) {
          spokeAt = performance.now()
          one.speak(words)
        }
        return isCut()
      },
      cut => cut,
      2 * SOON_MS,
    )
    await saysSoon(one, 'user', 'appointment')
    process.kill(peerProcessOf(serving.pid, 'room-worker'), 'SIGKILL')
    expect(await waitForRun(client, run_id, hasEnded, SOON_MS)).toMatchObject({
      state: 'failed',
      outcome: { kind: 'error', detail: 'media_lost' },
    })
    await eventually(
      async () => one.isOut,
      isOut => isOut,
      SOON_MS,
    )
    const { run_id: next, ...other } = await created()
    const two = visitor()
    await two.join(other)
    await saysSoon(two, 'agent', 'Hillside Clinic')
    await client.runs.cancel({ params: { run_id: next } })
    expect((await waitForRun(client, next, hasEnded, SOON_MS)).state).toBe('cancelled')
    await eventually(
      async () => two.isOut,
      isOut => isOut,
      SOON_MS,
    )
  })

  it('a server that goes away in the middle of a call ends it as lost, and the deletion of its room is uncertain', async () => {
    const { run_id, ...access } = await created()
    const one = visitor()
    await one.join(access)
    await saysSoon(one, 'agent', 'Hillside Clinic')
    await rooms.kill()
    expect(await waitForRun(client, run_id, hasEnded, 2 * SOON_MS)).toMatchObject({
      state: 'failed',
      outcome: { kind: 'error', detail: 'media_lost' },
    })
    expect((await effectsOf(run_id)).map(({ action, state }) => [action.id, state])).toContainEqual([
      'room.delete',
      'uncertain',
    ])
    const { run_id: next } = await created()
    expect(await waitForRun(client, next, hasEnded, SOON_MS)).toMatchObject({
      state: 'failed',
      outcome: { kind: 'error', detail: 'signalling_lost' },
    })
    expect((await effectsOf(next)).map(({ action, state }) => [action.id, state])).toContainEqual([
      'room.create',
      'uncertain',
    ])
  })
})
