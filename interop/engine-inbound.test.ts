import { readFileSync } from 'node:fs'
import { readWav } from '@parley/media'
import { loudness, resemblance } from '@parley/phone/testing'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { runBaresipCaller, startBaresipCall } from './baresip.ts'
import { closeTestVoice, spoken, startEngine } from './engine.ts'
import { BARESIP_PROGRAMS, requires } from './skip.ts'
import { readMonoWav, SAME_SPEECH } from './speech-match.ts'

const peer = requires(BARESIP_PROGRAMS)

/** 20 ms at 8 kHz. */
const FRAME = 160
const FRAMES_PER_SECOND = 50

/** Whether the other side has spoken for a second in all, and then been silent for a second. */
function hasFinishedSpeaking(heard: Int16Array): boolean {
  let spoken = 0
  let silent = 0
  for (let at = 0; at + FRAME <= heard.length; at += FRAME) {
    const isLoud = loudness(heard.subarray(at, at + FRAME)) > 0.01
    if (isLoud) spoken++
    silent = isLoud ? 0 : silent + 1
  }
  return spoken >= FRAMES_PER_SECOND && silent >= FRAMES_PER_SECOND
}

describe.skipIf(peer.missing)(
  `baresip calls the engine over TLS with mandatory SDES${peer.note}`,
  { concurrent: true },
  () => {
    afterAll(closeTestVoice)

    it('a caller hears the greeting, sends digits and speaks; the engine hangs up, and the recording has each side on its own channel', async ({
      onTestFinished: atTestEnd,
    }) => {
      const under = await startEngine({}, atTestEnd)
      const call = await startBaresipCall({ atTestEnd, target: under.uri, callSeconds: 45 })
      // Keys that come before the greeting take its place.
      await vi.waitFor(() => expect(hasFinishedSpeaking(call.received(0))).toBe(true), {
        timeout: 40_000,
        interval: 200,
      })
      call.press('12#')
      const caller = await call.finished
      const report = await under.nextReport()
      expect(caller.exitCode, caller.output).toBe(0)
      expect(caller.log).toContain('SRTP is Enabled (cryptosuite=AES_CM_128_HMAC_SHA1_80)')
      expect(report.run).toEqual({
        state: 'completed',
        outcome: { kind: 'completed', detail: null, sip_status: 200, ended_by: 'agent' },
      })
      expect(report.transport).toEqual({ signalling: 'tls', media: 'srtp' })
      expect(report.digits).toBe('12#')
      expect(report.utterances.map(utterance => utterance.node_id)).toEqual(['greeting', 'digits', 'goodbye'])

      const greeting = await spoken(report.utterances[0]!.text)
      const goodbye = await spoken(report.utterances[2]!.text)
      const heardByPeer = readMonoWav(caller.heardWav!)
      expect(resemblance(greeting, heardByPeer).score).toBeGreaterThan(SAME_SPEECH)
      expect(resemblance(goodbye, heardByPeer).score).toBeGreaterThan(SAME_SPEECH)

      const recording = readWav(readFileSync(report.end.media!.recording!.path))
      const [left, right] = [recording.channels[0]!, recording.channels[1]!]
      const microphone = readMonoWav(caller.microphoneWav)
      expect(recording.channels).toHaveLength(2)
      expect(resemblance(microphone, left).score).toBeGreaterThan(SAME_SPEECH)
      expect(resemblance(greeting, right).score).toBeGreaterThan(SAME_SPEECH)
      expect(resemblance(greeting, left).score).toBeLessThan(0.6)
      expect(loudness(right)).toBeGreaterThan(0.01)
      expect(report.end.media!.statistics.packetsLost).toBe(0)
      expect(report.end.media!.statistics.rejected.unauthenticated).toBe(0)
    })

    it('a caller that holds and resumes is still heard afterwards, and hangs up', async ({
      onTestFinished: atTestEnd,
    }) => {
      const under = await startEngine({}, atTestEnd)
      const caller = await runBaresipCaller({
        atTestEnd,
        target: under.uri,
        callSeconds: 9,
        actions: ['2:hold', '4:resume', '6:sndcode 7'],
      })
      const report = await under.nextReport()
      expect(caller.exitCode, caller.output).toBe(0)
      expect(report.run.outcome).toMatchObject({ kind: 'caller_hung_up', ended_by: 'caller', sip_status: 200 })
      const facts = under.events.flatMap(event => (event.type === 'leg' ? [event.event.type] : []))
      expect(facts.filter(fact => fact === 'held' || fact === 'resumed')).toEqual(['held', 'resumed'])
      expect(report.digits).toBe('7')
      expect(report.end.media!.statistics.rejected.unauthenticated).toBe(0)
    })

    it('a caller that offers no SRTP is refused with 488', async ({ onTestFinished: atTestEnd }) => {
      const under = await startEngine({}, atTestEnd)
      const caller = await runBaresipCaller({ atTestEnd, target: under.uri, mediaEncryption: '', answerSeconds: 5 })
      expect(caller.exitCode).toBe(1)
      expect(caller.log).toMatch(/^SIP\/2\.0 488 /m)
      expect(caller.log).toMatch(/^Warning: 305 .*SRTP is required/m)
      expect(under.engine.calls.size).toBe(0)
    })

    it('a caller without the token gets no answer at all', async ({ onTestFinished: atTestEnd }) => {
      const under = await startEngine({}, atTestEnd)
      const target = under.uri.replace(/sip:[^@]+@/, 'sip:+15550001111@')
      const caller = await runBaresipCaller({ atTestEnd, target, answerSeconds: 3 })
      expect(caller.exitCode).toBe(1)
      expect(caller.log).not.toMatch(/^SIP\/2\.0 /m)
      expect(under.events).toEqual([])
    })
  },
)
