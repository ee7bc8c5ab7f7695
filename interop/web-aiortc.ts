// A web call as an independent WebRTC peer judges it.
import type { ParleyClient } from '@parley/client'
import { resample } from '@parley/media'
import { TonesRecogniser } from '@parley/providers'
import { describe, expect, it } from 'vitest'
import { AiortcCaller } from './aiortc.ts'
import { LiveTranscript } from './live-transcript.ts'
import { eventually, hasEnded, waitForRun } from './placed-call.ts'
import { CALL_METERS, metersOf, recordingOf, webhooksOf } from './run-records.ts'
import { sayUntil } from './say-until.ts'
import type { SharedPlatform } from './shared-platform/shared-platform.ts'
import { AIORTC_PROGRAMS, requires } from './skip.ts'
import { rms, spokenNarrow } from './wide-speech.ts'

const peer = requires(AIORTC_PROGRAMS)

/** What takes seconds on an idle machine. */
const SOON_MS = 60_000
const RATE = 8000

/** Tests of web calls by aiortc on a platform that other tests use as well. `platform`: called when a test begins. */
export function aiortcCalls(platform: () => { readonly serving: SharedPlatform; readonly client: ParleyClient }): void {
  describe.skipIf(peer.missing)(`a web call of aiortc${peer.note}`, () => {
    const created = async () => {
      const run = await platform().client.runs.create({ body: { agent_id: 'clinic', channel: 'web', mode: 'inbound' } })
      return { run_id: run.run_id, ...run.web! }
    }
    const said = ({ messages }: AiortcCaller, role: 'agent' | 'user') =>
      messages
        .filter(message => message.type === 'utterance' && message.role === role)
        .map(({ text }) => text)
        .join(' ')
    const wordsIn = async (audio: Int16Array, sampleRate: number) => {
      const transcript = new LiveTranscript(new TonesRecogniser(), from =>
        resample(audio, sampleRate, RATE).subarray(from),
      )
      transcript.listen()
      return transcript.text
    }

    it('it is understood, hears the words of the answer, presses a key and hangs up; run, usage, webhooks and recording are as those of a phone call', async () => {
      const { serving, client } = platform()
      const request = await spokenNarrow('I would like to book an appointment')
      const { run_id, url, token } = await created()
      const caller = new AiortcCaller({ url, token })
      const until = (isReached: () => boolean | Promise<boolean>) =>
        eventually(
          async () => (await isReached()) || caller.output,
          reached => reached === true,
          SOON_MS,
        )
      await until(() => said(caller, 'agent').includes('Hillside Clinic'))
      await sayUntil(
        ['book an appointment'],
        () => caller.speak(request, RATE),
        () => said(caller, 'user'),
      )
      // The answer to it.
      const before = said(caller, 'agent').length
      await until(() => said(caller, 'agent').length > before)
      caller.send({ type: 'digits', digits: '1' })
      const digits = async () => (await client.runs.timeline({ params: { run_id }, query: {} })).items
      await eventually(digits, items => items.some(item => 'digits' in item && item.digits === '1'), SOON_MS)
      caller.send({ type: 'hangup' })
      await until(() => caller.messages.at(-1)?.type === 'ended')

      const run = await waitForRun(client, run_id, hasEnded, SOON_MS)
      expect(run, serving.output()).toMatchObject({
        channel: 'web',
        state: 'completed',
        phone_state: null,
        contact: 'not_applicable',
        outcome: { kind: 'caller_hung_up', ended_by: 'caller' },
      })
      const { exitCode, heard, sampleRate } = await caller.end()
      expect(exitCode, caller.output).toBe(0)
      expect(caller.output).toMatch(/^channel open$/m)
      // A full ICE agent that begins DTLS, and Opus alone.
      expect(caller.answer).not.toContain('a=ice-lite')
      expect(caller.answer.filter(line => line.startsWith('a=setup:'))).toEqual(['a=setup:active', 'a=setup:active'])
      expect(caller.answer.filter(line => line.startsWith('a=rtpmap:'))).toEqual([
        expect.stringMatching(/^a=rtpmap:\d+ opus\/48000\/2$/i),
      ])
      expect(await wordsIn(heard, sampleRate)).toMatch(/Hillside Clinic/)

      expect(await metersOf(client, run)).toEqual(CALL_METERS)
      expect(await webhooksOf(client, run, SOON_MS)).toEqual(['run.started', 'run.ended'])
      const recording = await recordingOf(client, run_id, SOON_MS)
      expect([recording.sampleRate, recording.channels.length]).toEqual([16_000, 2])
      for (const channel of recording.channels) expect(rms(channel)).toBeGreaterThan(0.002)
      expect(await wordsIn(recording.channels[0]!, recording.sampleRate)).toMatch(/book an appointment/)
    })
  })
}
