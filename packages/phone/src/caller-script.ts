import { type Ms, NARROWBAND, ParleyError, samplesToMs } from '@parley/kernel'
import { describePattern } from './heard-pattern.ts'
import type { PhoneCall } from './phone-call.ts'
import type { PhoneVoice } from './phone-voice.ts'

/** What a scripted caller does next. `withinMs`: default 30 s. */
export type CallerStep =
  /** Waits until the agent says what fits (`PhoneCall.untilHears`), behind the last find and the caller's own last words or keys. */
  | { readonly type: 'hear'; readonly pattern: string | RegExp; readonly withinMs?: Ms }
  /** Waits until the agent speaks, from now on, and then pauses; `forMs` default 700. */
  | { readonly type: 'pause'; readonly forMs?: Ms; readonly withinMs?: Ms }
  /** Waits until the agent has been silent for `forMs`, what has passed of it counted; default 700. */
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
  /** Told of each step as it begins. */
  readonly onStep?: (description: string, step: CallerStep) => void
}

const PATIENCE_MS: Ms = 30_000
const PAUSE_MS: Ms = 700
const ANSWER_MS: Ms = 60_000
/** Of what was heard, an error tells so many lines, the newest. */
const LINES_TOLD = 6

/** A caller's part in a conversation, ready to be played on any number of calls. */
export class CallerScript {
  readonly #steps: readonly CallerStep[]
  readonly #spoken: ReadonlyMap<string, Int16Array>

  private constructor(steps: readonly CallerStep[], spoken: ReadonlyMap<string, Int16Array>) {
    this.#steps = steps
    this.#spoken = spoken
  }

  /** Makes all that is to be said, so that no step waits for the voice. Throws what the voice throws. */
  static async prepare(steps: readonly CallerStep[], voice: PhoneVoice): Promise<CallerScript> {
    const spoken = new Map<string, Int16Array>()
    for (const step of steps) {
      const act = step.type === 'interrupt' ? step.by : step
      if (act.type === 'say' && !spoken.has(act.text)) spoken.set(act.text, await voice.render(act.text))
    }
    return new CallerScript(steps, spoken)
  }

  /**
   * Plays the part once the call is answered. Throws "script_failed" at the first step that cannot be done: its message
   * tells which, why, and what was heard.
   */
  async follow(call: PhoneCall, options: FollowOptions = {}): Promise<void> {
    const part = new Part(call, this.#spoken)
    await reported(call, 'the answer', () => call.waitFor('answered', options.answerWithinMs ?? ANSWER_MS))
    for (const [index, step] of this.#steps.entries()) {
      const description = describeStep(step)
      options.onStep?.(description, step)
      await reported(call, `step ${index + 1} of ${this.#steps.length} (${description})`, () => part.play(step))
    }
  }
}

/** One call on which a script is played. */
class Part {
  readonly #call: PhoneCall
  readonly #spoken: ReadonlyMap<string, Int16Array>
  /** Call's clock: what was said before does not count for the next "hear". */
  #from: Ms = 0

  constructor(call: PhoneCall, spoken: ReadonlyMap<string, Int16Array>) {
    this.#call = call
    this.#spoken = spoken
  }

  async play(step: CallerStep): Promise<void> {
    const call = this.#call
    const withinMs = ('withinMs' in step ? step.withinMs : undefined) ?? PATIENCE_MS
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
    else await this.#call.speak(this.#spoken.get(act.text)!)
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
      return `after ${step.afterMs} ms of talk ${describeStep(step.by)}`
    case 'wait':
      return `wait ${step.ms} ms`
    case 'hang-up':
      return 'hang up'
    case 'hung-up':
      return 'be hung up on'
  }
}

async function reported(call: PhoneCall, what: string, does: () => Promise<unknown>): Promise<void> {
  try {
    await does()
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new ParleyError('script_failed', `${what}: ${why}; ${heardSoFar(call)}`, { cause: error })
  }
}

function heardSoFar(call: PhoneCall): string {
  const lines = call.heardLines.slice(-LINES_TOLD).map(({ text, startMs, endMs }) => {
    const when = `${(startMs / 1000).toFixed(1)}-${(endMs / 1000).toFixed(1)} s`
    return `${text === '' ? 'speech without words' : `"${text}"`} (${when})`
  })
  return lines.length === 0 ? 'no words were heard' : `heard ${lines.join(', ')}`
}
