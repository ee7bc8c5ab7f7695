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

/** Outputs that the caller does not notice. */
const UNHEARD: readonly DialogueOutput['type'][] = ['finalize', 'candidate', 'goes-on']

/** How the voice detector and the recogniser of a scripted call behave. */
export interface Senses {
  /** From a voice's onset and end to their being known; default 60 and 200. */
  readonly onsetMs?: Ms
  readonly hangoverMs?: Ms
  /** From the end of a word to the partial that has it; null: words come only as the answer to `finalize`; default 150. */
  readonly partialMs?: Ms | null
  /** From `finalize` to its answer; null: it never comes; default 100. */
  readonly finalMs?: Ms | null
  /** How a word appears in a partial; default: as it is. */
  readonly mishear?: (word: SpokenWord) => SpokenWord
}

type SettingsChange = Partial<Omit<DialogueOptions, 'settings'>> & { readonly settings?: Partial<TurnSettings> }

/**
 * One call in virtual time: the machine gets what the caller says as a voice detector and a recogniser would report
 * it; its outputs are recorded with their times. The agent's speech obeys the outputs.
 */
export class ScriptedCall {
  readonly time = new VirtualTime(1_000_000)
  readonly outputs: { readonly at: Ms; readonly output: DialogueOutput }[] = []
  readonly machine: TurnMachine
  readonly #driver: MachineDriver<DialogueInput, DialogueOutput>
  readonly #senses: Required<Senses>
  readonly #start = this.time.now()
  /** All that the caller says, on the machine's clock; of those, how many were reported as final, and how many at all. */
  #spoken: SpokenWord[] = []
  #final = 0
  #reported = 0
  #agentSpeaks = false
  #settings: TurnSettings

  constructor(change: SettingsChange = {}, senses: Senses = {}, seed = 1) {
    this.#senses = { onsetMs: 60, hangoverMs: 200, partialMs: 150, finalMs: 100, mishear: word => word, ...senses }
    this.#settings = { ...SETTINGS, ...change.settings }
    const options = { ...OPTIONS, ...change, settings: this.#settings }
    this.machine = new TurnMachine(options, new SeededRandom(seed))
    this.#driver = new MachineDriver(neverLate(this.machine), this.time, output => this.#react(output))
  }

  /** ms since the call was made. */
  get now(): Ms {
    return this.time.now() - this.#start
  }

  connect(): this {
    this.tell({ type: 'connected' })
    return this
  }

  tell(input: DialogueInput): void {
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
    this.at(from + this.#senses.onsetMs, () => this.tell({ type: 'voice-started', startedAt }))
    this.at(until + this.#senses.hangoverMs, () =>
      this.tell({ type: 'voice-stopped', stoppedAt, ...(prosody === undefined ? {} : { prosody }) }),
    )
    return this
  }

  /** Says `text` from `from` on with a voice, 250 ms a word of 50 ms of pause; returns when it ends. */
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
    const { partialMs } = this.#senses
    const count = this.#spoken.length
    if (partialMs !== null) this.at(until + partialMs, () => this.#tellPartial(count))
  }

  /** Words one after the other, with the voice that they make: silences shorter than the hang-over are bridged. */
  speak(words: readonly { readonly text: string; readonly from: Ms; readonly until: Ms }[]): this {
    let from: Ms | null = null
    for (const [i, word] of words.entries()) {
      this.word(word.text, word.from, word.until)
      from ??= word.from
      const next = words[i + 1]
      if (next !== undefined && next.from - word.until <= this.#senses.hangoverMs) continue
      this.voice(from, word.until)
      from = null
    }
    return this
  }

  /** What was said until `until` becomes final, unasked or as the answer to `finalize`. */
  tellFinal(until: Ms, fromFinalize = false): void {
    const known = this.#spoken.findLastIndex(({ endMs }) => endMs <= this.#start + until) + 1
    const count = Math.max(known, this.#reported)
    const words = this.#spoken.slice(this.#final, count)
    if (words.length === 0 && !fromFinalize) return
    this.#final = count
    this.#reported = count
    this.tell({ type: 'final', text: textOf(words), words, fromFinalize })
  }

  #tellPartial(count: number): void {
    if (count <= this.#reported) return
    this.#reported = count
    const words = this.#spoken.slice(this.#final, count).map(word => this.#senses.mishear(word))
    this.tell({ type: 'partial', text: textOf(words), words })
  }

  /** Speech from `from` to `until` of which no word is understood. */
  mumble(from: Ms, until: Ms, toldAfterMs: Ms = 300): this {
    this.voice(from, until)
    this.at(until + toldAfterMs, () =>
      this.tell({ type: 'unintelligible', startMs: this.#start + from, endMs: this.#start + until }),
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
    this.tell({ type: 'agent-speaking', speaking })
  }

  settings(change: Partial<TurnSettings>): void {
    this.#settings = { ...this.#settings, ...change }
    this.tell({ type: 'settings', settings: this.#settings })
  }

  press(from: Ms, digits: string, everyMs: Ms = 200): this {
    for (const [i, digit] of [...digits].entries())
      this.at(from + i * everyMs, () => this.tell({ type: 'digit', digit }))
    return this
  }

  runTo(at: Ms): this {
    this.time.advanceTo(this.#start + at)
    return this
  }

  /** What was put out, each with its ms in the call: "1450 turn yes please", "300 pause". What changes nothing for the caller is left out. */
  get said(): string[] {
    return this.outputs.flatMap(({ at, output }) =>
      UNHEARD.includes(output.type) ? [] : [`${at - this.#start} ${inWords(output)}`],
    )
  }

  /** The same without times. */
  get events(): string[] {
    return this.said.map(line => line.slice(line.indexOf(' ') + 1))
  }

  /** Candidates and what became of them: "700 yes please", "900 goes on", "950 turn". */
  get candidates(): string[] {
    return this.outputs.flatMap(({ at, output }) => {
      if (output.type === 'candidate') return [`${at - this.#start} ${output.text}`]
      if (output.type === 'goes-on') return [`${at - this.#start} goes on`]
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
    if (output.type !== 'finalize' || this.#senses.finalMs === null) return
    const askedAt = this.now
    this.at(askedAt + this.#senses.finalMs, () => this.tellFinal(askedAt, true))
  }
}

/** The machine, refused when after any step it wants to be called for a time that is not ahead. */
function neverLate<Input, Output>(machine: Machine<Input, Output>): Machine<Input, Output> {
  const check = (now: Ms) => {
    const deadline = machine.deadline()
    if (deadline !== undefined && !(deadline > now)) throw new Error(`at ${now} the next deadline is ${deadline}`)
  }
  return {
    handle: (now, input) => {
      machine.handle(now, input)
      check(now)
    },
    advance: now => {
      machine.advance(now)
      check(now)
    },
    poll: () => machine.poll(),
    deadline: () => machine.deadline(),
  }
}

function textOf(words: readonly SpokenWord[]): string {
  return words.map(({ text }) => text).join(' ')
}

function inWords(output: DialogueOutput): string {
  switch (output.type) {
    case 'begin':
      return output.opening === null ? 'begin' : `begin after: ${output.opening.text}`
    case 'turn':
      return `turn ${output.turn.text}`.trim()
    case 'digits':
      return `digits ${output.digits}`
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
