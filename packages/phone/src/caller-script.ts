import type { ScriptedCaller } from '@parley/contract'
import { MachineDriver, type Ms, msToSamples, NARROWBAND, samplesToMs } from '@parley/kernel'
import { activeLevel } from '@parley/providers'
import { type CallerAct, type CallerStep, describeStep } from './caller/caller-step.ts'
import { type PlayerInput, type PlayerOutput, ScriptPlayer, type StepFailure } from './caller/script-player.ts'
import { scriptSteps } from './caller/script-steps.ts'
import { PhoneError } from './errors.ts'
import type { HeardLine } from './heard-transcript.ts'
import type { PhoneCall } from './phone-call.ts'
import type { PhoneVoice } from './phone-voice.ts'
import { loudness } from './resemblance.ts'

interface FollowOptions {
  /** Default 60 s. */
  readonly answerWithinMs?: Ms
  /** Called when the call is answered, with the player, which records what the caller does. */
  readonly onBegin?: (player: ScriptPlayer) => void
  /** Called at the beginning of each step. */
  readonly onStep?: (description: string, step: CallerStep) => void
}

const ANSWER_MS: Ms = 60_000
/** Number of the newest heard lines in an error text. */
const LINES_IN_ERROR = 6
const FULL_SCALE = 32_768
const TONE_GAP_MS: Ms = 250
const TONE_AMPLITUDE = 6000
/** Share of the active level below which the end of a sound is silence: above the tones of the words. */
const AUDIBLE_SHARE = 0.1
const TAIL_FRAME = 80

/** A caller that decides in the call what it does. */
export interface ImprovisedCaller {
  /** The first steps. */
  readonly begin: readonly CallerStep[]
  /**
   * The steps that follow when the last ones are played; none: the caller is done. `heard`: all that the far end has said. May reject:
   * the script fails then.
   */
  next(heard: readonly HeardLine[]): Promise<readonly CallerStep[]>
}

/** A caller's script with its speech synthesised, playable on any number of calls; of an improvised caller on one. */
export class CallerScript {
  readonly #steps: CallerStep[]
  readonly #sounds = new Map<string, Int16Array>()
  readonly #voice: Pick<PhoneVoice, 'render'>
  readonly #caller: ImprovisedCaller | null

  private constructor(voice: Pick<PhoneVoice, 'render'>, caller: ImprovisedCaller | null) {
    this.#steps = []
    this.#voice = voice
    this.#caller = caller
  }

  get steps(): readonly CallerStep[] {
    return this.#steps
  }

  /** Synthesises all texts, so that no step waits for the voice. Throws what the voice throws. */
  static async prepare(script: readonly CallerStep[] | ScriptedCaller, voice: PhoneVoice): Promise<CallerScript> {
    const prepared = new CallerScript(voice, null)
    await prepared.#add('kind' in script ? scriptSteps(script) : script)
    return prepared
  }

  /** A caller that decides in the call what it does. Its texts are synthesised while the call waits. */
  static async improvised(caller: ImprovisedCaller, voice: Pick<PhoneVoice, 'render'>): Promise<CallerScript> {
    const script = new CallerScript(voice, caller)
    await script.#add(caller.begin)
    return script
  }

  async #add(steps: readonly CallerStep[]): Promise<void> {
    for (const step of steps) {
      const act = step.type === 'interrupt' ? step.by : step
      if (act.type !== 'say' || this.#sounds.has(soundKey(act))) continue
      const speech = act.text === '' ? new Int16Array(0) : await this.#voice.render(act.text)
      this.#sounds.set(soundKey(act), soundOf(act, speech))
    }
    this.#steps.push(...steps)
  }

  /**
   * Plays the script once the call is answered. Throws "script_failed" at the first step that fails; the message names the
   * step, the reason and what was heard. Resolves with the player, which recorded what the caller did.
   */
  async follow(call: PhoneCall, options: FollowOptions = {}): Promise<ScriptPlayer> {
    await call.waitFor('answered', options.answerWithinMs ?? ANSWER_MS).catch(error => {
      throw this.#failed(call, 'the answer', textOf(error), error)
    })
    const far = {
      voice: () => call.farVoice(),
      find: (pattern: string | RegExp, afterMs: Ms) => call.find(pattern, afterMs),
      digits: () => call.digits,
    }
    const player = new ScriptPlayer(this.steps, far, this.#caller !== null)
    options.onBegin?.(player)
    const failure = await this.#play(call, player, options)
    if (failure === null) return player
    const { index, description } = failure
    const what = index < this.steps.length ? `step ${index + 1} of ${this.steps.length} (${description})` : description
    throw this.#failed(call, what, failure.reason, failure.cause)
  }

  async #more(call: PhoneCall): Promise<PlayerInput> {
    const steps = (await this.#caller?.next(call.heardLines)) ?? []
    await this.#add(steps)
    return { type: 'steps', steps }
  }

  #failed(call: PhoneCall, what: string, reason: string, cause: unknown) {
    return new PhoneError('script_failed', `${what}: ${reason}; ${heardSoFar(call)}`, { cause })
  }

