// Web calls as the page has them: Chromium, the browser part of web calls, and sound that is measured in the page.
import type { ParleyClient } from '@parley/client'
import { attachEmbeddedPostgres } from '@parley/store'
import { Client } from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import { buildWeb } from '../scripts/web-build.mjs'
import { type CallingBrowser, chromium, microphoneFile, openCallingBrowser } from './calling-page.ts'
import type { AtTestEnd } from './clean-up.ts'
import { coturn, startTurnServer, type TurnServer } from './coturn.ts'
import { pulseAudio, startLoopbackAudio } from './loopback-audio.ts'
import { interruptions, turnGaps } from './page-levels.ts'
import type { PageLog } from './page-probe.ts'
import { clientOf, eventually, hasEnded, publishDraft, waitForRun } from './placed-call.ts'
import { atLastTestEnd } from './recipe.ts'
import { CALL_METERS, metersOf, recordingOf, webhooksOf } from './run-records.ts'
import { preparedHome, type Serving, startServing } from './serving.ts'
import { TELLER } from './story-teller.ts'
import { rms, spokenWide } from './wide-speech.ts'

const SOON_MS = 120_000
/** Sentences of the microphone, and the silence before each. */
const SENTENCES = 8
const PAUSE_S = 7
/** Limits of the quickest of several, because a busy machine delays the others; docs/benchmarks.md has what was measured. */
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

async function inDatabase(url: string, text: string, values: readonly unknown[]): Promise<void> {
  const connection = new Client({ connectionString: url })
  await connection.connect()
  try {
    await connection.query(text, [...values])
  } finally {
    await connection.end()
  }
}

