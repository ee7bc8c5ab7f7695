import { InMemoryEffectLedger } from '@parley/conversation'
import { type Ms, SeededRandom, VirtualTime } from '@parley/kernel'
import type { CallLeg, LegEnd, LegEvent } from '@parley/leg'
import { VoiceActivity, type VoiceEdge } from '@parley/media'
import { SyntheticSound } from '@parley/media/testing'
import type { SpeechEvent, SpeechToText } from '@parley/providers'
import { expect, it } from 'vitest'
import { Call, type CallReport } from '../call.ts'
import { greeter, NO_RUN, planOf } from '../testing/drafts.ts'
import { ScriptedLine } from '../testing/scripted-line.ts'
import { FingerprintVoice } from '../testing/scripted-speech.ts'
import { voiceSound } from '../testing/sounds.ts'
import { Ticker } from '../ticker.ts'
import { VoiceConversation } from './voice-conversation.ts'

const RINGING_MS: Ms = 2000
const SPEECH_FROM_MS: Ms = 3000
const ANNOUNCEMENT = 'the number you have dialed is not in service'

const NOT_FOUND: LegEnd = {
  direction: 'outbound',
  answered: false,
  by: 'remote',
  cause: 'rejected',
  sipStatus: 404,
  reason: 'Not Found',
  inviteSent: true,
  confirmed: true,
  detail: '',
  retryAfterS: undefined,
  media: null,
}

/** An outbound call whose leg, early media and recogniser the test scripts: 2 s of ringing, 1 s of silence, then speech. */
class EarlyMediaCall {
  readonly time = new VirtualTime()
  readonly voice = new FingerprintVoice()
  /** Position of each piece of audio that the recogniser got. */
  readonly written: number[] = []
  hangUps = 0
  report: CallReport | null = null
  readonly #call: Call
  readonly #billsSilence: boolean
  #onLeg: (event: LegEvent) => void = () => {}
  #onSpeech: (event: SpeechEvent) => void = () => {}
  #read = 0

