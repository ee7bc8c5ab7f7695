// Web calls as the page has them: Chromium, the browser part of web calls, and sound that is measured in the page.
import type { ParleyClient } from '@parley/client'
import { readWav } from '@parley/media'
import { beforeAll, describe, expect, it } from 'vitest'
import { buildWeb } from '../scripts/web-build.mjs'
import { chromium, microphoneFile, openCallingPage, type PageLog } from './calling-page.ts'
import { draftOf, promptEdge, staticNode } from './conversation-flows.ts'
import { coturn, startTurnServer } from './coturn.ts'
import { pulseAudio, startLoopbackAudio } from './loopback-audio.ts'
import { interruptions, turnGaps } from './page-levels.ts'
import { clientOf, eventually, hasEnded, publishDraft, waitForRun } from './placed-call.ts'
import { type AtTestEnd, atLastTestEnd } from './recipe.ts'
import { type Serving, startServing } from './serving.ts'
import { rms, spokenWide } from './wide-speech.ts'

const SOON_MS = 120_000
/** Takes about a minute to say. */
const STORY = Array.from({ length: 16 }, (_, i) => `This is sentence ${i + 1} of a story that goes on.`).join(' ')
const PATIENT = { reminderMaxCount: 0, endCallAfterSilenceMs: 600_000, maxCallDurationMs: 600_000 } as const
/** Tells a story, and begins another one when it was interrupted. */
const TELLER = draftOf(
  [
    staticNode('one', STORY, { always_edge: promptEdge('on', 'two', 'Always') }),
    staticNode('two', STORY, { always_edge: promptEdge('back', 'one', 'Always') }),
  ],
  {},
  { settings: PATIENT, recording: { required: true, channels: 'dual', signed_urls: true } },
)
/** Limits for a busy machine; docs/benchmarks.md has what was measured. */
const INTERRUPTED_MS = 3000
const ANSWERED_MS = 20_000
/** Sound of the agent for which the echo is judged, in steps of 10 ms. */
const JUDGED_STEPS = 1200
/** Own utterances that an agent takes for the caller's after which no more are awaited. */
const JUDGED_INTERRUPTIONS = 12

const spokenBy = ({ utterances }: PageLog, role: string) => utterances.filter(utterance => utterance.role === role)
/** Of the microphone in the page. */
const loudness = ({ levels }: PageLog) =>
  Math.sqrt(levels.reduce((sum, [, microphone]) => sum + microphone ** 2, 0) / Math.max(1, levels.length))
/** Whether the caller was understood twice, was answered twice, and interrupted the agent. */
const isMeasured = (log: PageLog) =>
  spokenBy(log, 'user').length >= 2 && turnGaps(log.levels).length >= 2 && interruptions(log.levels).length >= 1
const textOf = (log: PageLog) => JSON.stringify({ ...log, levels: log.levels.length })

