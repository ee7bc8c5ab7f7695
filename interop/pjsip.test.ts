import { readFileSync } from 'node:fs'
import type { CallReport } from '@parley/engine/testing'
import { readWav, resample } from '@parley/media'
import { resemblance } from '@parley/phone/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { closeTestVoice, describeMedia, dialling, spoken, startEngine } from './engine.ts'
import { runPjsipCaller, startPjsipCallee } from './pjsip.ts'
import { PJSIP_PROGRAMS, requires } from './skip.ts'

const peer = requires(PJSIP_PROGRAMS)

/** PJSIP's jitter buffer and clock cost some likeness; unrelated speech stays near 0.3. */
const FAIR_LIKENESS = 0.55

/** The first channel of a WAV file at 8 kHz. */
function narrowband(path: string): Int16Array {
  const { sampleRate, channels } = readWav(readFileSync(path))
  return sampleRate === 8000 ? channels[0]! : resample(channels[0]!, sampleRate, 8000)
}

async function expectSpeechBothWays(
  report: CallReport,
  audio: { readonly heardWav: string | undefined; readonly microphoneWav: string },
): Promise<void> {
  const greeting = await spoken(report.utterances[0]!.text)
  const received = narrowband(report.end.media!.recording!.path)
  const media = describeMedia(report)
  expect(resemblance(narrowband(audio.microphoneWav), received).score, media).toBeGreaterThan(FAIR_LIKENESS)
  expect(resemblance(greeting, narrowband(audio.heardWav!)).score, media).toBeGreaterThan(FAIR_LIKENESS)
}

describe.skipIf(peer.missing)(`PJSIP, the stack below Asterisk${peer.note}`, { concurrent: true }, () => {
  afterAll(closeTestVoice)

  it('PJSIP calls the engine over TLS and SRTP (AES-256) with 100rel, sends digits in RTP and INFO, holds, resumes and refreshes; both hear each other', async ({
    onTestFinished: atTestEnd,
  }) => {
    const under = await startEngine({ ringMs: () => 500 }, atTestEnd)
    const caller = await runPjsipCaller(under.uri, {
      actions: ['4:digits 12', '5:info 7', '6:hold', '7:resume', '8:reinvite', '9:update'],
      callSeconds: 10,
      requiresPrack: true,
      atTestEnd,
    })
    const report = await under.nextReport()
    expect(caller.exitCode, caller.output).toBe(0)
    expect(report.transport).toEqual({ signalling: 'tls', media: 'srtp' })
    expect(report.digits).toBe('127')
    const facts = under.events.flatMap(event => (event.type === 'leg' ? [event.event.type] : []))
    expect(facts.filter(fact => fact === 'held' || fact === 'resumed')).toEqual(['held', 'resumed'])
    expect(caller.log).toMatch(/SRTP started, keying=SDES, crypto=AES_256_CM_HMAC_SHA1_80/)
    expect(caller.log).toMatch(/^PRACK /m)
    expect(caller.log).toMatch(/^UPDATE /m)
    expect(report.end).toMatchObject({ by: 'remote', cause: 'bye', confirmed: true })
    expect(report.end.media!.statistics.rejected.unauthenticated).toBe(0)
    await expectSpeechBothWays(report, caller)
  })

  it('the engine calls PJSIP over UDP in G.722 and sends digits; PJSIP hangs up', async ({
    onTestFinished: atTestEnd,
  }) => {
    const under = await startEngine({}, atTestEnd)
    const callee = await startPjsipCallee({
      ringSeconds: 1,
      callSeconds: 8,
      codecs: ['G722', 'PCMU'],
      srtp: 'none',
      atTestEnd,
    })
    const call = await under.dial(dialling(callee.uri, { security: 'rtp-only', codecs: ['G722', 'PCMU'] }))
    call.leg.onEvent(event => {
      if (event.type === 'answered') setTimeout(() => call.leg.sendDigits('5'), 6000)
    })
    const [report, answered] = [await under.nextReport(), await callee.finished]
    expect(answered.exitCode, answered.output).toBe(0)
    expect(answered.output).toMatch(/^codec G722\/16000/m)
    expect(answered.output).toMatch(/^digit 5$/m)
    expect(report.run.outcome).toMatchObject({ detail: 'callee_hung_up', ended_by: 'callee', sip_status: 200 })
    await expectSpeechBothWays(report, answered)
  })
})
