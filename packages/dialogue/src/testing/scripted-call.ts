import { type Machine, MachineDriver, type Ms, SeededRandom, VirtualTime } from '@parley/kernel'
import type { DialogueInput, DialogueOptions, DialogueOutput, Prosody, SpokenWord, TurnSettings } from '../protocol.ts'
import { TurnMachine } from '../turn-machine.ts'

const SETTINGS: TurnSettings = {
  interruptionSensitivity: 1,
  responsiveness: 1,
  reminderTriggerMs: 0,
  reminderMaxCount: 0,
  allowDtmfInterruption: false,
}

export const OPTIONS: DialogueOptions = {
  languages: ['en', 'es'],
  settings: SETTINGS,
  beginMessageDelayMs: 0,
  openerWaitsForCallee: false,
  endCallAfterSilenceMs: 600_000,
  maxCallDurationMs: 3_600_000,
  backchannel: { enabled: false, frequency: 0.8, words: [] },
}

/** Outputs that have no effect that the caller could hear. */
const INAUDIBLE: readonly DialogueOutput['type'][] = [
  'finalize',
  'candidate',
  'candidate-withdrawn',
  'turn-continued',
  'turn-settled',
  'breach',
]

/** Delays and errors of the voice detector and the recogniser of a scripted call. */
export interface DetectorOptions {
  /** Delay of the detection of a voice's onset and of its end; default 60 and 200. */
  readonly onsetMs?: Ms
  readonly hangoverMs?: Ms
  /** From the end of a word to its partial; null: words are only delivered as the answer to `finalize`; default 150. */
  readonly partialMs?: Ms | null
  /** From `finalize` to its answer; null: there is no answer; default 100. */
  readonly finalMs?: Ms | null
  /** How a word appears in a partial; default: as it is. */
  readonly mishear?: (word: SpokenWord) => SpokenWord
}

type SettingsChange = Partial<Omit<DialogueOptions, 'settings'>> & { readonly settings?: Partial<TurnSettings> }

/**
 * One call in virtual time. The turn machine gets the caller's speech as a voice detector and a recogniser would report it; its
 * outputs are recorded with their times. A `cut` ends the agent's speech.
 */
export class ScriptedCall {
  readonly time = new VirtualTime(1_000_000)
  readonly outputs: { readonly at: Ms; readonly output: DialogueOutput }[] = []
  readonly machine: TurnMachine
  readonly #driver: MachineDriver<DialogueInput, DialogueOutput>
  readonly #detectors: Required<DetectorOptions>
  readonly #start = this.time.now()
  /** All words of the caller on the machine's clock, and how many of them were reported as final and at all. */
  #spoken: SpokenWord[] = []
  #final = 0
  #reported = 0
  #agentSpeaks = false
  #settings: TurnSettings

  constructor(change: SettingsChange = {}, detectors: DetectorOptions = {}, seed = 1) {
    this.#detectors = {
      onsetMs: 60,
      hangoverMs: 200,
      partialMs: 150,
      finalMs: 100,
      mishear: word => word,
      ...detectors,
    }
    this.#settings = { ...SETTINGS, ...change.settings }
    const options = { ...OPTIONS, ...change, settings: this.#settings }
    this.machine = new TurnMachine(options, new SeededRandom(seed))
    this.#driver = new MachineDriver(checkingDeadlines(this.machine), this.time, output => this.#react(output))
  }

  /** ms since the beginning of the call. */
  get now(): Ms {
    return this.time.now() - this.#start
  }

  connect(): this {
    this.input({ type: 'connected' })
    return this
  }

  input(input: DialogueInput): void {
    this.#driver.handle(input)
  }

