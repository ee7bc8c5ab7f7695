import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { closeTestVoice, describeMedia, dialling, startEngine } from './engine.ts'
import { startSipp } from './sipp.ts'
import { callsSipp, legEvents, passed } from './sipp-calls.ts'
import { requires, SIPP_PROGRAMS } from './skip.ts'

const peer = requires(SIPP_PROGRAMS)

describe.skipIf(peer.missing)(
  `the engine calls SIPp over UDP and TCP, plain RTP${peer.note}`,
  { concurrent: true },
  () => {
    afterAll(closeTestVoice)

    it.for(['udp', 'tcp'] as const)(
      'a call to a peer over %s is answered and ended by BYE',
      async (transport, context) => {
        const { under, run } = await callsSipp({ scenario: 'uas', transport }, context.onTestFinished)
        const report = await under.nextReport()
        await passed(run)
        expect(report.transport).toEqual({ signalling: transport, media: 'rtp' })
        expect(report.end).toMatchObject({ answered: true, cause: 'bye', by: 'local', confirmed: true })
      },
    )

    it('an INVITE that a proxy forks becomes a call with the branch that answers', async ({ onTestFinished }) => {
      const { under, run } = await callsSipp({ scenario: 'uas-forked' }, onTestFinished)
      const report = await under.nextReport()
      await passed(run)
      expect(report.end).toMatchObject({ answered: true, sipStatus: 200, confirmed: true })
      expect(
        legEvents(under).flatMap(fact => (fact.type === 'ringing' ? [[fact.status, fact.earlyMedia]] : [])),
      ).toEqual([
        [183, true],
        [180, false],
      ])
    })

    it('a reliable 183 is acknowledged by PRACK, and its SDP is the answer when the 200 has none', async ({
      onTestFinished,
    }) => {
      const { under, run } = await callsSipp({ scenario: 'uas-100rel' }, onTestFinished)
      const report = await under.nextReport()
      await passed(run)
      expect(report.transport).toEqual({ signalling: 'udp', media: 'rtp' })
      expect(report.end).toMatchObject({ answered: true, sipStatus: 200, confirmed: true })
    })

    it('a call with early media that ends with 404 reports ringing before the first packet', async ({
      onTestFinished,
    }) => {
      const { under, run } = await callsSipp({ scenario: 'uas-early-media-404', pauseMs: 3000 }, onTestFinished)
      const report = await under.nextReport()
      await passed(run)
      expect(report.run).toMatchObject({
        state: 'failed',
        outcome: { kind: 'error', detail: 'number_not_found', sip_status: 404 },
      })
      const types = legEvents(under).map(fact => fact.type)
      expect(types.indexOf('first-packet')).toBeGreaterThan(types.indexOf('ringing'))
      expect(types, describeMedia(report)).toContain('voice-start')
    })

    it('a 302 off the trunk is not followed', async ({ onTestFinished }) => {
      const elsewhere = createSocket('udp4')
      const arrived: string[] = []
      elsewhere.on('message', packet => void arrived.push(packet.toString('latin1')))
      elsewhere.bind(0, '127.0.0.1')
      await once(elsewhere, 'listening')
      onTestFinished(() => void elsewhere.close())
      const { under, run } = await callsSipp(
        { scenario: 'uas-302', keys: { sink_port: elsewhere.address().port } },
        onTestFinished,
      )
      const report = await under.nextReport()
      await passed(run)
      expect(report.run).toMatchObject({ state: 'failed', outcome: { detail: 'moved', sip_status: 302 } })
      // What the call sent is in the queue of the socket before this.
      const end = createSocket('udp4')
      end.send('end', elsewhere.address().port, '127.0.0.1', () => end.close())
      await vi.waitFor(() => expect(arrived.at(-1)).toBe('end'))
      expect(arrived).toEqual(['end'])
    })

    it('a target that answers 503 with Retry-After is passed over for the next one, and by later calls at first', async ({
      onTestFinished,
    }) => {
      const busy = await startSipp({ scenario: 'uas-503', atTestEnd: onTestFinished })
      const next = await startSipp({ scenario: 'uas', calls: 2, hangUpMs: 1000, atTestEnd: onTestFinished })
      const targets = [busy, next].map(run => ({ host: '127.0.0.1', port: run.port }))
      const under = await startEngine(
        { endpoint: { overrides: new Map([['trunk.example', targets]]) } },
        onTestFinished,
      )
      for (let i = 0; i < 2; i++) {
        const call = await under.dial(dialling('sip:+15557654321@trunk.example', { security: 'rtp-only' }))
        expect((await call.report).run.outcome).toMatchObject({ kind: 'caller_hung_up', sip_status: 200 })
      }
      await passed(busy)
      const answered = await passed(next)
      expect(answered.messages).toMatch(/^INVITE sip:\+15557654321@trunk\.example SIP/m)
    })

    it('a 503 ends the call; its Retry-After is in the report', async ({ onTestFinished }) => {
      const { under, run } = await callsSipp({ scenario: 'uas-503' }, onTestFinished)
      const report = await under.nextReport()
      await passed(run)
      expect(report.run).toMatchObject({ state: 'failed', outcome: { detail: 'sip_error', sip_status: 503 } })
      expect(report.end.retryAfterS).toBe(60)
    })
  },
)
