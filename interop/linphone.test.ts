import { readFileSync } from 'node:fs'
import type { CallReport } from '@parley/engine/testing'
import { readWav } from '@parley/media'
import { resemblance } from '@parley/phone/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { closeTestVoice, dialling, spoken, startEngine } from './engine.ts'
import { runLinphoneCaller, startLinphoneCallee } from './linphone.ts'
import { LINPHONE_PROGRAMS, requires } from './skip.ts'
import { readMonoWav } from './speech-match.ts'

const peer = requires(LINPHONE_PROGRAMS)

/** linphone's own recorder and clock cost some likeness; unrelated speech stays near 0.3. */
const FAIR_LIKENESS = 0.55

async function expectSpeechBothWays(
  report: CallReport,
  audio: { readonly heardWav: string | undefined; readonly microphoneWav: string },
): Promise<void> {
  const [left, right] = readWav(readFileSync(report.end.media!.recording!.path)).channels
  const greeting = await spoken(report.utterances[0]!.text)
  expect(resemblance(readMonoWav(audio.microphoneWav), left!).score).toBeGreaterThan(FAIR_LIKENESS)
  expect(resemblance(greeting, right!).score).toBeGreaterThan(0.9)
  expect(resemblance(greeting, readMonoWav(audio.heardWav!)).score).toBeGreaterThan(FAIR_LIKENESS)
}

describe.skipIf(peer.missing)(`linphone over TLS with mandatory SDES${peer.note}`, { concurrent: true }, () => {
  afterAll(closeTestVoice)

  it('linphone calls the engine, checks its certificate, sends a digit, holds and resumes; the engine hangs up on the same connection', async ({
    onTestFinished,
  }) => {
    const under = await startEngine(
      {
        onCall: call =>
          call.leg.onEvent(event => {
            if (event.type === 'resumed') setTimeout(() => call.leg.hangUp(), 1000)
          }),
      },
      onTestFinished,
    )
    const caller = await runLinphoneCaller(under.uri.replace('127.0.0.1', 'localhost'), {
      actions: ['6:5', '8:pause', '10:resume 1'],
      callSeconds: 30,
      atTestEnd: onTestFinished,
    })
    const report = await under.nextReport()
    expect(caller.exitCode, caller.output).toBe(0)
    expect(caller.output).toMatch(/SSL handshake finished/)
    expect(report.transport).toEqual({ signalling: 'tls', media: 'srtp' })
    expect(report.digits).toBe('5')
    expect(report.end).toMatchObject({ by: 'local', cause: 'bye', confirmed: true })
    const facts = under.events.flatMap(event => (event.type === 'leg' ? [event.event.type] : []))
    expect(facts.filter(fact => fact === 'held' || fact === 'resumed')).toEqual(['held', 'resumed'])
    expect(report.end.media!.statistics.rejected.unauthenticated).toBe(0)
    await expectSpeechBothWays(report, caller)
  })

  it('the engine calls linphone through the proxy of its registration, and linphone hangs up', async ({
    onTestFinished,
  }) => {
    const under = await startEngine({}, onTestFinished)
    const callee = await startLinphoneCallee({ callSeconds: 7, atTestEnd: onTestFinished })
    await under.dial(dialling(callee.uri))
    const report = await under.nextReport()
    const answered = await callee.finished
    expect(answered.exitCode, answered.output).toBe(0)
    expect(report.transport).toEqual({ signalling: 'tls', media: 'srtp' })
    expect(report.run.outcome).toMatchObject({ kind: 'caller_hung_up', sip_status: 200 })
    expect(report.end.media!.statistics.rejected.unauthenticated).toBe(0)
    await expectSpeechBothWays(report, answered)
  })
})
