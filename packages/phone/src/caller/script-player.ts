import { type Machine, type Ms, NARROWBAND, samplesToMs } from '@parley/kernel'
import type { FarEndVoice } from '../far-end-voice.ts'
import { describePattern } from '../heard-pattern.ts'
import type { HeardMatch } from '../heard-transcript.ts'
import { type CallerAct, type CallerStep, describeStep, PAUSE_MS } from './caller-step.ts'

const DEFAULT_WAIT_MS: Ms = 30_000
const NEVER: Ms = Number.POSITIVE_INFINITY
/** Steps that end in vain after `withinMs`. */
const WAITS: ReadonlySet<CallerStep['type']> = new Set([
  'hear',
  'keys',
  'pause',
  'quiet',
  'reply',
  'reply-begun',
  'interrupt',
  'hung-up',
])
/** Speech of the far end that ends this soon after the caller's own sound was under way before it and is no answer. */
const TAIL_MS: Ms = 250

/** What the player knows of the far end. */
interface FarEnd {
  /** Voice activity of the received audio, which is created on the first call. */
  voice(): FarEndVoice
  /** First match in the recognised speech after `afterMs` of the call's clock. Throws when nothing is recognised. */
  find(pattern: string | RegExp, afterMs: Ms): HeardMatch | null
  /** Keys that it has pressed so far. */
  digits(): string
}

/** Times are on the call's sample clock. */
export type PlayerInput =
  /** Audio or words of the far end arrived; `callMs`: the position of the newest sample. */
  | { readonly type: 'heard'; readonly callMs: Ms }
  /** All of a `say` was sent. `endMs`: the end of the voice; `tailMs`: how long silence was sent after it. */
  | { readonly type: 'said'; readonly startMs: Ms; readonly endMs: Ms; readonly tailMs: Ms }
  /** All digits of a `press` were sent. */
  | { readonly type: 'pressed'; readonly startMs: Ms; readonly endMs: Ms }
  /** The call is over, and no more words come. */
  | { readonly type: 'ended'; readonly why: string }
  /** The steps that follow, after a `more`; none: the script is over. */
  | { readonly type: 'steps'; readonly steps: readonly CallerStep[] }
  /** An output could not be carried out. */
  | { readonly type: 'broken'; readonly error: unknown }

export type PlayerOutput =
  | { readonly type: 'step'; readonly index: number }
  | { readonly type: 'say'; readonly act: CallerAct & { readonly type: 'say' } }
  | { readonly type: 'press'; readonly digits: string }
  | { readonly type: 'hang-up' }
  /** The steps of an open script are played: it goes on with the `steps` that come, or ends with the call. */
  | { readonly type: 'more' }
  /** The last output: the script was played, or the step `failed` says why not. */
  | { readonly type: 'over'; readonly failure: StepFailure | null }

export interface StepFailure {
  readonly index: number
  readonly description: string
  readonly reason: string
  readonly cause: unknown
}

/** One thing that the caller did. */
interface PlayedAct {
  /** Index of its step. */
  readonly index: number
  readonly startMs: Ms
  readonly endMs: Ms
}

interface Current {
  readonly step: CallerStep
  readonly begunAt: Ms
  /** Number of the far end's pauses when the step began. */
  readonly pauses: number
  /** Acts of this step whose end was not reported yet, and when they began on the call's clock. */
  acting: number
  actedAtMs: Ms
  acted: boolean
}

/** Plays a script of a caller: pure; audio, keys and the call belong to its driver. */
export class ScriptPlayer implements Machine<PlayerInput, PlayerOutput> {
  /** Acts that ended, in order. */
  readonly acts: PlayedAct[] = []
  /** Indices of optional steps that did not come true. */
  readonly missed: number[] = []
  readonly #steps: CallerStep[]
  /** Further steps may follow the last one. */
  #isOpen: boolean
  #waitsForMore = false
  readonly #far: FarEnd
  readonly #outputs: PlayerOutput[] = []
  #index = 0
  #current: Current | null = null
  #callMs: Ms = 0
  /** The next "hear" ignores earlier speech. */
  #from: Ms = 0
  /** Begin and end of the caller's last sound on the call's clock, and its end on the clock of `handle`. */
  #lastSound: { readonly startMs: Ms; readonly endMs: Ms } | null = null
  #silentSince: Ms | null = null
  /** Where the script begins again, after which words, and how often it still may. */
  #again: { readonly index: number; readonly pattern: string | RegExp; left: number; from: Ms } | null = null
  #ended: string | null = null
  #over = false
  #running = false

  /** `isOpen`: further steps are requested when these are played; default false. */
  constructor(steps: readonly CallerStep[], far: FarEnd, isOpen = false) {
    this.#steps = [...steps]
    this.#isOpen = isOpen
    this.#far = far
  }

