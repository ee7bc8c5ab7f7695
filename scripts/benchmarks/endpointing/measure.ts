import {
  type DialogueInput,
  type DialogueOptions,
  type DialogueOutput,
  type Endpointing,
  type SpokenWord,
  TurnMachine,
} from '../../../packages/dialogue/src/index.ts'
import { MachineDriver, SeededRandom, VirtualTime } from '../../../packages/kernel/src/index.ts'
import { type CallerTurnSaid, inventCaller, KINDS, type TurnKind } from './callers.ts'

/** What stands in for voice activity and for the recogniser: when an onset, an end and a word become known, ms. */
const ONSET_KNOWN = 60
const END_KNOWN = 200
const WORD_KNOWN = 150
/** Of the caller before the next turn; the agent speaks in between. */
const REST = 6000
const TURNS_PER_CALL = 12

export interface Conditions {
  readonly language: 'en' | 'es'
  /**
   * Whether the recogniser writes punctuation and capitals. `after every word`: each word ends with a full stop, so that every
   * text seems complete.
   */
  readonly punctuation: boolean | 'after every word'
  readonly endpointing: Endpointing
  /** The agent asked a question that fits the turn, and the turn machine knows it. Default false. */
  readonly knowsQuestion?: boolean
  readonly turns: number
  readonly seed: number
}

export interface Figures {
  readonly turns: number
  readonly pauses: number
  /** Shares of pauses inside turns that were taken for the end, and of turns cut off at least once. */
  readonly pauses_cut: number
  readonly turns_cut: number
  /** From the caller's last sound to the turn, ms. */
  readonly wait_mean_ms: number
  readonly wait_p50_ms: number
  readonly wait_p95_ms: number
  /** By kind of turn: share of its pauses cut (null: it has none) and mean wait. */
  readonly kinds: Readonly<Record<TurnKind, { pauses_cut: number | null; wait_mean_ms: number }>>
}

interface TurnResult {
  readonly kind: TurnKind
  readonly pauses: number
  readonly cuts: number
  readonly waitMs: number
}

/** Invented callers, twelve turns each, against the turn machine in virtual time. Throws when a turn never came. */
export function measureEndpointing(conditions: Conditions): Figures {
  const results: TurnResult[] = []
  for (let call = 0; results.length < conditions.turns; call++) {
    const turns = inventCaller(conditions.language, TURNS_PER_CALL, new SeededRandom(conditions.seed * 10_007 + call))
    results.push(...playCall(turns, conditions))
  }
  return figuresOf(results)
}

function playCall(turns: readonly CallerTurnSaid[], conditions: Conditions): TurnResult[] {
  const time = new VirtualTime()
  const given: number[] = []
  const line = new Line(time, conditions, () => given.push(time.now()))
  let at = 1000
  const places = turns.map(turn => {
    const from = at
    const end = from + turn.words.at(-1)!.until
    if (conditions.knowsQuestion === true) line.ask(turn.question, from - 500)
    line.speak(turn, from)
    line.agentSpeaks(end + REST / 2, end + REST / 2 + 1000)
    at = end + REST
    return { turn, from, end, next: at }
  })
  time.advanceTo(at)
  return places.map(({ turn, from, end, next }) => {
    const own = given.filter(when => when >= from && when < next)
    const answered = own.find(when => when >= end)
    if (answered === undefined) throw new Error(`no turn came after "${turn.words.map(({ text }) => text).join(' ')}"`)
    return {
      kind: turn.kind,
      pauses: turn.pauses.length,
      cuts: own.filter(when => when < end).length,
      waitMs: answered - end,
    }
  })
}

/** A call's voice activity and recogniser: partials 150 ms late, `finalize` answered at once with all words. */
class Line {
  readonly #time: VirtualTime
  readonly #driver: MachineDriver<DialogueInput, DialogueOutput>
  readonly #punctuation: Conditions['punctuation']
  #spoken: SpokenWord[] = []
  #final = 0

