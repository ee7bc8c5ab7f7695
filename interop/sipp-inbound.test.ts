import { readFileSync } from 'node:fs'
import type { LegEvent } from '@parley/leg'
import { readWav } from '@parley/media'
import { resemblance } from '@parley/phone'
import { afterAll, describe, expect, it } from 'vitest'
import {
  closeTestVoice,
  describeMedia,
  type EngineChanges,
  type EngineUnderTest,
  startEngine,
  TOKEN,
} from './engine.ts'
import type { AtTestEnd } from './recipe.ts'
import { runSipp, type SippOptions, type SippResult, sippMessages } from './sipp.ts'
import { requires, SIPP_PROGRAMS } from './skip.ts'
import { readMonoWav, SAME_SPEECH } from './speech-match.ts'

const peer = requires(SIPP_PROGRAMS)

/** An engine that takes calls without SRTP, and SIPp calling it: each test has its own of both. */
async function sippCalls(
  sipp: Omit<SippOptions, 'target' | 'service'>,
  atTestEnd: AtTestEnd,
  engine: EngineChanges = {},
): Promise<{ readonly under: EngineUnderTest; readonly result: SippResult }> {
  const under = await startEngine(
    { routes: [{ name: 'plain', token: TOKEN, security: 'rtp-only' }], ...engine },
    atTestEnd,
  )
  const result = await runSipp({
    ...sipp,
    target: `127.0.0.1:${under.engine.station.port(sipp.transport ?? 'udp')}`,
    service: TOKEN,
    atTestEnd,
  })
  return { under, result }
}

function facts(under: EngineUnderTest): LegEvent['type'][] {
  return under.events.flatMap(event => (event.type === 'leg' ? [event.event.type] : []))
}

describe.skipIf(peer.missing)(
  `SIPp calls the engine over UDP and TCP, plain RTP${peer.note}`,
  { concurrent: true },
  () => {
    afterAll(closeTestVoice)

    it('a 200 without ACK comes again at 0.5, 1, 2, 4 s and so on, then a BYE ends the call', {
      timeout: 60_000,
    }, async ({ onTestFinished }) => {
      const { under, result } = await sippCalls({ scenario: 'uac-no-ack' }, onTestFinished)
      expect(result.exitCode, result.output).toBe(0)
      const messages = sippMessages(result)
      const answers = messages.filter(
        message => message.direction === 'received' && /^SIP\/2\.0 200 /.test(message.text),
      )
      const gaps = answers.slice(1).map((answer, i) => (answer.atMs - answers[i]!.atMs) / 1000)
      const schedule = [0.5, 1, 2, 4, 4, 4, 4, 4, 4, 4]
      expect(gaps).toHaveLength(schedule.length)
      for (const [i, gap] of gaps.entries()) expect(Math.abs(gap - schedule[i]!)).toBeLessThan(0.15)
      const bye = messages.find(message => message.direction === 'received' && message.text.startsWith('BYE '))
      expect((bye!.atMs - answers[0]!.atMs) / 1000).toBeCloseTo(32, 0)
      expect((await under.nextReport()).end).toMatchObject({ answered: false, cause: 'timeout' })
    })

    it('CANCEL while ringing', { timeout: 30_000 }, async ({ onTestFinished }) => {
      const { under, result } = await sippCalls({ scenario: 'uac-cancel', pauseMs: 500 }, onTestFinished, {
        ringMs: 10_000,
      })
      expect(result.exitCode, result.output).toBe(0)
      const report = await under.nextReport()
      expect(report.run.outcome).toMatchObject({ kind: 'caller_hung_up', ended_by: 'caller' })
      expect(report.end).toMatchObject({ answered: false, cause: 'cancelled', confirmed: true })
    })

    it.for(['sendonly', 'inactive'] as const)(
      'hold with a=%s, and resume',
      { timeout: 30_000 },
      async (hold, context) => {
        const scenario = { scenario: 'uac-hold', keys: { hold }, pauseMs: 1500 }
        const { under, result } = await sippCalls(scenario, context.onTestFinished)
        expect(result.exitCode, result.output).toBe(0)
        expect(facts(under).filter(fact => fact === 'held' || fact === 'resumed')).toEqual(['held', 'resumed'])
        const report = await under.nextReport()
        expect(report.run.outcome).toMatchObject({ kind: 'caller_hung_up', sip_status: 200 })
      },
    )

    it('over TCP: heard, and the BYE of the engine comes on the same connection', {
      timeout: 30_000,
    }, async ({ onTestFinished }) => {
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

    it('an INVITE without an offer, and a re-INVITE without one: ours is in the 200, its answer in the ACK', {
      timeout: 30_000,
    }, async ({ onTestFinished }) => {
      const { under, result } = await sippCalls({ scenario: 'uac-delayed-offer', pauseMs: 4500 }, onTestFinished)
      expect(result.exitCode, result.output).toBe(0)
      const report = await under.nextReport()
      expect(report.run.outcome).toMatchObject({ kind: 'caller_hung_up', sip_status: 200 })
      const [left] = readWav(readFileSync(report.end.media!.recording!.path)).channels
      expect(resemblance(readMonoWav(result.microphoneWav), left!).score, describeMedia(report)).toBeGreaterThan(
        SAME_SPEECH,
      )
    })

    it('glare: its re-INVITE is answered 491, ours comes again after a random wait', {
      timeout: 30_000,
    }, async ({ onTestFinished }) => {
      const { under, result } = await sippCalls({ scenario: 'uac-glare' }, onTestFinished, {
        onCall: call =>
          call.leg.onEvent(event => {
            if (event.type === 'answered') call.leg.hold()
          }),
      })
      expect(result.exitCode, result.output).toBe(0)
      expect(facts(under)).toContain('reoffered')
      expect((await under.nextReport()).run.outcome).toMatchObject({ kind: 'caller_hung_up', sip_status: 200 })
    })

    it('two BYEs cross: both are answered', { timeout: 30_000 }, async ({ onTestFinished }) => {
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

    it('a BYE for a dialog that is gone is answered 481', { timeout: 30_000 }, async ({ onTestFinished }) => {
      const { result } = await sippCalls({ scenario: 'uac-bye-twice', pauseMs: 500 }, onTestFinished)
      expect(result.exitCode, result.output).toBe(0)
    })
  },
)
