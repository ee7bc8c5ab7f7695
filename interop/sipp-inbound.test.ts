import { readFileSync } from 'node:fs'
import { SipCallLeg } from '@parley/leg'
import { readWav } from '@parley/media'
import { resemblance } from '@parley/phone/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { closeTestVoice, describeMedia } from './engine.ts'
import { legEvents, sippCalls } from './sipp-calls.ts'
import { requires, SIPP_PROGRAMS } from './skip.ts'
import { readMonoWav, SAME_SPEECH } from './speech-match.ts'

const peer = requires(SIPP_PROGRAMS)

describe.skipIf(peer.missing)(
  `SIPp calls the engine over UDP and TCP, plain RTP${peer.note}`,
  { concurrent: true },
  () => {
    afterAll(closeTestVoice)

    it('a caller that cancels while it rings ends as caller_hung_up', async ({ onTestFinished }) => {
      const { under, result } = await sippCalls({ scenario: 'uac-cancel', pauseMs: 500 }, onTestFinished, {
        ringMs: () => 10_000,
      })
      expect(result.exitCode, result.output).toBe(0)
      const report = await under.nextReport()
      expect(report.run.outcome).toMatchObject({ kind: 'caller_hung_up', ended_by: 'caller' })
      expect(report.end).toMatchObject({ answered: false, cause: 'cancelled', confirmed: true })
    })

    it.for(['sendonly', 'inactive'] as const)('a caller can hold with a=%s and resume', async (hold, context) => {
      const scenario = { scenario: 'uac-hold', keys: { hold }, pauseMs: 1500 }
      const { under, result } = await sippCalls(scenario, context.onTestFinished)
      expect(result.exitCode, result.output).toBe(0)
      expect(
        legEvents(under)
          .map(event => event.type)
          .filter(type => type === 'held' || type === 'resumed'),
      ).toEqual(['held', 'resumed'])
      const report = await under.nextReport()
      expect(report.run.outcome).toMatchObject({ kind: 'caller_hung_up', sip_status: 200 })
    })

    it('a caller over TCP is recorded, and gets the BYE of the engine on the same connection', async ({
      onTestFinished,
    }) => {
      const scenario = { scenario: 'uac-basic', transport: 'tcp', pauseMs: 15_000 } as const
      const { under, result } = await sippCalls(scenario, onTestFinished, {
        onCall: call =>
          call.leg.onEvent(event => {
            if (event.type === 'first-packet') setTimeout(() => call.leg.hangUp(), 5500)
          }),
      })
      expect(result.exitCode, result.output).toBe(0)
      expect(result.messages).toMatch(/^BYE /m)
      const report = await under.nextReport()
      expect(report.transport).toEqual({ signalling: 'tcp', media: 'rtp' })
      const [left] = readWav(readFileSync(report.end.media!.recording!.path)).channels
      expect(resemblance(readMonoWav(result.microphoneWav), left!).score, describeMedia(report)).toBeGreaterThan(
        SAME_SPEECH,
      )
    })

    it('an INVITE or re-INVITE without an offer gets the offer of the engine in the 200 and answers it in the ACK', async ({
      onTestFinished,
    }) => {
      const { under, result } = await sippCalls({ scenario: 'uac-delayed-offer', pauseMs: 4500 }, onTestFinished)
      expect(result.exitCode, result.output).toBe(0)
      const report = await under.nextReport()
      expect(report.run.outcome).toMatchObject({ kind: 'caller_hung_up', sip_status: 200 })
      const [left] = readWav(readFileSync(report.end.media!.recording!.path)).channels
      expect(resemblance(readMonoWav(result.microphoneWav), left!).score, describeMedia(report)).toBeGreaterThan(
        SAME_SPEECH,
      )
    })

    it('glare: the re-INVITE of the peer is answered 491, and the engine repeats its own re-INVITE after a random wait', async ({
      onTestFinished,
    }) => {
      const { under, result } = await sippCalls({ scenario: 'uac-glare' }, onTestFinished, {
        onCall: call =>
          call.leg.onEvent(event => {
            if (event.type === 'answered' && call.leg instanceof SipCallLeg) call.leg.hold()
          }),
      })
      expect(result.exitCode, result.output).toBe(0)
      expect(legEvents(under)).toContainEqual({ type: 'reoffered', purpose: 'hold' })
      expect((await under.nextReport()).run.outcome).toMatchObject({ kind: 'caller_hung_up', sip_status: 200 })
    })

    it('a caller that requires 100rel gets a reliable 180, and its PRACK is answered', async ({ onTestFinished }) => {
      const scenario = { scenario: 'uac-100rel', pauseMs: 500 }
      const { under, result } = await sippCalls(scenario, onTestFinished, { ringMs: () => 1000 })
      expect(result.exitCode, result.output).toBe(0)
      expect((await under.nextReport()).run.outcome).toMatchObject({ kind: 'caller_hung_up', sip_status: 200 })
    })

    it('two BYEs that cross are both answered', async ({ onTestFinished }) => {
      const { under, result } = await sippCalls({ scenario: 'uac-crossed-bye' }, onTestFinished, {
        onCall: call =>
          call.leg.onEvent(event => {
            if (event.type === 'first-packet') call.leg.hangUp()
          }),
      })
      expect(result.exitCode, result.output).toBe(0)
      expect((await under.nextReport()).end).toMatchObject({ answered: true, cause: 'bye', confirmed: true })
      expect(under.engine.calls.size).toBe(0)
    })

    it('a BYE for a dialog that is gone is answered 481', async ({ onTestFinished }) => {
      const { result } = await sippCalls({ scenario: 'uac-bye-twice', pauseMs: 500 }, onTestFinished)
      expect(result.exitCode, result.output).toBe(0)
    })
  },
)