  /** Runs `action` at `at` ms of the call. */
  at(at: Ms, action: () => void): this {
    this.time.at(this.#start + at, action)
    return this
  }

  /** A voice from `from` to `until`. */
  voice(from: Ms, until: Ms, prosody?: Prosody): this {
    const [startedAt, stoppedAt] = [this.#start + from, this.#start + until]
    this.at(from + this.#detectors.onsetMs, () => this.input({ type: 'voice-started', startedAt }))
    this.at(until + this.#detectors.hangoverMs, () =>
      this.input({ type: 'voice-stopped', stoppedAt, ...(prosody === undefined ? {} : { prosody }) }),
    )
    return this
  }

  /** Says `text` from `from` on: words of 250 ms with pauses of 50 ms, and a voice. Returns when it ends. */
  say(from: Ms, text: string, prosody?: Prosody): Ms {
    const until = this.words(from, text)
    this.voice(from, until, prosody)
    return until
  }

  /** The words of `text` without a voice. */
  words(from: Ms, text: string): Ms {
    const texts = text.split(' ')
    for (const [i, word] of texts.entries()) this.word(word, from + i * 300, from + i * 300 + 250)
    return from + texts.length * 300 - 50
  }

  word(text: string, from: Ms, until: Ms): void {
    this.#spoken.push({ text, startMs: this.#start + from, endMs: this.#start + until })
    const { partialMs } = this.#detectors
    const count = this.#spoken.length
    if (partialMs !== null) this.at(until + partialMs, () => this.#deliverPartial(count))
  }

  /** Says these words with a voice that bridges pauses shorter than the hang-over. */
  speak(words: readonly { readonly text: string; readonly from: Ms; readonly until: Ms }[]): this {
    let from: Ms | null = null
    for (const [i, word] of words.entries()) {
      this.word(word.text, word.from, word.until)
      from ??= word.from
      const next = words[i + 1]
      if (next !== undefined && next.from - word.until <= this.#detectors.hangoverMs) continue
      this.voice(from, word.until)
      from = null
    }
    return this
  }

  /** Delivers the words up to `until` as a final; `fromFinalize`: as the answer to `finalize`. */
  deliverFinal(until: Ms, fromFinalize = false): void {
    const known = this.#spoken.findLastIndex(({ endMs }) => endMs <= this.#start + until) + 1
    const count = Math.max(known, this.#reported)
    const words = this.#spoken.slice(this.#final, count)
    if (words.length === 0 && !fromFinalize) return
    this.#final = count
    this.#reported = count
    this.input({ type: 'final', text: textOf(words), words, fromFinalize })
  }

  #deliverPartial(count: number): void {
    if (count <= this.#reported) return
    this.#reported = count
    const words = this.#spoken.slice(this.#final, count).map(word => this.#detectors.mishear(word))
    this.input({ type: 'partial', text: textOf(words), words })
  }

  /** Speech from `from` to `until` of which no word is understood. */
  mumble(from: Ms, until: Ms, reportedAfterMs: Ms = 300): this {
    this.voice(from, until)
    this.at(until + reportedAfterMs, () =>
      this.input({ type: 'unintelligible', startMs: this.#start + from, endMs: this.#start + until }),
    )
    return this
  }

  agentSpeaks(from: Ms, until: Ms): this {
    this.at(from, () => this.agentSpeaking(true))
    this.at(until, () => this.agentSpeaking(false))
    return this
  }

  agentSpeaking(speaking: boolean): void {
    if (this.#agentSpeaks === speaking) return
    this.#agentSpeaks = speaking
    this.input({ type: 'agent-speaking', speaking })
  }

  settings(change: Partial<TurnSettings>): void {
    this.#settings = { ...this.#settings, ...change }
    this.input({ type: 'settings', settings: this.#settings })
  }

  press(from: Ms, digits: string, everyMs: Ms = 200): this {
    for (const [i, digit] of [...digits].entries())
      this.at(from + i * everyMs, () => this.input({ type: 'digit', digit }))
    return this
  }

  runTo(at: Ms): this {
    this.time.advanceTo(this.#start + at)
    return this
  }

  /** Outputs that the caller could hear, each with its ms in the call: "1450 turn yes please", "300 pause". */
  get timedEvents(): string[] {
    return this.outputs.flatMap(({ at, output }) =>
      INAUDIBLE.includes(output.type) ? [] : [`${at - this.#start} ${describeOutput(output)}`],
    )
  }

  /** `timedEvents` without the times. */
  get events(): string[] {
    return this.timedEvents.map(line => line.slice(line.indexOf(' ') + 1))
  }

  /** Candidates, withdrawals and turns: "700 yes please", "900 goes on", "950 turn". */
  get candidates(): string[] {
    return this.outputs.flatMap(({ at, output }) => {
      if (output.type === 'candidate') return [`${at - this.#start} ${output.text}`]
      if (output.type === 'candidate-withdrawn') return [`${at - this.#start} goes on`]
      return output.type === 'turn' ? [`${at - this.#start} turn`] : []
    })
  }

  get turns() {
    return this.outputs.flatMap(({ at, output }) =>
      output.type === 'turn' ? [{ ...output.turn, givenMs: at - this.#start }] : [],
    )
  }

  #react(output: DialogueOutput): void {
    this.outputs.push({ at: this.time.now(), output })
    if (output.type === 'cut') this.agentSpeaking(false)
    if (output.type !== 'finalize' || this.#detectors.finalMs === null) return
    const requestedAt = this.now
    this.at(requestedAt + this.#detectors.finalMs, () => this.deliverFinal(requestedAt, true))
  }
}

/** Throws when the next deadline is in the past, and when it is not in the future after `advance`. */
function checkingDeadlines<Input, Output>(machine: Machine<Input, Output>): Machine<Input, Output> {
  const check = (now: Ms, mayBeNow: boolean) => {
    const deadline = machine.deadline()
    if (deadline === undefined || deadline > now || (mayBeNow && deadline === now)) return
    throw new Error(`at ${now} the next deadline is ${deadline}`)
  }
  return {
    handle: (now, input) => {
      machine.handle(now, input)
      check(now, true)
    },
    advance: now => {
      machine.advance(now)
      check(now, false)
    },
    poll: () => machine.poll(),
    deadline: () => machine.deadline(),
  }
}

function textOf(words: readonly SpokenWord[]): string {
  return words.map(({ text }) => text).join(' ')
}

function describeOutput(output: DialogueOutput): string {
  switch (output.type) {
    case 'begin':
      return output.opening === null ? 'begin' : `begin after: ${output.opening.text}`
    case 'turn':
      return `turn ${output.turn.text}`.trim()
    case 'aside':
      return `aside ${output.turn.text}`
    case 'digits':
      return output.question === null ? `digits ${output.digits}` : `digits ${output.digits} of ${output.question}`
    case 'unused-digits':
      return `unused digits ${output.digits}`
    case 'silence':
      return output.kind
    case 'duck':
      return output.on ? 'duck' : 'unduck'
    case 'backchannel':
      return `backchannel ${output.word}`
    default:
      return output.type
  }
}