  async #play(call: PhoneCall, player: ScriptPlayer, { onStep }: FollowOptions): Promise<StepFailure | null> {
    const over = Promise.withResolvers<StepFailure | null>()
    const perform = (output: PlayerOutput): void => {
      if (output.type === 'over') return over.resolve(output.failure)
      if (output.type === 'hang-up') return call.leg.hangUp()
      if (output.type === 'say') return void report(speak(call, this.#sounds.get(soundKey(output.act))!))
      if (output.type === 'press') return void report(press(call, output.digits))
      if (output.type === 'more') return void report(this.#more(call))
      const step = this.steps[output.index]!
      onStep?.(describeStep(step), step)
    }
    const report = async (act: Promise<PlayerInput>) =>
      driver.handle(await act.catch((error): PlayerInput => ({ type: 'broken', error })))
    const driver = new MachineDriver(player, call.time, perform)
    const news = (): PlayerInput =>
      call.over === null ? { type: 'heard', callMs: call.positionMs } : { type: 'ended', why: call.over }
    const unwatch = call.watch(() => driver.handle(news()))
    driver.handle(news())
    return over.promise.finally(() => {
      unwatch()
      driver.stop()
    })
  }
}

async function press(call: PhoneCall, digits: string): Promise<PlayerInput> {
  const startMs = call.positionMs
  await call.press(digits)
  return { type: 'pressed', startMs, endMs: call.positionMs }
}

async function speak(call: PhoneCall, sound: Int16Array): Promise<PlayerInput> {
  const tailMs = silentTailMs(sound)
  const { startMs, endMs } = await call.speak(sound)
  return { type: 'said', startMs, endMs: endMs - tailMs, tailMs }
}

/** Length of what follows the last audible speech. */
function silentTailMs(sound: Int16Array): Ms {
  const audible = AUDIBLE_SHARE * activeLevel(sound)
  let end = sound.length
  while (end >= TAIL_FRAME && loudness(sound.subarray(end - TAIL_FRAME, end)) * FULL_SCALE < audible) end -= TAIL_FRAME
  return samplesToMs(sound.length - end, NARROWBAND)
}

function soundKey({ text, levelDb, tone }: CallerAct & { readonly type: 'say' }): string {
  return JSON.stringify([text, levelDb, tone])
}

function soundOf({ levelDb, tone }: CallerAct & { readonly type: 'say' }, speech: Int16Array): Int16Array {
  const level = levelDb === undefined ? 0 : activeLevel(speech)
  const gain = level === 0 ? 1 : (FULL_SCALE * 10 ** ((levelDb ?? 0) / 20)) / level
  const from =
    tone === undefined || speech.length === 0 ? speech.length : speech.length + msToSamples(TONE_GAP_MS, NARROWBAND)
  const sound = new Int16Array(from + msToSamples(tone?.ms ?? 0, NARROWBAND))
  for (const [i, sample] of speech.entries())
    sound[i] = Math.max(-FULL_SCALE, Math.min(FULL_SCALE - 1, Math.round(gain * sample)))
  const step = (2 * Math.PI * (tone?.hz ?? 0)) / NARROWBAND.sampleRateHz
  for (let i = from; i < sound.length; i++) sound[i] = TONE_AMPLITUDE * Math.sin(step * (i - from))
  return sound
}

function heardSoFar(call: PhoneCall): string {
  const lines = call.heardLines.slice(-LINES_IN_ERROR).map(({ text, startMs, endMs }) => {
    const when = `${(startMs / 1000).toFixed(1)}-${(endMs / 1000).toFixed(1)} s`
    return `${text === '' ? 'speech without words' : `"${text}"`} (${when})`
  })
  return lines.length === 0 ? 'no words were heard' : `heard ${lines.join(', ')}`
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