  handle(now: Ms, input: PlayerInput): void {
    if (input.type === 'heard') this.#callMs = Math.max(this.#callMs, input.callMs)
    if (input.type === 'ended') this.#ended = input.why
    if (input.type === 'steps') this.#goOn(input.steps)
    if (input.type === 'said' || input.type === 'pressed') this.#onActed(now, input)
    if (input.type === 'broken') this.#fail(textOf(input.error), input.error)
    this.#run(now)
  }

  advance(now: Ms): void {
    this.#run(now)
  }

  poll(): PlayerOutput | undefined {
    return this.#outputs.shift()
  }

  deadline(): Ms | undefined {
    const current = this.#current
    if (this.#over || current === null || current.acting > 0) return undefined
    return this.#due(current)
  }

  /** Reading what the far end said may report more of it, and so call this again. */
  #run(now: Ms): void {
    if (this.#running) return
    this.#running = true
    this.#playSteps(now)
    this.#running = false
  }

  #playSteps(now: Ms): void {
    while (!this.#over) {
      const step = this.#steps[this.#index]
      if (step === undefined) return this.#onPlayed()
      if (this.#ended !== null && this.#mayEnd()) return this.#endEarly()
      this.#silentSince ??= now
      this.#current ??= this.#begin(now, step)
      try {
        if (this.#beginsAgain()) continue
        if (!this.#isDone(now, this.#current)) {
          if (!this.#isMissed(now, this.#current)) return
          this.missed.push(this.#index)
        }
      } catch (error) {
        return this.#fail(textOf(error), error)
      }
      if (this.#over) return
      this.#index++
      this.#current = null
    }
  }

  #onPlayed(): void {
    if (!this.#isOpen || this.#ended !== null) return this.#finish(null)
    if (this.#waitsForMore) return
    this.#waitsForMore = true
    this.#outputs.push({ type: 'more' })
  }

  #goOn(steps: readonly CallerStep[]): void {
    this.#waitsForMore = false
    this.#isOpen = steps.length > 0
    this.#steps.push(...steps)
  }

  #begin(now: Ms, step: CallerStep): Current {
    if (step.type !== 'begin-again') this.#outputs.push({ type: 'step', index: this.#index })
    const pauses = step.type === 'pause' ? this.#far.voice().pauses : 0
    return { step, begunAt: now, pauses, acting: 0, actedAtMs: 0, acted: false }
  }

  /** Whether the step came true; begins its acts. */
  #isDone(now: Ms, current: Current): boolean {
    const { step } = current
    if (current.acted) return current.acting === 0
    switch (step.type) {
      case 'hear': {
        const match = this.#far.find(step.pattern, this.#from)
        if (match !== null) this.#from = match.endMs
        return match !== null
      }
      case 'keys':
        return this.#far.digits().includes(step.digits)
      case 'pause':
        return this.#far.voice().pauses > current.pauses && this.#quietMs() >= (step.forMs ?? PAUSE_MS)
      case 'quiet':
        return this.#quietMs() >= (step.forMs ?? PAUSE_MS)
      case 'reply':
        return this.#quietMs() >= step.pauseMs && this.#answeredUntilMs() !== null
      case 'reply-begun':
        return this.#answerMs() > step.forMs
      case 'silence':
      case 'wait':
        return now >= this.#due(current)!
      case 'begin-again':
        this.#again = { index: this.#index + 1, pattern: step.pattern, left: step.times, from: this.#from }
        return true
      case 'say':
      case 'press':
        this.#act(current, step)
        return false
      case 'interrupt':
        if (this.#talkingMs() > 0 && this.#talkingMs() >= step.afterMs) this.#act(current, step.by)
        return false
      case 'hang-up':
        if (!current.acted) this.#outputs.push({ type: 'hang-up' })
        current.acted = true
        this.#isOpen = false
        return true
      case 'hung-up':
        return this.#ended !== null
    }
  }

  /** Returns to a "begin-again" whose words were heard while the script waits. */
  #beginsAgain(): boolean {
    const again = this.#again
    const current = this.#current
    if (again === null || again.left === 0 || current === null || current.acting > 0) return false
    const match = this.#far.find(again.pattern, again.from)
    if (match === null) return false
    again.left--
    again.from = match.endMs
    this.#from = match.endMs
    this.#index = again.index
    this.#current = null
    return true
  }

  /** Throws when the step can no longer come true, unless it is optional. */
  #isMissed(now: Ms, { step, begunAt, acted, acting }: Current): boolean {
    const ended = this.#ended
    const isLate = acting === 0 && !acted && now >= begunAt + timeoutOf(step)
    if (ended === null && !isLate) return false
    if ('optional' in step && step.optional === true && ended === null) return true
    const miss = describeMiss(step)
    throw new Error(
      ended === null ? `${miss} within ${timeoutOf(step)} ms` : `the call ended first (${ended}): ${miss}`,
    )
  }

  #due({ step, begunAt }: Current): Ms | undefined {
    if (step.type === 'wait') return begunAt + step.ms
    if (step.type === 'silence') return this.#silentSince! + step.ms
    const timeout = begunAt + timeoutOf(step)
    return Number.isFinite(timeout) ? timeout : undefined
  }

  #act(current: Current, act: CallerAct): void {
    current.acted = true
    current.actedAtMs = this.#callMs
    this.#from = Math.max(this.#from, this.#callMs)
    if (act.type === 'say') this.#outputs.push({ type: 'say', act })
    if (act.digits !== undefined) this.#outputs.push({ type: 'press', digits: act.digits })
    current.acting = act.type === 'say' && act.digits !== undefined ? 2 : 1
  }

