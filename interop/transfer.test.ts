import { type LegEvent, parseUri, type SipUri } from '@parley/leg'
import { afterAll, describe, expect, it } from 'vitest'
import { startBaresipCallee } from './baresip.ts'
import type { AtTestEnd } from './clean-up.ts'
import { closeTestVoice, dialling, type EngineUnderTest, startEngine } from './engine.ts'
import { BARESIP_PROGRAMS, requires } from './skip.ts'
import { matchSpeech, SAME_SPEECH } from './speech-match.ts'

const peer = requires(BARESIP_PROGRAMS)

/** Transfers every call to `target` one second after its answer. */
function transferringTo(target: string, atTestEnd: AtTestEnd): Promise<EngineUnderTest> {
  return startEngine(
    {
      onCall: call =>
        call.leg.onEvent(event => {
          if (event.type === 'answered') setTimeout(() => call.leg.transfer(parseUri(target) as SipUri), 1000)
        }),
    },
    atTestEnd,
  )
}

function transferFacts(under: EngineUnderTest): LegEvent[] {
  const legs = under.events.flatMap(event => (event.type === 'leg' ? [event.event] : []))
  return legs.filter(event => event.type === 'transfer-result')
}

describe.skipIf(peer.missing)(`the engine transfers baresip by REFER${peer.note}`, { concurrent: true }, () => {
  afterAll(closeTestVoice)

  it('a transferred baresip calls the third party and reports 200, and the engine hangs up', async ({
    onTestFinished: atTestEnd,
  }) => {
    const third = await startBaresipCallee({ user: 'third', callSeconds: 4, atTestEnd })
    const callee = await startBaresipCallee({ callSeconds: 30, atTestEnd })
    const under = await transferringTo(third.uri, atTestEnd)
    const call = await under.dial(dialling(callee.uri))
    const report = await call.report
    const [reached, transferred] = await Promise.all([third.finished, callee.finished])
    expect(reached.exitCode, reached.output).toBe(0)
    expect(transferred.exitCode, transferred.output).toBe(0)
    expect(transferFacts(under).at(-1)).toMatchObject({
      type: 'transfer-result',
      taken: true,
      receipt: { referStatus: 202, finalSipStatus: 200 },
    })
    expect(report.end).toMatchObject({ answered: true, by: 'local', cause: 'bye', confirmed: true })
    expect(matchSpeech(transferred.microphoneWav, reached.heardWav!).score).toBeGreaterThan(SAME_SPEECH)
  })

  it('a transfer that the third party declines is reported, and the call goes on', async ({
    onTestFinished: atTestEnd,
  }) => {
    const third = await startBaresipCallee({ user: 'third', rejects: true, atTestEnd })
    const callee = await startBaresipCallee({ callSeconds: 6, atTestEnd })
    const under = await transferringTo(third.uri, atTestEnd)
    const call = await under.dial(dialling(callee.uri))
    const report = await call.report
    await callee.finished
    expect(transferFacts(under).at(-1)).toMatchObject({
      type: 'transfer-result',
      taken: false,
      receipt: { referStatus: 202, finalSipStatus: 486 },
    })
    expect(report.run.outcome).toMatchObject({ kind: 'caller_hung_up', sip_status: 200 })
  })
})
