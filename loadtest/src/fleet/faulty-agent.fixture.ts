import { type ScriptedCaller, scriptedCaller } from '@parley/contract'
import type { Ms } from '@parley/kernel'
import type { SipCallLeg } from '@parley/leg'
import { VirtualLine } from '@parley/leg/testing'
import { CallerScript, PhoneCall, PhoneVoice } from '@parley/phone'
import { TonesRecogniser, TonesVoice } from '@parley/providers'
import { type FleetCallResult, followCall } from './fleet-call.ts'
import { readScenario } from './scenario.ts'

const GREETING = 'Good morning, how can I help?'
const ANSWER = 'Your ticket for Monday is ready.'
const WRONG_ANSWER = 'Your ticket for Sunday is ready.'
const REPLY_MS: Ms = 400

/** A fault that is planted in the far end of one call. */
export type PlantedFault =
  | 'none'
  | 'mute'
  | 'gap'
  | 'wrong-word'
  | 'refused'
  | 'never-hangs-up'
  | 'late-reply'
  | 'hangs-up-early'

const SCENARIO = readScenario(`
name: planted faults
callers:
  - name: asks
    caller:
      kind: script
      steps:
        - { says: "A ticket for Monday.", pause_before_ms: 500, expect: { hears: ["ticket for Monday"], hung_up: true } }
load: { calls: 1, hold_s: 1 }
checks: { reply_ms: 900, call_s: 60 }
`)

/** Calls in virtual time to an agent that greets, answers 400 ms after the caller, and hangs up; with a fault on demand. */
export class FaultyAgent {
  readonly #sounds: ReadonlyMap<string, Int16Array>
  readonly #script: CallerScript

  private constructor(sounds: ReadonlyMap<string, Int16Array>, script: CallerScript) {
    this.#sounds = sounds
    this.#script = script
  }

  static async prepare(): Promise<FaultyAgent> {
    const tones = new TonesVoice()
    try {
      const voice = new PhoneVoice(tones, 'en')
      const sounds = new Map<string, Int16Array>()
      for (const text of [GREETING, ANSWER, WRONG_ANSWER]) sounds.set(text, await voice.render(text))
      return new FaultyAgent(sounds, await CallerScript.prepare(SCENARIO.callers[0]!.caller, voice))
    } finally {
      await tones.close()
    }
  }

  /** One call of the fleet's caller; `steps` replace those of its script. */
  async call(fault: PlantedFault, steps?: readonly object[]): Promise<FleetCallResult> {
    const line = new VirtualLine()
    line.onOffer = leg => this.#answer(line, leg, fault)
    const [caller] = SCENARIO.callers
    const own = steps === undefined ? caller!.caller : scriptedCaller.parse({ kind: 'script', steps })
    const script = steps === undefined ? this.#script : await this.#prepare(own)
    const result = followCall({
      open: async () => new PhoneCall(await line.dial(), line.time),
      caller: { ...caller!, caller: own },
      script,
      checks: SCENARIO.checks,
      recogniser: new TonesRecogniser(),
      cutOff: new AbortController().signal,
      isOutbound: true,
      time: line.time,
    })
    let isOver = false
    void result.then(() => {
      isOver = true
    })
    for (let passed = 0; !isOver && passed < 120_000; passed += 20) await line.pass(20)
    return result
  }

  async #prepare(script: ScriptedCaller): Promise<CallerScript> {
    const tones = new TonesVoice()
    return CallerScript.prepare(script, new PhoneVoice(tones, 'en')).finally(() => tones.close())
  }

  #answer(line: VirtualLine, leg: SipCallLeg, fault: PlantedFault): void {
    if (fault === 'refused') return leg.reject(503)
    leg.ring()
    leg.answer()
    const later = (ms: Ms, act: () => void) => void line.time.at(line.time.now() + ms, act)
    const say = (text: string): Ms => {
      const sound = this.#sounds.get(text)!
      if (fault !== 'mute') leg.play(fault === 'gap' && text === ANSWER ? withGap(sound, 60) : sound)
      return sound.length / 8
    }
    leg.detectVoice({})
    leg.onEvent(event => {
      if (event.type === 'answered') say(GREETING)
      if (event.type !== 'voice-end') return
      if (fault === 'hangs-up-early') return leg.hangUp()
      // The end of speech is detected 200 ms late.
      later(REPLY_MS - 200 + (fault === 'late-reply' ? 600 : 0), () => {
        const ms = say(fault === 'wrong-word' ? WRONG_ANSWER : ANSWER)
        if (fault !== 'never-hangs-up') later(ms + 300, () => leg.hangUp())
      })
    })
  }
}

function withGap(sound: Int16Array, ms: Ms): Int16Array {
  const loudest = sound.reduce((best, sample, at) => (Math.abs(sample) > Math.abs(sound[best]!) ? at : best), 0)
  const broken = new Int16Array(sound.length + ms * 8)
  broken.set(sound.subarray(0, loudest))
  broken.set(sound.subarray(loudest), loudest + ms * 8)
  return broken
}