  constructor(billsSilence = true) {
    const { time } = this
    this.#billsSilence = billsSilence
    this.#call = new Call({
      leg: this.#leg(),
      time,
      ticker: new Ticker(time),
      createHandler: line =>
        new VoiceConversation({
          agent: {
            plan: planOf(greeter),
            agentId: null,
            agentVersion: null,
            voiceId: null,
            recogniser: this.#recogniser(),
            voice: this.voice,
            model: () => {
              throw new Error('no model is used')
            },
            ledger: () => new InMemoryEffectLedger({ random: new SeededRandom(7), wallClock: () => 0 }),
            actions: () => ({
              run: async () => {
                throw new Error('no action is used')
              },
            }),
            preparesHoldingLines: false,
            transferPolicy: () => ({ decision: 'allow', reason: null, policy_version: '1' }),
          },
          facts: {
            call: NO_RUN,
          },
          line,
          time,
          wallClock: () => 0,
          random: new SeededRandom(3),
        }),
    })
    void this.#call.report.then(report => {
      this.report = report
    })
  }

  emit(event: LegEvent): void {
    this.#onLeg(event)
  }

  /** The recogniser reports the words of the announcement. */
  recognises(): void {
    const words = ANNOUNCEMENT.split(' ').map((text, i) => {
      const startSample = (SPEECH_FROM_MS + i * 300) * 8
      return { text, startSample, endSample: startSample + 2240 }
    })
    this.#onSpeech({ type: 'partial', text: ANNOUNCEMENT, words })
  }

  async pass(ms: Ms): Promise<void> {
    for (let left = ms; left > 0; left -= 20) {
      this.time.advance(20)
      for (let i = 0; i < 8; i++) await Promise.resolve()
    }
  }

  #leg(): CallLeg {
    const sound = new SyntheticSound(8000).tones(0, RINGING_MS, -15, 440, 480).samples
    sound.set(voiceSound(3000), SPEECH_FROM_MS * 8)
    const activity = new VoiceActivity({ hangoverMs: 80 })
    const edges: VoiceEdge[] = []
    const { format, play, flush, played } = new ScriptedLine()
    const leg = {
      direction: 'outbound',
      state: 'ringing',
      transport: null,
      sentCredentials: false,
      format,
      play,
      flush,
      played,
      setBackground: () => {},
      detectVoice: () => {},
      nextVoiceEdge: () => edges.shift() ?? null,
      heardPosition: () => this.#read,
      readHeard: (into: Int16Array) => {
        const count = Math.min(into.length, this.time.now() * 8 - this.#read, sound.length - this.#read)
        into.set(sound.subarray(this.#read, this.#read + count))
        activity.push(this.#read, into, 0, count)
        for (let type = activity.take(); type !== null; type = activity.take())
          edges.push({ type, atSample: activity.position })
        this.#read += count
        return count
      },
      onEvent: (listener: (event: LegEvent) => void) => {
        this.#onLeg = listener
        return () => {}
      },
      hangUp: () => {
        this.hangUps++
      },
    }
    return leg as unknown as CallLeg
  }

  #recogniser(): SpeechToText {
    return {
      id: 'test/early',
      languages: ['en'],
      billsSilence: this.#billsSilence,
      readiness: async () => null,
      open: () => ({
        write: (_, at) => void this.written.push(at),
        finalize: () => {},
        onEvent: listener => {
          this.#onSpeech = listener
        },
        close: () => {},
      }),
      close: async () => {},
    }
  }
}

async function announced(billsSilence?: boolean): Promise<EarlyMediaCall> {
  const call = new EarlyMediaCall(billsSilence)
  call.emit({ type: 'ringing', status: 183, earlyMedia: true })
  await call.pass(SPEECH_FROM_MS + 2700)
  call.recognises()
  await call.pass(100)
  return call
}

it('an announcement in early media and then 404: the number was not found, and an announcement answered', async () => {
  const call = await announced()
  expect(call.hangUps).toBe(0)
  call.emit({ type: 'ended', end: NOT_FOUND })
  await call.pass(100)
  const { run, timeline, utterances } = call.report!
  expect(run).toMatchObject({ state: 'failed', outcome: { detail: 'number_not_found', sip_status: 404 } })
  expect(timeline.filter(({ kind }) => kind === 'contact')).toMatchObject([
    { contact: 'unknown', class: 'announcement' },
  ])
  expect(utterances).toEqual([])
  expect(call.voice.synthesized).toEqual([])
})

it('a callee that redirects the call to other numbers: the timeline names them, and they are not called', async () => {
  const call = new EarlyMediaCall()
  call.emit({ type: 'redirected', status: 302, targets: ['sip:+493012345@carrier.example'] })
  call.emit({ type: 'ended', end: { ...NOT_FOUND, sipStatus: 302, reason: 'Moved Temporarily' } })
  await call.pass(100)
  expect(call.report!.timeline.filter(({ kind }) => kind === 'error')).toMatchObject([
    { code: 'call_redirected', message: expect.stringContaining('302 and named sip:+493012345@carrier.example') },
  ])
})

it('ringing in early media is not transcribed where silence is billed, and speech after it is from its start', async () => {
  const { written } = await announced()
  expect(written[0]! / 8).toBeGreaterThan(RINGING_MS)
  expect(written[0]! / 8).toBeLessThanOrEqual(SPEECH_FROM_MS + 100)
})

it('ringing is transcribed where silence is not billed', async () => {
  const { written } = await announced(false)
  expect(written[0]! / 8).toBeLessThan(100)
})

it('without early media nothing is heard before the answer', async () => {
  const call = new EarlyMediaCall()
  call.emit({ type: 'ringing', status: 180, earlyMedia: false })
  await call.pass(SPEECH_FROM_MS + 2000)
  expect(call.written).toEqual([])
})

it('words of early media that the recogniser reports after the answer are not the callee’s', async () => {
  const call = await announced()
  call.emit({ type: 'answered' })
  call.recognises()
  await call.pass(1000)
  expect(call.hangUps).toBe(0)
  call.emit({ type: 'ended', end: { ...NOT_FOUND, answered: true, cause: 'bye', sipStatus: 200 } })
  await call.pass(100)
  expect(call.report!.utterances.filter(({ role }) => role === 'user')).toEqual([])
})