  #onActed(now: Ms, input: PlayerInput & { readonly type: 'said' | 'pressed' }): void {
    const { startMs, endMs } = input
    if (this.#current === null) return
    this.#current.acting--
    this.acts.push({ index: this.#index, startMs, endMs })
    this.#lastSound = { startMs, endMs: Math.max(endMs, this.#lastSound?.endMs ?? 0) }
    this.#silentSince = input.type === 'said' ? now - input.tailMs : now
  }

  /** Whether the end of the call leaves nothing undone: only pauses, optional waits and ends of the call are left. */
  #mayEnd(): boolean {
    if (this.#current?.acted === true && this.#current.acting > 0) return false
    const isDispensable = (step: CallerStep) =>
      step.type === 'hang-up' || step.type === 'hung-up' || ('optional' in step && step.optional === true)
    return this.#steps.slice(this.#index).every(isDispensable)
  }

  /** The call ended, and nothing is left to say: words that were expected may have been heard before. */
  #endEarly(): void {
    for (let index = this.#index; index < this.#steps.length; index++) {
      const step = this.#steps[index]!
      if (step.type !== 'hear') continue
      const match = this.#far.find(step.pattern, this.#from)
      if (match === null) this.missed.push(index)
      else this.#from = match.endMs
    }
    this.#finish(null)
  }

  #fail(reason: string, cause: unknown): void {
    const step = this.#steps[this.#index]
    const description = step === undefined ? 'the end of the script' : describeStep(step)
    this.#finish({ index: this.#index, description, reason, cause })
  }

  #finish(failure: StepFailure | null): void {
    if (this.#over) return
    this.#over = true
    // What the caller was saying when the call ended was partly said.
    const current = this.#current
    if (current !== null && current.acting > 0)
      this.acts.push({ index: this.#index, startMs: current.actedAtMs, endMs: this.#callMs })
    this.#outputs.push({ type: 'over', failure })
  }

  #quietMs(): Ms {
    return samplesToMs(this.#far.voice().quiet, NARROWBAND)
  }

  #talkingMs(): Ms {
    return samplesToMs(this.#far.voice().talking, NARROWBAND)
  }

  /** End of the far end's speech after the caller's last sound; null: there was none yet. */
  #answeredUntilMs(): Ms | null {
    const until = this.#far.voice().lastSpeechEndMs
    return until !== null && until > (this.#lastSound === null ? 0 : this.#lastSound.endMs + TAIL_MS) ? until : null
  }

  /** How long the far end has been talking, if that talk began after the caller's last sound did. */
  #answerMs(): Ms {
    const voice = this.#far.voice()
    return voice.talkStartMs >= (this.#lastSound?.startMs ?? 0) ? this.#talkingMs() : 0
  }
}

function timeoutOf(step: CallerStep): Ms {
  return 'withinMs' in step && step.withinMs !== undefined
    ? step.withinMs
    : WAITS.has(step.type)
      ? DEFAULT_WAIT_MS
      : NEVER
}

function describeMiss(step: CallerStep): string {
  switch (step.type) {
    case 'hear':
      return `did not hear ${describePattern(step.pattern)}`
    case 'pause':
      return `no pause of ${step.forMs ?? PAUSE_MS} ms after speech`
    case 'quiet':
      return `no silence of ${step.forMs ?? PAUSE_MS} ms`
    case 'reply':
    case 'reply-begun':
      return 'no answer'
    case 'interrupt':
      return `no speech of ${step.afterMs} ms`
    case 'hung-up':
      return 'no "ended"'
    default:
      return `did not ${describeStep(step)}`
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