it('the browser part of web calls is one module of less than 40 kB without imports', async () => {
  const code = await buildWeb({ write: false })
  expect(Buffer.byteLength(code)).toBeLessThan(40_000)
  expect(code).not.toMatch(/\bimport\b\s*["'{*]/)
})

describe.skipIf(chromium.missing)(`a page in Chromium${chromium.note}`, () => {
  const afterAllTests = atLastTestEnd()
  let serving: Serving
  let client: ParleyClient
  /** Its microphone says the same sentence again and again. */
  let speaking: CallingBrowser
  let database: string
  let turn: TurnServer | null = null
  beforeAll(async () => {
    turn = coturn.missing ? null : await startTurnServer(afterAllTests)
    const env = turn === null ? {} : { PARLEY_TURN_URLS: turn.url, PARLEY_TURN_SECRET: turn.secret }
    const home = await preparedHome(afterAllTests)
    serving = await startServing(afterAllTests, { env, home })
    database = await attachEmbeddedPostgres(home)
    client = clientOf(serving)
    await publishDraft(client, 'teller', TELLER)
    const says = await spokenWide('I would like to book an appointment')
    const script = Array.from({ length: SENTENCES }, () => ({ afterS: PAUSE_S, says }))
    speaking = await openCallingBrowser(afterAllTests, { microphone: microphoneFile(afterAllTests, script) })
  })

  const webRun = async (agent_id = 'teller') => {
    const run = await client.runs.create({ body: { agent_id, channel: 'web', mode: 'inbound' } })
    return { run_id: run.run_id, access: run.web! }
  }
  const newPage = async (atTestEnd: AtTestEnd, host?: 'localhost') => {
    const page = await speaking.page(host)
    atTestEnd(() => page.close())
    return page
  }
  it('talks with the agent, presses a key and hangs up; the agent stops when it is interrupted, and the recording has both sides', async ({
    onTestFinished,
  }) => {
    const page = await newPage(onTestFinished)
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
    expect(Math.min(...stops), measured).toBeLessThan(INTERRUPTED_MS)
    expect(Math.min(...gaps), measured).toBeLessThan(ANSWERED_MS)

    await page.sendDigits('1')
    const digits = async () => (await client.runs.timeline({ params: { run_id }, query: {} })).items
    await eventually(digits, items => items.some(item => 'digits' in item && item.digits === '1'), SOON_MS)
    await page.hangUp()
    expect(await waitForRun(client, run_id, hasEnded, SOON_MS)).toMatchObject({
      state: 'completed',
      outcome: { kind: 'caller_hung_up', ended_by: 'caller' },
    })
    const { channels } = await recordingOf(client, run_id, SOON_MS)
    expect(channels).toHaveLength(2)
    for (const channel of channels) expect(rms(channel)).toBeGreaterThan(0.002)
  })

  it.skipIf(coturn.missing)(
    `loses its path and is back within ten seconds on the same run: conversation and recording go on, and the run ends, is billed and reported as a phone call${coturn.note}`,
    async ({ onTestFinished }) => {
      const page = await newPage(onTestFinished)
      const { run_id, access } = await webRun('clinic')
      // The only path is the relay, whose process stops for a while.
      await page.begin(access, { relayOnly: true })
      const until = (isReached: (log: PageLog) => boolean) =>
        eventually(
          () => page.log(),
          current => current.error !== null || isReached(current),
          SOON_MS,
        )
      const understood = (log: PageLog) => spokenBy(log, 'user').length
      const before = await until(log => understood(log) > 0 && spokenBy(log, 'agent').length > 1)
      expect(before.error, serving.output()).toBeNull()
      turn!.pause(true)
      const lost = await until(({ states }) => states.includes('reconnecting'))
      turn!.pause(false)
      const back = await until(({ states }) => states.at(-1) === 'connected' && states.includes('reconnecting'))
      expect(back.states.slice(-2), serving.output()).toEqual(['reconnecting', 'connected'])
      expect(back.connections).toBeGreaterThan(before.connections)
      const { length } = back.levels
      const after = await until(
        log => understood(log) > understood(lost) && log.levels.slice(length).some(([, , agent]) => agent > 0.01),
      )
      expect(after.utterances.map(({ text }) => text).slice(0, lost.utterances.length)).toEqual(
        lost.utterances.map(({ text }) => text),
      )
      await page.hangUp()
      const run = await waitForRun(client, run_id, hasEnded, SOON_MS)
      expect(run).toMatchObject({ state: 'completed', outcome: { kind: 'caller_hung_up' } })
      const { items } = await client.runs.timeline({ params: { run_id }, query: {} })
      expect(items.filter(({ kind }) => kind === 'utterance').length).toBeGreaterThanOrEqual(after.utterances.length)

      const { channels, sampleRate } = await recordingOf(client, run_id, SOON_MS)
      expect(Math.abs((channels[0]!.length / sampleRate) * 1000 - run.connected_ms!)).toBeLessThan(3000)
      for (const channel of channels) expect(rms(channel.subarray(-15 * sampleRate))).toBeGreaterThan(0.002)
      expect(await metersOf(client, run)).toEqual(CALL_METERS)
      expect(await webhooksOf(client, run, SOON_MS)).toEqual(['run.started', 'run.ended'])
    },
  )

  it('learns why a token is refused that is wrong, was used or has expired, and has no call', async ({
    onTestFinished,
  }) => {
    const [page, other] = [await newPage(onTestFinished), await newPage(onTestFinished)]
    const { run_id, access } = await webRun()
    await other.begin({ ...access, token: `wt_${'a'.repeat(32)}` })
    expect((await other.log()).error).toMatch(/token|secret/i)
    await page.begin(access)
    expect((await page.log()).error).toBeNull()
    await other.begin(access)
    expect((await other.log()).error).toMatch(/was used/)
    const late = await webRun()
    await inDatabase(database, "update parley.web_calls set expires_at = now() - interval '1 s' where run_id = $1", [
      late.run_id,
    ])
    await other.begin(late.access)
    expect((await other.log()).error).toMatch(/has expired/)
    expect((await other.log()).levels).toEqual([])
    await page.hangUp()
    await waitForRun(client, run_id, hasEnded, SOON_MS)
  })

  it('a page calls with a site key from an allowed origin; the browser withholds the answer from a page of another origin', async ({
    onTestFinished,
  }) => {
    const [own, other] = [await newPage(onTestFinished), await newPage(onTestFinished, 'localhost')]
    const { secret } = await client.siteKeys.create({
      body: { name: 'A site', agent_id: 'clinic', origins: [own.origin], concurrent_limit: 2, daily_limit: 10 },
    })
    await other.beginOfSite(secret, serving.demo.api!)
    expect((await other.log()).error).toMatch(/failed to fetch/i)
    await own.beginOfSite(secret, serving.demo.api!)
    const log = await eventually(
      () => own.log(),
      ({ error, levels }) => error !== null || levels.some(([, , agent]) => agent > 0.01),
      SOON_MS,
    )
    expect(log.error, serving.output()).toBeNull()
    await own.hangUp()
    const { items } = await client.runs.list({ query: { agent_id: 'clinic' } })
    const ofSite = items.filter(({ trigger }) => trigger.kind === 'site_key')
    expect(ofSite).toHaveLength(1)
    await waitForRun(client, ofSite[0]!.run_id, hasEnded, SOON_MS)
  })

  it('of a site has the button of the example, in the colours of the site: it calls with the key of the site, shows what is said, and hangs up', async ({
    onTestFinished,
  }) => {
    const { page, origin } = await speaking.siteOf(serving.demo.api!)
    onTestFinished(() => page.close())
    const { secret, site_key_id } = await client.siteKeys.create({
      body: { name: 'An example', agent_id: 'clinic', origins: [origin] },
    })
    const button = page.locator('parley-call').getByRole('button', { name: 'Call the clinic' })
    await page.addStyleTag({ content: 'parley-call { --parley-accent: rgb(1, 2, 3) }' })
    const colour =
      "getComputedStyle(document.querySelector('parley-call').shadowRoot.querySelector('button')).backgroundColor"
    expect(await page.evaluate(colour)).toBe('rgb(1, 2, 3)')
    await page.evaluate(`document.querySelector('parley-call').setAttribute('site-key', '${secret}')`)
    await button.click()
    await page.locator('parley-call li[data-role=agent]').first().waitFor({ timeout: SOON_MS })
    await page.locator('parley-call').getByRole('button', { name: 'Mute' }).click()
    await page.locator('parley-call').getByRole('button', { name: 'Unmute' }).click()
    await page.locator('parley-call').getByRole('button', { name: 'Hang up' }).click()
    await page.getByText('The call has ended.').waitFor()
    const { items } = await client.runs.list({ query: { agent_id: 'clinic' } })
    const run = items.find(({ trigger }) => trigger.kind === 'site_key' && trigger.site_key_id === site_key_id)
    expect(await waitForRun(client, run!.run_id, hasEnded, SOON_MS)).toMatchObject({
      state: 'completed',
      outcome: { kind: 'caller_hung_up' },
    })
  })

  it.skipIf(coturn.missing)(
    `reaches the agent through a TURN server alone where it must${coturn.note}`,
    async ({ onTestFinished }) => {
      const page = await newPage(onTestFinished)
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
    const page = await (await openCallingBrowser(atTestEnd, { env: await startLoopbackAudio(atTestEnd) })).page()
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
