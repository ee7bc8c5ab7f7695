import type { Machine, Ms } from '@parley/kernel'

/** Events of the call. */
export type AgentInput =
  /** Audio flows both ways: the caller can hear. */
  | { readonly type: 'connected' }
  | { readonly type: 'digit'; readonly digit: string }
  | { readonly type: 'speech-started' }
  /** Everything that `say` or `echo` queued was sent, or was dropped by `stop-speaking`. */
  | { readonly type: 'quiet' }

/** What the owner of the call must do, in this order. */
export type AgentOutput =
  | { readonly type: 'say'; readonly text: string; readonly node: string }
  | { readonly type: 'stop-speaking' }
  /** Play back the newest `durationMs` of the caller's audio. */
  | { readonly type: 'echo'; readonly durationMs: Ms }
  | { readonly type: 'hang-up' }

type Step =
  | { readonly name: 'waiting' }
  | { readonly name: 'greeting' }
  | { readonly name: 'collecting'; readonly until: Ms }
  | { readonly name: 'reading-back' }
  | { readonly name: 'listening'; readonly until: Ms; readonly heardSpeech: boolean }
  | { readonly name: 'echoing' }
  | { readonly name: 'saying-goodbye' }
  | { readonly name: 'done' }

/** Timeouts of the test agent, in ms. */
interface TestAgentTimings {
  /** After the greeting, for the first digit; default 6000. */
  readonly firstDigitMs: Ms
  /** After a digit, for the next one; default 2500. */
  readonly nextDigitMs: Ms
  /** For the caller to begin to speak after the prompt; default 5000. */
  readonly speechMs: Ms
  /** Length of the echo; default 2000. */
  readonly echoMs: Ms
}

const DEFAULT_TIMINGS: TestAgentTimings = {
  firstDigitMs: 6000,
  nextDigitMs: 2500,
  speechMs: 5000,
  echoMs: 2000,
}

const MAX_DIGITS = 32

/**
 * The agent of the line test: it greets, reads back the digits that were pressed, plays back two seconds of the caller's audio,
 * says goodbye and hangs up.
 *
 *     waiting -> greeting -> collecting -> reading-back -> listening -> echoing -> saying-goodbye -> done
 *
 * A digit cuts the greeting short; `#` ends the digits at once.
 */
export class TestAgent implements Machine<AgentInput, AgentOutput> {
  readonly #timings: TestAgentTimings
  #step: Step = { name: 'waiting' }
  #digits = ''
  readonly #outputs: AgentOutput[] = []

  constructor(timings: Partial<TestAgentTimings> = {}) {
    this.#timings = { ...DEFAULT_TIMINGS, ...timings }
  }

  /** Digits pressed so far, `#` included. */
  get digits(): string {
    return this.#digits
  }

  get done(): boolean {
    return this.#step.name === 'done'
  }

  handle(now: Ms, input: AgentInput): void {
    switch (input.type) {
      case 'connected':
        if (this.#step.name === 'waiting') this.#greet()
        return
      case 'digit':
        this.#digit(now, input.digit)
        return
      case 'speech-started':
        if (this.#step.name === 'listening' && !this.#step.heardSpeech)
          this.#step = { name: 'listening', until: now + this.#timings.echoMs, heardSpeech: true }
        return
      case 'quiet':
        this.#quiet(now)
        return
    }
  }

  advance(now: Ms): void {
    const step = this.#step
    if (step.name === 'collecting' && now >= step.until) this.#readBack()
    else if (step.name === 'listening' && now >= step.until) this.#echo()
  }

  deadline(): Ms | undefined {
    return 'until' in this.#step ? this.#step.until : undefined
  }

  poll(): AgentOutput | undefined {
    return this.#outputs.shift()
  }

  #greet(): void {
    this.#step = { name: 'greeting' }
    this.#say('greeting', 'Hello, this is the Parley test agent. Please enter some digits, then press the pound key.')
  }

  #digit(now: Ms, digit: string): void {
    const step = this.#step
    if (step.name !== 'greeting' && step.name !== 'collecting') return
    if (step.name === 'greeting') this.#outputs.push({ type: 'stop-speaking' })
    this.#digits += digit
    if (digit === '#' || this.#digits.length >= MAX_DIGITS) this.#readBack()
    else this.#step = { name: 'collecting', until: now + this.#timings.nextDigitMs }
  }

  /** "quiet" may be late and belong to speech that a digit interrupted: steps that do not wait for it ignore it. */
  #quiet(now: Ms): void {
    switch (this.#step.name) {
      case 'greeting':
        this.#step = { name: 'collecting', until: now + this.#timings.firstDigitMs }
        return
      case 'reading-back':
        this.#step = { name: 'listening', until: now + this.#timings.speechMs, heardSpeech: false }
        return
      case 'echoing':
        this.#step = { name: 'saying-goodbye' }
        this.#say('goodbye', 'Thank you for calling. Goodbye.')
        return
      case 'saying-goodbye':
        this.#step = { name: 'done' }
        this.#outputs.push({ type: 'hang-up' })
        return
      default:
        return
    }
  }

  #readBack(): void {
    this.#step = { name: 'reading-back' }
    const spoken = [...this.#digits.replace(/#$/, '')].map(spokenDigit).join(', ')
    const readBack = spoken === '' ? 'I received no digits.' : `You entered ${spoken}.`
    this.#say('digits', `${readBack} Now say something, and I will play back two seconds of it.`)
  }

  #echo(): void {
    this.#step = { name: 'echoing' }
    this.#outputs.push({ type: 'echo', durationMs: this.#timings.echoMs })
  }

  #say(node: string, text: string): void {
    this.#outputs.push({ type: 'say', node, text })
  }
}

function spokenDigit(digit: string): string {
  if (digit === '*') return 'star'
  if (digit === '#') return 'pound'
  return digit
}
