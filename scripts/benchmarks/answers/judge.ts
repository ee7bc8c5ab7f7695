import { AnswerDetector, type AnswerInput, type DialogueInput, TurnMachine, type Verdict } from '@parley/dialogue'
import { isMachine, type PhrasePattern } from '@parley/dialogue/testing'
import { SeededRandom } from '@parley/kernel'
import type { Observation, Sound } from './observe.ts'
import type { Transcript } from './simulated-recogniser.ts'

const FRAME_MS = 20
/** How long the agent's first words last. */
const OPENING_MS = 4000

export interface Judgement {
  /** Verdicts in order, with ms since the answer. */
  readonly verdicts: readonly { readonly atMs: number; readonly verdict: Verdict }[]
  /** When the agent would begin without detection, and with it, ms since the answer; null: it does not. */
  readonly beginMs: number | null
  readonly beginWithDetectionMs: number | null
  readonly greetingOver: readonly { readonly atMs: number; readonly cause: 'beep' | 'silence' }[]
}

interface JudgeOptions {
  readonly language: string
  /** The answer lies in the audio; before it is early media. */
  readonly answeredMs: number
  /** Default: sound and words. */
  readonly withWords?: boolean
  readonly withSound?: boolean
  /** Default: all phrases of the language. */
  readonly phrases?: readonly PhrasePattern[] | undefined
}

/** Runs the detector of the engine on what is heard in a call of `lengthMs`, every 20 ms. */
export function judge(
  sounds: readonly Observation[],
  transcripts: readonly Transcript[],
  lengthMs: number,
  options: JudgeOptions,
): Judgement {
  const call = new JudgedCall(options)
  let nextSound = 0
  let nextWords = 0
  for (let now = FRAME_MS; now <= lengthMs; now += FRAME_MS) {
    call.answer(now)
    while (nextWords < transcripts.length && transcripts[nextWords]!.atMs <= now) call.words(transcripts[nextWords++]!)
    while (nextSound < sounds.length && sounds[nextSound]!.atMs <= now) call.sound(now, sounds[nextSound++]!.input)
    call.advance(now)
  }
  return call.judgement
}

class JudgedCall {
  readonly #options: JudgeOptions
  readonly #detector: AnswerDetector
  readonly #turns: TurnMachine
  readonly #verdicts: { atMs: number; verdict: Verdict }[] = []
  readonly #over: { atMs: number; cause: 'beep' | 'silence' }[] = []
  #answered = false
  #beginMs: number | null = null
  #detectedBeginMs: number | null = null
  #agentUntil: number | null = null

  constructor(options: JudgeOptions) {
    this.#options = options
    this.#detector = new AnswerDetector({ languages: [options.language], timeoutMs: 30_000 }, options.phrases)
    this.#turns = new TurnMachine(
      {
        languages: [options.language],
        settings: {
          interruptionSensitivity: 1,
          responsiveness: 1,
          reminderTriggerMs: 10_000,
          reminderMaxCount: 1,
          allowDtmfInterruption: false,
        },
        beginMessageDelayMs: 0,
        openerWaitsForCallee: true,
        endCallAfterSilenceMs: 600_000,
        maxCallDurationMs: 600_000,
        backchannel: { enabled: false, frequency: 0, words: [] },
      },
      new SeededRandom(1),
    )
  }

  get judgement(): Judgement {
    return {
      verdicts: this.#verdicts,
      beginMs: this.#beginMs,
      beginWithDetectionMs: this.#detectedBeginMs,
      greetingOver: this.#over,
    }
  }

  words({ atMs, isFinal, words }: Transcript): void {
    const text = words.map(word => word.text).join(' ')
    if (this.#options.withWords !== false) this.#detect(atMs, { type: isFinal ? 'final' : 'partial', text, words })
    if (!this.#answered) return
    if (isFinal) this.#turn(atMs, { type: 'final', text, words, fromFinalize: false })
    else this.#turn(atMs, { type: 'partial', text, words })
  }

  answer(now: number): void {
    if (this.#answered || now < this.#options.answeredMs) return
    this.#answered = true
    this.#detect(now, { type: 'answered' })
    this.#turn(now, { type: 'connected' })
  }

  sound(now: number, input: Sound): void {
    if (this.#options.withSound !== false) this.#detect(now, input)
    if (this.#answered && (input.type === 'voice-started' || input.type === 'voice-stopped')) this.#turn(now, input)
  }

  advance(now: number): void {
    const due = this.#detector.deadline()
    if (due !== undefined && due <= now) {
      this.#detector.advance(now)
      this.#drain(now)
    }
    const turn = this.#turns.deadline()
    if (turn !== undefined && turn <= now) {
      this.#turns.advance(now)
      this.#drainTurns(now)
    }
    if (this.#agentUntil !== null && now >= this.#agentUntil) {
      this.#agentUntil = null
      this.#detect(now, { type: 'agent-sound', on: false })
    }
  }

  #detect(now: number, input: AnswerInput): void {
    this.#detector.handle(now, input)
    this.#drain(now)
  }

  #drain(now: number): void {
    const atMs = now - this.#options.answeredMs
    for (let output = this.#detector.poll(); output !== undefined; output = this.#detector.poll()) {
      if (output.type === 'verdict') this.#verdicts.push({ atMs, verdict: output.verdict })
      if (output.type === 'greeting-over') this.#over.push({ atMs, cause: output.cause })
    }
    this.#maybeBegin(now)
  }

  #turn(now: number, input: DialogueInput): void {
    this.#turns.handle(now, input)
    this.#drainTurns(now)
  }

  #drainTurns(now: number): void {
    for (let output = this.#turns.poll(); output !== undefined; output = this.#turns.poll()) {
      if (output.type === 'begin') this.#beginMs ??= now - this.#options.answeredMs
    }
    this.#maybeBegin(now)
  }

  /** The agent begins when the turn machine says so, unless a machine was found by then. */
  #maybeBegin(now: number): void {
    if (this.#beginMs === null || this.#detectedBeginMs !== null) return
    const { verdict } = this.#detector
    if (verdict !== null && isMachine(verdict.class)) return
    this.#detectedBeginMs = now - this.#options.answeredMs
    this.#agentUntil = now + OPENING_MS
    this.#detector.handle(now, { type: 'agent-sound', on: true })
  }
}
