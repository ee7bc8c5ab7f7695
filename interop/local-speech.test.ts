// A real recogniser and a neural voice, as "parley speech install" sets them up: the call has nothing but speech.
import { mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { systemTime } from '@parley/kernel'
import { CallerScript, type CallerStep, PhoneVoice, VirtualPhone } from '@parley/phone'
import { vendorCatalogue } from '@parley/providers'
import { describe, it } from 'vitest'
import { readSettings } from '../packages/cli/src/environment.ts'
import { processIdentity } from '../packages/cli/src/identity.ts'
import { recordInstallation, speechDirectory } from '../packages/cli/src/speech/installation.ts'
import type { AtTestEnd } from './clean-up.ts'
import { clientOf, hasEnded, waitForRun } from './placed-call.ts'
import { freePeerPorts, rtpRange } from './ports.ts'
import { preparedHome, startServing } from './serving.ts'
import { pathOf, requires, SPEECH_PROGRAMS } from './skip.ts'

/** The conversation takes about a minute, and several on a busy machine. */
const STEP_MS = 120_000
const END_MS = 120_000
const TEST_MS = 1_800_000
/** Calls that may be placed: a small recogniser mishears now and then, and a caller without a booking calls again. */
const CALLS = 3
const QUIET = { type: 'quiet', forMs: 900, withinMs: STEP_MS } as const

/** A new patient presses no key. The caller waits for words of the agent that the recogniser reliably understands. */
const PATIENT: readonly CallerStep[] = [
  { type: 'hear', pattern: /help you/i, withinMs: STEP_MS },
  QUIET,
  { type: 'say', text: 'I would like to book an appointment, please.' },
  { type: 'hear', pattern: /number|digit|new here/i, withinMs: STEP_MS },
  QUIET,
  { type: 'say', text: 'My number is one zero four two.' },
  { type: 'hear', pattern: /day/i, withinMs: STEP_MS },
  QUIET,
  { type: 'say', text: 'The second one, please.' },
  { type: 'hear', pattern: /time|nine|ten|press/i, withinMs: STEP_MS },
  QUIET,
  { type: 'say', text: 'The first one, please.' },
  { type: 'hear', pattern: /book|yes/i, withinMs: STEP_MS },
  QUIET,
  { type: 'say', text: 'Yes, please.' },
  { type: 'hung-up', withinMs: STEP_MS },
]

const speech = requires(SPEECH_PROGRAMS)

/** A home in which the environment of `.ci/run` is the installed one. */
async function homeWithSpeech(atTestEnd: AtTestEnd): Promise<string> {
  const home = await preparedHome(atTestEnd)
  mkdirSync(speechDirectory(home))
  const environment = dirname(dirname(pathOf('parley-speech-python')!))
  symlinkSync(environment, join(speechDirectory(home), 'venv'))
  await recordInstallation(home)
  return home
}

describe.skipIf(speech.missing)(`a local recogniser and a neural voice${speech.note}`, { timeout: TEST_MS }, () => {
  it('a caller with a synthetic voice books an appointment at the clinic by speech alone, over TLS and SRTP', async ({
    expect,
    onTestFinished: atTestEnd,
  }) => {
    const home = await homeWithSpeech(atTestEnd)
    const serving = await startServing(atTestEnd, { home })
    const line = /^local speech .*local_stt\/(\S+) at (\S+) and local_tts\/(\S+) at (\S+), .*English only$/m.exec(
      serving.output(),
    )
    expect(line, serving.output()).not.toBeNull()
    const [, sttModel, stt, ttsModel, tts] = line!

    // The caller speaks and hears by the same two servers.
    const { vendors } = readSettings({
      PARLEY_LOCAL_STT: `${stt}?model=${sttModel}&languages=en`,
      PARLEY_LOCAL_TTS: `${tts}?model=${ttsModel}&languages=en&voice=heart`,
    })
    const catalogue = vendorCatalogue(vendors, systemTime)
    const recogniser = catalogue.stt.find(({ vendor }) => vendor.name === 'local_stt')!.open!(sttModel!)
    const voice = catalogue.tts.find(({ vendor }) => vendor.name === 'local_tts')!.open!(ttsModel!)
    const [, from, to] = /^(\d+)-(\d+)$/.exec(rtpRange(await freePeerPorts()))!
    const phone = await VirtualPhone.open({
      endpoint: {
        tls: (await processIdentity(readSettings({ PARLEY_HOME: home }))).tls,
        rtp: { bind: '127.0.0.1', ports: { from: Number(from), to: Number(to) }, threads: 1 },
        userAgentName: 'phone',
      },
    })
    atTestEnd(async () => {
      await phone.close()
      await recogniser.close()
      await voice.close()
    })
    const script = await CallerScript.prepare(PATIENT, new PhoneVoice(voice, 'en'))
    const failures: string[] = []
    for (let attempt = 0; attempt < CALLS && failures.length === attempt; attempt++) {
      const call = await phone.call(serving.demo.sip!)
      call.setRecogniser(recogniser, 'en')
      await script.follow(call, { answerWithinMs: STEP_MS }).catch((error: Error) => {
        failures.push(error.message)
        call.leg.hangUp()
      })
      await call.ended
    }
    expect(failures.length, failures.join('\n')).toBeLessThan(CALLS)

    const client = clientOf(serving)
    const { items } = await client.runs.list({})
    const run = await waitForRun(client, items[0]!.run_id, hasEnded, END_MS)
    expect(run).toMatchObject({ state: 'completed', outcome: { kind: 'completed', ended_by: 'agent' } })
    const { utterances } = await client.runs.transcript({ params: { run_id: run.run_id } })
    const spoken = utterances.map(({ role, text }) => `${role}: ${text}`).join('\n')
    expect(spoken).toMatch(/agent: .*booked/i)
  })
})