  constructor(time: VirtualTime, { language, endpointing, punctuation }: Conditions, onTurn: () => void) {
    this.#time = time
    this.#punctuation = punctuation
    const machine = new TurnMachine({ ...CALL, languages: [language], endpointing }, new SeededRandom(1))
    this.#driver = new MachineDriver(machine, time, output => {
      if (output.type === 'turn') onTurn()
      if (output.type === 'finalize') time.at(time.now(), () => this.#finalize())
    })
    this.#driver.handle({ type: 'connected' })
  }

  speak(turn: CallerTurnSaid, at: number): void {
    for (const word of turn.words) this.#word(word.text, at + word.from, at + word.until)
    const edges = [0, ...turn.pauses.flatMap(({ from, until }) => [from, until]), turn.words.at(-1)!.until]
    for (let i = 0; i < edges.length; i += 2) {
      const [startedAt, stoppedAt] = [at + edges[i]!, at + edges[i + 1]!]
      this.#at(startedAt + ONSET_KNOWN, { type: 'voice-started', startedAt })
      this.#at(stoppedAt + END_KNOWN, { type: 'voice-stopped', stoppedAt })
    }
  }

  ask(agentWords: string, at: number): void {
    this.#at(at, { type: 'question', question: { agentWords, conditions: [], fields: [] } })
  }

  agentSpeaks(from: number, until: number): void {
    this.#at(from, { type: 'agent-speaking', speaking: true })
    this.#at(until, { type: 'agent-speaking', speaking: false })
  }

  #word(written: string, startMs: number, endMs: number): void {
    const word = { text: transcribed(written, this.#punctuation), startMs, endMs }
    this.#time.at(endMs + WORD_KNOWN, () => {
      if (!this.#spoken.includes(word)) this.#spoken.push(word)
      const words = this.#spoken.slice(this.#final)
      if (words.length > 0) this.#driver.handle({ type: 'partial', text: textOf(words), words })
    })
  }

  #finalize(): void {
    const words = this.#spoken.slice(this.#final)
    this.#final = this.#spoken.length
    this.#driver.handle({ type: 'final', text: textOf(words), words, fromFinalize: true })
  }

  #at(when: number, input: DialogueInput): void {
    this.#time.at(when, () => this.#driver.handle(input))
  }
}

function transcribed(written: string, punctuation: Conditions['punctuation']): string {
  if (punctuation === true) return written
  const plain = written.replace(/[^\p{L}\p{N}' ]/gu, '')
  return punctuation === false ? plain.toLowerCase() : `${plain}.`
}

const CALL: Omit<DialogueOptions, 'languages' | 'endpointing'> = {
  settings: {
    interruptionSensitivity: 1,
    responsiveness: 1,
    reminderTriggerMs: 0,
    reminderMaxCount: 0,
    allowDtmfInterruption: false,
  },
  beginMessageDelayMs: 0,
  openerWaitsForCallee: false,
  endCallAfterSilenceMs: 3_600_000,
  maxCallDurationMs: 3_600_000,
  backchannel: { enabled: false, frequency: 0, words: [] },
}

function figuresOf(results: readonly TurnResult[]): Figures {
  const waits = results.map(({ waitMs }) => waitMs).sort((a, b) => a - b)
  const kinds = KINDS.map(kind => {
    const own = results.filter(result => result.kind === kind)
    const pauses = sum(own.map(result => result.pauses))
    const cut = pauses === 0 ? null : share(sum(own.map(({ cuts }) => cuts)) / pauses)
    return [kind, { pauses_cut: cut, wait_mean_ms: mean(own.map(({ waitMs }) => waitMs)) }] as const
  })
  const pauses = sum(results.map(result => result.pauses))
  return {
    turns: results.length,
    pauses,
    pauses_cut: share(sum(results.map(({ cuts }) => cuts)) / pauses),
    turns_cut: share(results.filter(({ cuts }) => cuts > 0).length / results.length),
    wait_mean_ms: mean(waits),
    wait_p50_ms: waits[Math.floor(waits.length / 2)]!,
    wait_p95_ms: waits[Math.floor(waits.length * 0.95)]!,
    kinds: Object.fromEntries(kinds) as Figures['kinds'],
  }
}

function textOf(words: readonly SpokenWord[]): string {
  return words.map(({ text }) => text).join(' ')
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : Math.round(sum(values) / values.length)
}

function share(value: number): number {
  return Math.round(value * 1000) / 1000
}