it('the browser part of web calls is one module of less than 40 kB without imports', async () => {
  const code = await buildWeb({ write: false })
  expect(Buffer.byteLength(code)).toBeLessThan(40_000)
  expect(code).not.toMatch(/\bimport\b\s*["'{*]/)
})

describe.skipIf(chromium.missing)(`a page in Chromium${chromium.note}`, { timeout: 300_000 }, () => {
  const afterAllTests = atLastTestEnd()
  let serving: Serving
  let client: ParleyClient
  beforeAll(async () => {
    const turn = coturn.missing ? null : await startTurnServer(afterAllTests)
    const env = turn === null ? {} : { PARLEY_TURN_URLS: turn.url, PARLEY_TURN_SECRET: turn.secret }
    serving = await startServing(afterAllTests, { env })
    client = clientOf(serving)
    await publishDraft(client, 'teller', TELLER)
  }, 180_000)

  const webRun = async () => {
    const run = await client.runs.create({ body: { agent_id: 'teller', channel: 'web', mode: 'inbound' } })
    return { run_id: run.run_id, access: run.web! }
  }

  it('talks with the agent, presses a key and hangs up; the agent stops when it is interrupted, and the recording has both sides', async ({
    onTestFinished,
  }) => {
    const says = await spokenWide('I would like to book an appointment')
    const script = Array.from({ length: 6 }, () => ({ afterS: 9, says }))
    const page = await openCallingPage(onTestFinished, { microphone: microphoneFile(onTestFinished, script) })
    const { run_id, access } = await webRun()
    await page.begin(access)
    const log = await eventually(
      () => page.log(),
      current => isMeasured(current) || current.error !== null,
      SOON_MS,
    )
    expect(log.error, serving.output()).toBeNull()
    // A busy machine makes pauses within a sentence.
    expect(
      spokenBy(log, 'user')
        .map(({ text }) => text)
        .join(' '),
    ).toMatch(/appointment/)
    expect(spokenBy(log, 'agent').some(({ interrupted }) => interrupted)).toBe(true)
    const stops = interruptions(log.levels)
    const gaps = turnGaps(log.levels)
    const measured = `the agent stopped after ${stops.map(Math.round)} ms and answered after ${gaps.map(Math.round)} ms`
    console.info(measured)
    expect(stops.length, measured).toBeGreaterThan(0)
    expect(Math.max(...stops), measured).toBeLessThan(INTERRUPTED_MS)
    expect(Math.max(...gaps), measured).toBeLessThan(ANSWERED_MS)

    await page.sendDigits('1')
    const digits = async () => (await client.runs.timeline({ params: { run_id }, query: {} })).items
    await eventually(digits, items => items.some(item => 'digits' in item && item.digits === '1'), SOON_MS)
    await page.hangUp()
    expect(await waitForRun(client, run_id, hasEnded, SOON_MS)).toMatchObject({
      state: 'completed',
      outcome: { kind: 'caller_hung_up', ended_by: 'caller' },
    })
    const read = () => client.runs.recording({ params: { run_id } })
    const recording = await eventually(read, ({ state }) => state === 'ready', SOON_MS)
    const { channels } = readWav(Buffer.from(await (await fetch(recording.media_url!)).arrayBuffer()))
    expect(channels).toHaveLength(2)
    for (const channel of channels) expect(rms(channel)).toBeGreaterThan(0.002)
  })

  it('learns why a token is refused that is wrong or was used, and has no call', async ({ onTestFinished }) => {
    const microphone = microphoneFile(onTestFinished, [])
    const [page, other] = [
      await openCallingPage(onTestFinished, { microphone }),
      await openCallingPage(onTestFinished, { microphone }),
    ]
    const { run_id, access } = await webRun()
    await other.begin({ ...access, token: `wt_${'a'.repeat(32)}` })
    expect((await other.log()).error).toMatch(/token|secret/i)
    await page.begin(access)
    expect((await page.log()).error).toBeNull()
    await other.begin(access)
    expect((await other.log()).error).toMatch(/used|answered|offer/i)
    await page.hangUp()
    await waitForRun(client, run_id, hasEnded, SOON_MS)
  })

  it.skipIf(coturn.missing)(
    `reaches the agent through a TURN server alone where it must${coturn.note}`,
    async ({ onTestFinished }) => {
      const says = await spokenWide('I would like to book an appointment')
      const microphone = microphoneFile(onTestFinished, [{ afterS: 4, says }])
      const page = await openCallingPage(onTestFinished, { microphone })
      const { run_id, access } = await webRun()
      await page.begin(access, { relayOnly: true })
      const isHeardBothWays = ({ user, levels }: PageLog) =>
        user.includes(true) && levels.some(([, , agent]) => agent > 0.01)
      const log = await eventually(
        () => page.log(),
        current => isHeardBothWays(current) || current.error !== null,
        SOON_MS,
      )
      expect(log.error).toBeNull()
      expect(log.candidates[0]).toBe('relay')
      await page.hangUp()
      expect((await waitForRun(client, run_id, hasEnded, SOON_MS)).state).toBe('completed')
    },
  )

  /** What the page noted while the agent told its story to a microphone that hears the speaker. */
  const logOfEcho = async (echoCancellation: boolean, atTestEnd: AtTestEnd): Promise<PageLog> => {
    const page = await openCallingPage(atTestEnd, { env: await startLoopbackAudio(atTestEnd) })
    const { run_id, access } = await webRun()
    await page.begin(access, { microphone: { echoCancellation, noiseSuppression: false, autoGainControl: false } })
    const log = await eventually(
      () => page.log(),
      current => {
        const { levels, error } = current
        const isJudged = levels.filter(([, , agent]) => agent > 0.01).length > JUDGED_STEPS
        // An agent that interrupts itself again and again says little in two minutes.
        return error !== null || isJudged || spokenBy(current, 'user').length >= JUDGED_INTERRUPTIONS
      },
      SOON_MS,
    )
    await page.hangUp()
    await waitForRun(client, run_id, hasEnded, SOON_MS)
    return log
  }

  it.skipIf(pulseAudio.missing)(
    `whose microphone hears its speaker does not let the agent interrupt itself, because the browser cancels the echo${pulseAudio.note}`,
    async ({ onTestFinished }) => {
      const without = await logOfEcho(false, onTestFinished)
      const cancelled = await logOfEcho(true, onTestFinished)
      console.info(
        `echo in the microphone: ${loudness(without)} without the cancellation, ${loudness(cancelled)} with it`,
      )
      const own = (log: PageLog) => spokenBy(log, 'user').length
      const measured = `${own(without)} utterances of its own without the cancellation, ${own(cancelled)} with it`
      console.info(measured)
      // The echo is there: without the cancellation the agent takes its own words for the caller's. Where the sound server of a busy
      // machine stalls, the cancellation has to learn the echo anew.
      expect(own(without), textOf(without)).toBeGreaterThan(2)
      expect(own(cancelled), textOf(cancelled)).toBeLessThan(own(without) / 2)
      expect(loudness(cancelled), measured).toBeLessThan(0.8 * loudness(without))
    },
  )
})
