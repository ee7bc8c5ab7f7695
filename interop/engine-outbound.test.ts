import { resemblance } from '@parley/phone/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { startBaresipCallee } from './baresip.ts'
import { closeTestVoice, dialling, spoken, startEngine } from './engine.ts'
import { BARESIP_PROGRAMS, requires } from './skip.ts'
import { readMonoWav, SAME_SPEECH } from './speech-match.ts'

const peer = requires(BARESIP_PROGRAMS)

describe.skipIf(peer.missing)(
  `the engine calls baresip over TLS with mandatory SDES${peer.note}`,
  { concurrent: true },
  () => {
    afterAll(closeTestVoice)

    it('a phone that answers after ringing is connected, and both sides hear each other', async ({
      onTestFinished: atTestEnd,
    }) => {
      const under = await startEngine({}, atTestEnd)
      const callee = await startBaresipCallee({ atTestEnd, ringSeconds: 1, callSeconds: 8 })
      await under.dial(dialling(callee.uri))
      const [report, answered] = [await under.nextReport(), await callee.finished]
      expect(answered.exitCode, answered.output).toBe(0)
      expect(report.run.outcome).toMatchObject({ kind: 'caller_hung_up', sip_status: 200 })
      expect(report.transport).toEqual({ signalling: 'tls', media: 'srtp' })
      const facts = under.events.flatMap(event => (event.type === 'leg' ? [event.event.type] : []))
      expect(facts.indexOf('ringing')).toBeLessThan(facts.indexOf('answered'))
      const greeting = await spoken(report.utterances[0]!.text)
      expect(resemblance(greeting, readMonoWav(answered.heardWav!)).score).toBeGreaterThan(SAME_SPEECH)
    })

    it('a phone that rejects the call ends it as rejected', async ({ onTestFinished: atTestEnd }) => {
      const under = await startEngine({}, atTestEnd)
      const callee = await startBaresipCallee({ atTestEnd, rejects: true })
      await under.dial(dialling(callee.uri))
      const report = await under.nextReport()
      expect(report.run).toMatchObject({
        state: 'completed',
        outcome: { kind: 'busy', ended_by: 'callee', sip_status: 486 },
      })
    })

    it('a call that is not answered is cancelled, and the phone stops ringing', async ({
      onTestFinished: atTestEnd,
    }) => {
      const under = await startEngine({}, atTestEnd)
      const callee = await startBaresipCallee({ atTestEnd, ringSeconds: 20 })
      await under.dial(dialling(callee.uri, { ringTimeoutMs: 2000 }))
      const [report, rang] = [await under.nextReport(), await callee.finished]
      expect(report.run).toMatchObject({
        state: 'completed',
        outcome: { kind: 'no_answer', ended_by: 'system', sip_status: 487 },
      })
      expect(report.end.confirmed).toBe(true)
      expect(rang.log).toMatch(/^CANCEL /m)
      expect(rang.exitCode).toBe(1)
    })

    it('a call that an operator cancels while it rings ends, and the phone stops ringing', async ({
      onTestFinished: atTestEnd,
    }) => {
      const under = await startEngine({}, atTestEnd)
      const callee = await startBaresipCallee({ atTestEnd, ringSeconds: 20 })
      const call = await under.dial(dialling(callee.uri))
      call.leg.onEvent(event => {
        if (event.type === 'ringing') call.cancel()
      })
      const report = await call.report
      expect(report.run).toMatchObject({ state: 'cancelled', outcome: { kind: 'cancelled', ended_by: 'operator' } })
    })

    it('a phone whose certificate has another name receives no SIP message, and the call fails', async ({
      onTestFinished: atTestEnd,
    }) => {
      const under = await startEngine({}, atTestEnd)
      const callee = await startBaresipCallee({ atTestEnd, certificate: 'stranger', waitSeconds: 4 })
      await under.dial(dialling(callee.uri))
      const report = await under.nextReport()
      expect(report.run).toMatchObject({ state: 'failed', outcome: { kind: 'error', detail: 'trunk_unreachable' } })
      expect(report.end.detail).toMatch(/certificate|altnames|identity/i)
      const callee_ = await callee.finished
      expect(callee_.log).not.toMatch(/^INVITE /m)
    })

    it('a call to a phone that refuses SRTP fails', async ({ onTestFinished: atTestEnd }) => {
      const under = await startEngine({}, atTestEnd)
      const callee = await startBaresipCallee({ atTestEnd, mediaEncryption: '', waitSeconds: 4 })
      // Its URI names UDP, over which no SRTP is offered at all.
      await under.dial(dialling(`sip:callee@127.0.0.1:${callee.ports.tls};transport=tls`))
      const report = await under.nextReport()
      expect(report.run).toMatchObject({ state: 'failed', outcome: { kind: 'error', detail: 'media_refused' } })
    })
  },
)
