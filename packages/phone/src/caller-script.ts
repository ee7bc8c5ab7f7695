import { type Ms, NARROWBAND, samplesToMs } from '@parley/kernel'
import { PhoneError } from './errors.ts'
import { describePattern } from './heard-pattern.ts'
import type { PhoneCall } from './phone-call.ts'
import type { PhoneVoice } from './phone-voice.ts'

/** A step of a scripted caller. `withinMs`: timeout, default 30 s. */
export type CallerStep =
  /** Waits until the agent's speech matches (`PhoneCall.untilHears`), after the last match and the caller's own last words or keys. */
  | { readonly type: 'hear'; readonly pattern: string | RegExp; readonly withinMs?: Ms }
  /** Waits until the agent speaks (from now on) and then pauses; `forMs` default 700. */
  | { readonly type: 'pause'; readonly forMs?: Ms; readonly withinMs?: Ms }
  /** Waits until the agent has been silent for `forMs`; earlier silence counts. Default 700. */
  | { readonly type: 'quiet'; readonly forMs?: Ms; readonly withinMs?: Ms }
  | { readonly type: 'say'; readonly text: string }
  | { readonly type: 'press'; readonly digits: string }
  /** Waits until the agent has been talking for `afterMs`, then says or presses. */
  | { readonly type: 'interrupt'; readonly afterMs: Ms; readonly by: CallerAct; readonly withinMs?: Ms }
  | { readonly type: 'wait'; readonly ms: Ms }
  | { readonly type: 'hang-up' }
  /** Waits for the far end to hang up. */
  | { readonly type: 'hung-up'; readonly withinMs?: Ms }

export type CallerAct =
  | { readonly type: 'say'; readonly text: string }
  | { readonly type: 'press'; readonly digits: string }

interface FollowOptions {
  /** Default 60 s. */
  readonly answerWithinMs?: Ms
  /** Called at the beginning of each step. */
  readonly onStep?: (description: string, step: CallerStep) => void
}

const DEFAULT_WAIT_MS: Ms = 30_000
const PAUSE_MS: Ms = 700
const ANSWER_MS: Ms = 60_000
/** Number of the newest heard lines in an error text. */
const LINES_IN_ERROR = 6

/** A caller's script with its speech synthesised, playable on any number of calls. */
export class CallerScript {
  readonly #steps: readonly CallerStep[]
  readonly #audioByText: ReadonlyMap<string, Int16Array>

  private constructor(steps: readonly CallerStep[], audioByText: ReadonlyMap<string, Int16Array>) {
    this.#steps = steps
    this.#audioByText = audioByText
  }

  /** Synthesises all texts, so that no step waits for the voice. Throws what the voice throws. */
  static async prepare(steps: readonly CallerStep[], voice: PhoneVoice): Promise<CallerScript> {
    const audioByText = new Map<string, Int16Array>()
    for (const step of steps) {
      const act = step.type === 'interrupt' ? step.by : step
      if (act.type === 'say' && !audioByText.has(act.text)) audioByText.set(act.text, await voice.render(act.text))
    }
    return new CallerScript(steps, audioByText)
  }

  /**
   * Plays the script once the call is answered. Throws "script_failed" at the first step that fails; the message names the
   * step, the reason and what was heard.
   */
  async follow(call: PhoneCall, options: FollowOptions = {}): Promise<void> {
    const player = new ScriptPlayer(call, this.#audioByText)
    await withScriptError(call, 'the answer', () => call.waitFor('answered', options.answerWithinMs ?? ANSWER_MS))
    for (const [index, step] of this.#steps.entries()) {
      const description = describeStep(step)
      options.onStep?.(description, step)
      await withScriptError(call, `step ${index + 1} of ${this.#steps.length} (${description})`, () =>
        player.play(step),
      )
    }
  }
}

/** Plays a script on one call. */
class ScriptPlayer {
  readonly #call: PhoneCall
  readonly #audioByText: ReadonlyMap<string, Int16Array>
  /** Position on the call's clock; the next "hear" ignores earlier speech. */
  #from: Ms = 0

  constructor(call: PhoneCall, audioByText: ReadonlyMap<string, Int16Array>) {
    this.#call = call
    this.#audioByText = audioByText
  }

  async play(step: CallerStep): Promise<void> {
    const call = this.#call
    const withinMs = ('withinMs' in step ? step.withinMs : undefined) ?? DEFAULT_WAIT_MS
    switch (step.type) {
      case 'hear':
        this.#from = (await call.untilHears(step.pattern, withinMs, this.#from)).endMs
        return
      case 'pause':
        return call.untilPause(step.forMs ?? PAUSE_MS, withinMs)
      case 'quiet':
        return call.untilAgentQuiet(step.forMs ?? PAUSE_MS, withinMs)
      case 'say':
      case 'press':
        return this.#act(step)
      case 'interrupt':
        await call.untilAgentTalks(step.afterMs, withinMs)
        return this.#act(step.by)
      case 'wait':
        return call.wait(step.ms)
      case 'hang-up':
        await call.hangUp()
        return
      case 'hung-up':
        await call.waitFor('ended', withinMs)
        return
    }
  }

  async #act(act: CallerAct): Promise<void> {
    this.#from = Math.max(this.#from, samplesToMs(this.#call.leg.heardPosition(), NARROWBAND))
    if (act.type === 'press') await this.#call.press(act.digits)
    else await this.#call.speak(this.#audioByText.get(act.text)!)
  }
}

function describeStep(step: CallerStep): string {
  switch (step.type) {
    case 'hear':
      return `hear ${describePattern(step.pattern)}`
    case 'pause':
    case 'quiet':
      return `${step.type} of ${step.forMs ?? PAUSE_MS} ms`
    case 'say':
      return `say "${step.text}"`
    case 'press':
      return `press ${step.digits}`
    case 'interrupt':
      return `after ${step.afterMs} ms of speech ${describeStep(step.by)}`
    case 'wait':
      return `wait ${step.ms} ms`
    case 'hang-up':
      return 'hang up'
    case 'hung-up':
      return 'wait for the far end to hang up'
  }
}

async function withScriptError(call: PhoneCall, what: string, action: () => Promise<unknown>): Promise<void> {
  try {
    await action()
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new PhoneError('script_failed', `${what}: ${why}; ${heardSoFar(call)}`, { cause: error })
  }
}

function heardSoFar(call: PhoneCall): string {
  const lines = call.heardLines.slice(-LINES_IN_ERROR).map(({ text, startMs, endMs }) => {
    const when = `${(startMs / 1000).toFixed(1)}-${(endMs / 1000).toFixed(1)} s`
    return `${text === '' ? 'speech without words' : `"${text}"`} (${when})`
  })
  return lines.length === 0 ? 'no words were heard' : `heard ${lines.join(', ')}`
}
