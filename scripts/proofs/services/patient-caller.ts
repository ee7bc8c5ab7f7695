import { type Ms, NARROWBAND, samplesToMs } from '@parley/kernel'
import type { PhoneCall, PhoneVoice } from '@parley/phone'
import { type CallerAct, PhoneError } from '@parley/phone/testing'

/** A step of a caller's script. */
export interface CallerTurn {
  /** Words of the agent before this step. */
  readonly after: RegExp
  /** Wait after these words; a short wait interrupts the agent. */
  readonly waitMs: Ms
  readonly act: CallerAct
}

/** Time that a caller waits for an answer before it repeats itself; longer than the agent's own reminder. */
const PATIENCE_MS: Ms = 20_000
const MAX_REPEATS = 2
/** Patience of a caller without repetitions; a working agent answers sooner. */
const SHORT_PATIENCE_MS: Ms = 7000

/** A caller that repeats itself when it gets no answer, and gives up after some attempts. */
export class PatientCaller {
  readonly #turns: readonly CallerTurn[]
  readonly #spoken: ReadonlyMap<string, Int16Array>

  readonly #patienceMs: Ms
  readonly #maxRepeats: number

  private constructor(
    turns: readonly CallerTurn[],
    spoken: ReadonlyMap<string, Int16Array>,
    patienceMs: Ms,
    maxRepeats: number,
  ) {
    this.#turns = turns
    this.#spoken = spoken
    this.#patienceMs = patienceMs
    this.#maxRepeats = maxRepeats
  }

  static async prepare(turns: readonly CallerTurn[], voice: PhoneVoice): Promise<PatientCaller> {
    const spoken = new Map<string, Int16Array>()
    for (const { act } of turns) if (act.type === 'say') spoken.set(act.text, await voice.render(act.text))
    return new PatientCaller(turns, spoken, PATIENCE_MS, MAX_REPEATS)
  }

  /** The same caller without repetitions. */
  impatient(): PatientCaller {
    return new PatientCaller(this.#turns, this.#spoken, SHORT_PATIENCE_MS, 0)
  }

  /**
   * Follows the script until the agent hangs up, and returns the number of repetitions. Throws "call_ended" if the agent hangs
   * up before the last turn, "wait_timeout" if it does not answer.
   */
  async follow(call: PhoneCall, onAct: (act: string) => void): Promise<number> {
    let repeats = 0
    let act: CallerAct | null = null
    let from: Ms = 0
    const withRepeats = async (condition: () => Promise<unknown>) => {
      for (let tries = 0; ; tries++) {
        try {
          return await condition()
        } catch (error) {
          if (!PhoneError.is(error, 'wait_timeout') || act === null || tries === this.#maxRepeats) throw error
          repeats++
          await this.#do(call, act)
        }
      }
    }
    for (const turn of this.#turns) {
      await withRepeats(() => call.untilHears(turn.after, this.#patienceMs, from))
      await call.wait(turn.waitMs)
      act = turn.act
      from = samplesToMs(call.leg.heardPosition(), NARROWBAND)
      onAct(act.type === 'say' ? act.text : act.digits)
      await this.#do(call, act)
    }
    await withRepeats(() => call.waitFor('ended', this.#patienceMs))
    return repeats
  }

  async #do(call: PhoneCall, act: CallerAct): Promise<void> {
    if (act.type === 'press') await call.press(act.digits)
    else await call.speak(this.#spoken.get(act.text)!)
  }
}
