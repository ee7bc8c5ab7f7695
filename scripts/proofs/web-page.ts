import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { readWav } from '@parley/media'
import { chromium, microphoneFile, openCallingBrowser } from '../../interop/calling-page.ts'
import type { AtTestEnd } from '../../interop/clean-up.ts'
import { levelsOf, turnGaps } from '../../interop/page-levels.ts'
import type { PageLog } from '../../interop/page-probe.ts'
import { clientOf, eventually, publishDraft } from '../../interop/placed-call.ts'
import { freePeerPorts, rtpRange } from '../../interop/ports.ts'
import { type Serving, startServing, temporaryHome } from '../../interop/serving.ts'
import { TELLER } from '../../interop/story-teller.ts'
import { spokenNarrow, spokenWide } from '../../interop/wide-speech.ts'
import { withCleanups } from './calls/cleanups.ts'
import type { Proof, ProofOptions, ProofOutcome } from './proof.ts'
import { faultsOf, measuresOf } from './web-page/verdict.ts'

const PARLEY = join(import.meta.dirname, '../../packages/cli/bin/parley.mjs')
const WORDS = 'I would like to book an appointment'
const PAUSE_S = 7
/** Length of a sentence with the silence before it. */
const SENTENCE_S = PAUSE_S + 3
const SPARE_S = 30

/**
 * A page in Chromium and a phone call the same agent, one after the other, and interrupt it with the same sentences. Both ends measure on
 * their own clocks when the agent stops and when it answers: the page by the sound in it, the phone by its recording. Its short form is the
 * first test of `interop/web-page.test.ts`; `web-page.test.ts` beside this file plants faults.
 */
export const proof: Proof = { name: 'web-page', seconds: 0, count: 8, run: proveWebPage }

async function proveWebPage({ count, line, progress }: ProofOptions): Promise<ProofOutcome> {
  if (chromium.missing) throw new Error(`Chromium is missing${chromium.note}`)
  return withCleanups(async atEnd => {
    const home = temporaryHome(atEnd)
    const serving = await startServing(atEnd, { home })
    const client = clientOf(serving)
    await publishDraft(client, 'teller', TELLER)
    const { items } = await client.numbers.list({ query: {} })
    const { number_id } = items.find(({ phone_number }) => phone_number === serving.demo.number)!
    await client.numbers.assign({ params: { number_id }, body: { agent_id: 'teller' } })
    progress(`the platform is up, load ${loadavg()[0]!.toFixed(1)}`)
    const page = measuresOf(await levelsInPage(serving, count, atEnd))
    line({ proof: 'web-page', end: 'page', ...page })
    const phone = measuresOf(await levelsOnPhone(serving, home, count, atEnd))
    line({ proof: 'web-page', end: 'phone', ...phone })
    const faults = faultsOf({ page, phone }, count)
    for (const fault of faults) line({ proof: 'web-page', fault })
    const load = Math.round(10 * loadavg()[0]!) / 10
    return { ok: faults.length === 0, summary: { load, page, phone, faults: faults.length } }
  })
}

async function levelsInPage(serving: Serving, count: number, atEnd: AtTestEnd): Promise<PageLog['levels']> {
  const says = await spokenWide(WORDS)
  const script = Array.from({ length: count }, () => ({ afterS: PAUSE_S, says }))
  const { page: open } = await openCallingBrowser(atEnd, { microphone: microphoneFile(atEnd, script) })
  const page = await open()
  const run = await clientOf(serving).runs.create({ body: { agent_id: 'teller', channel: 'web', mode: 'inbound' } })
  await page.begin(run.web!)
  const { error, levels } = await eventually(
    () => page.log(),
    log => log.error !== null || turnGaps(log.levels).length >= count,
    (count * SENTENCE_S + SPARE_S) * 1000,
  )
  if (error !== null) throw new Error(error)
  await page.hangUp()
  return levels
}

async function levelsOnPhone(
  serving: Serving,
  home: string,
  count: number,
  atEnd: AtTestEnd,
): Promise<PageLog['levels']> {
  const says = await spokenNarrow(WORDS)
  const script = Array.from({ length: count }, () => ({ afterS: PAUSE_S, says }))
  const wav = microphoneFile(atEnd, script, 8000)
  const recording = `${wav}.call.wav`
  const ports = await freePeerPorts()
  const seconds = String(count * SENTENCE_S)
  await promisify(execFile)(
    process.execPath,
    [PARLEY, 'call', serving.demo.sip!, '--wav', wav, '--record', recording, '--seconds', seconds],
    { env: { ...process.env, PARLEY_HOME: home, PARLEY_SIP_PORT: '0', PARLEY_RTP_PORTS: rtpRange(ports) } },
  )
  const { channels, sampleRate } = readWav(readFileSync(recording))
  return levelsOf(channels[0]!, channels[1]!, sampleRate)
}
