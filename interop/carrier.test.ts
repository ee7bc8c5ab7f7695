import { readFileSync } from 'node:fs'
import type { Call, CallReport } from '@parley/engine/testing'
import type { LegEvent } from '@parley/leg'
import { readWav } from '@parley/media'
import { resemblance } from '@parley/phone/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CARRIER_CREDENTIALS, type Carrier, startCarrier } from './carrier.ts'
import { closeTestVoice, describeMedia, dialling, type EngineUnderTest, spoken, startEngine } from './engine.ts'
import { freePeerPorts } from './ports.ts'
import { atLastTestEnd } from './recipe.ts'
import { openRtpSink } from './rtp-sink.ts'
import { callIdOf, runSipp, startSipp } from './sipp.ts'
import { CARRIER_PROGRAMS, requires } from './skip.ts'
import { readMonoWav, SAME_SPEECH } from './speech-match.ts'

const peer = requires(CARRIER_PROGRAMS)

/** What the engine under test does on each event of a call; a test sets it for its own. */
type Watcher = (call: Call, event: LegEvent) => void

describe.skipIf(peer.missing)(
  `a carrier of Kamailio and rtpengine: TLS and SRTP outside, UDP and RTP inside${peer.note}`,
  () => {
    const atTestEnd = atLastTestEnd()
    let under: EngineUnderTest
    let carrier: Carrier
    let insidePort: number
    let watch: Watcher = () => {}
    let ringMs = 0

    beforeAll(async () => {
      under = await startEngine(
        { ringMs: () => ringMs, onCall: call => void call.leg.onEvent(event => watch(call, event)) },
        atTestEnd,
      )
      insidePort = (await freePeerPorts()).tls - 1
      carrier = await startCarrier({ engineUri: under.uri, insideTarget: `127.0.0.1:${insidePort}`, atTestEnd })
    })
    afterAll(closeTestVoice)

    function invitesAtTheEdge(call: Call): number {
      const lines = carrier.log().split('\n')
      return lines.filter(line => /INVITE \S+ from tls:/.test(line) && line.includes(`call=${call.leg.callId}`)).length
    }

    function channels(report: CallReport): readonly Int16Array[] {
      return readWav(readFileSync(report.end.media!.recording!.path)).channels
    }

    it('a call from inside is audible both ways, and the BYE of the engine follows both Record-Routes', async ({
      onTestFinished,
    }) => {
      watch = (call, event) => {
        if (event.type === 'first-packet') setTimeout(() => call.leg.hangUp(), 6000)
      }
      const sink = await openRtpSink(onTestFinished)
      const sipp = await runSipp({
        scenario: 'uac-basic',
        target: carrier.inside,
        pauseMs: 20_000,
        keys: { sink_port: sink.port },
      })
      expect(sipp.exitCode, sipp.output).toBe(0)
      const report = await under.reportOf(callIdOf(sipp))
      expect(sipp.messages).toMatch(/^BYE /m)
      const answer = /^SIP\/2\.0 200 OK[\s\S]*?\n\r?\n/m.exec(sipp.messages)![0]
      expect(answer.match(/<sip:127\.0\.0\.1:\d+;[^>]*lr/g)).toHaveLength(2)
      expect(report.transport).toEqual({ signalling: 'tls', media: 'srtp' })
      // Of twelve suites offered, NULL among them, the engine takes the first: an authenticated cipher.
      expect([...carrier.suites(callIdOf(sipp))]).toEqual(['AEAD_AES_256_GCM'])
      expect(report.end).toMatchObject({ by: 'local', cause: 'bye', confirmed: true })
      expect(report.end.media!.statistics.rejected.unauthenticated).toBe(0)

      const microphone = readMonoWav(sipp.microphoneWav)
      const greeting = await spoken(report.utterances[0]!.text)
      const [left, right] = channels(report)
      expect(resemblance(microphone, left!).score).toBeGreaterThan(SAME_SPEECH)
      expect(resemblance(greeting, right!).score).toBeGreaterThan(SAME_SPEECH)
      expect(resemblance(greeting, left!).score).toBeLessThan(0.6)
      expect(resemblance(greeting, sink.received()).score).toBeGreaterThan(SAME_SPEECH)
    })

    it('a caller inside can hold by re-INVITE, resume and hang up', async () => {
      const seen: string[] = []
      watch = (_call, event) => void seen.push(event.type)
      const sipp = await runSipp({ scenario: 'uac-hold', target: carrier.inside, pauseMs: 1500 })
      expect(sipp.exitCode, sipp.output).toBe(0)
      const report = await under.reportOf(callIdOf(sipp))
      expect(seen.filter(type => type === 'held' || type === 'resumed')).toEqual(['held', 'resumed'])
      expect(report.run.outcome).toMatchObject({ kind: 'caller_hung_up', sip_status: 200 })
      expect(report.end.media!.statistics.rejected.unauthenticated).toBe(0)
    })

    it('a BYE from inside for an unknown dialog is answered 481', async () => {
      watch = () => {}
      const sipp = await runSipp({ scenario: 'uac-bye-twice', target: carrier.inside, pauseMs: 500 })
      expect(sipp.exitCode, sipp.output).toBe(0)
    })

    it('a caller inside can cancel while it rings', async ({ onTestFinished }) => {
      watch = () => {}
      ringMs = 20_000
      onTestFinished(() => {
        ringMs = 0
      })
      const sipp = await runSipp({ scenario: 'uac-cancel', target: carrier.inside, pauseMs: 300 })
      expect(sipp.exitCode, sipp.output).toBe(0)
      const report = await under.reportOf(callIdOf(sipp))
      expect(report.end).toMatchObject({ answered: false, cause: 'cancelled', confirmed: true })
    })

    it('a call of the engine to inside passes a 407 challenge and carries audio until the far end hangs up', async () => {
      watch = () => {}
      const sipp = await startSipp({ scenario: 'uas', port: insidePort, hangUpMs: 6000 })
      const call = await under.dial(dialling(carrier.uri('+15557654321'), { credentials: CARRIER_CREDENTIALS }))
      const report = await call.report
      const answered = await sipp.finished
      expect(answered.exitCode, answered.output).toBe(0)
      const invites = carrier
        .log()
        .match(new RegExp(`INVITE \\S+ from tls:\\S+ cseq=\\d+ call=${call.leg.callId}`, 'g'))
      expect(invites).toHaveLength(2)
      expect(report.transport).toEqual({ signalling: 'tls', media: 'srtp' })
      expect([...carrier.suites(call.leg.callId)]).toEqual(['AES_CM_128_HMAC_SHA1_80'])
      expect(report.run.outcome).toMatchObject({ kind: 'caller_hung_up', sip_status: 200 })
      const greeting = await spoken(report.utterances[0]!.text)
      expect(resemblance(greeting, channels(report)[0]!).score, describeMedia(report)).toBeGreaterThan(SAME_SPEECH)
    })

    it('the engine can hang up a call to inside', async () => {
      watch = (call, event) => {
        if (event.type === 'first-packet') call.leg.hangUp()
      }
      const sipp = await startSipp({ scenario: 'uas', port: insidePort })
      const call = await under.dial(dialling(carrier.uri('+15557654321'), { credentials: CARRIER_CREDENTIALS }))
      const report = await call.report
      const answered = await sipp.finished
      expect(answered.exitCode, answered.output).toBe(0)
      expect(answered.messages).toMatch(/^BYE /m)
      expect(report.end).toMatchObject({ answered: true, by: 'local', cause: 'bye', confirmed: true })
    })

    it('a call with a wrong trunk password ends as trunk_auth_failed', async () => {
      watch = () => {}
      const credentials = { ...CARRIER_CREDENTIALS, password: 'engine-guess' }
      const call = await under.dial(dialling(carrier.uri('+15557654321'), { credentials }))
      expect((await call.report).run).toMatchObject({
        state: 'failed',
        outcome: { kind: 'error', detail: 'trunk_auth_failed', sip_status: 407 },
      })
      expect(invitesAtTheEdge(call)).toBe(2)
    })
  },
)
