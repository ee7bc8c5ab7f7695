import {
  AnswerDetector,
  type AnswerInput,
  type DialogueInput,
  isMachine,
  TurnMachine,
  type Verdict,
} from '@parley/dialogue'
import { SeededRandom } from '@parley/kernel'
import { CallTones, VoiceActivity } from '@parley/media'
import type { CalleeAudio } from './callee-audio.ts'
import type { Transcript } from './simulated-recogniser.ts'

const FRAME = 160
const FRAME_MS = 20
const HANGOVER_MS = 80
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

export interface JudgeOptions {
  readonly language: string
  /** The answer lies in the audio; before it is early media. */
  readonly answeredMs: number
  /** Default: sound and words. */
  readonly withWords?: boolean
  readonly withSound?: boolean
}

/** Runs the detector of the engine over received audio, as a call does: voice activity and tones every 20 ms, words as they come. */
export function judge(
  audio: CalleeAudio['samples'],
  transcripts: readonly Transcript[],
  options: JudgeOptions,
): Judgement {
  const call = new JudgedCall(options)
  const words = [...transcripts]
  for (let at = 0; at + FRAME <= audio.length; at += FRAME) {
    const now = at / 8 + FRAME_MS
    for (let next = words[0]; next !== undefined && next.atMs <= now; next = words[0]) {
      call.words(words.shift()!)
    }
    call.frame(now, at, audio)
  }
  return call.judgement
}

class JudgedCall {
  readonly #options: JudgeOptions
  readonly #activity = new VoiceActivity({ hangoverMs: HANGOVER_MS })
  readonly #tones = new CallTones()
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
    this.#detector = new AnswerDetector({ languages: [options.language], timeoutMs: 30_000 })
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

  frame(now: number, at: number, audio: Int16Array): void {
    if (!this.#answered && now >= this.#options.answeredMs) {
      this.#answered = true
      this.#detect(now, { type: 'answered' })
      this.#turn(now, { type: 'connected' })
    }
    const activity = this.#activity
    activity.push(at, audio, at, FRAME)
    for (let edge = activity.take(); edge !== null; edge = activity.take()) {
      const ms = activity.position / 8
      if (edge === 'voice-start') this.#voice(now, { type: 'voice-started', startedAt: ms })
      else this.#voice(now, { type: 'voice-stopped', stoppedAt: ms })
    }
    this.#tones.push(at, audio, at, FRAME)
    for (let type = this.#tones.take(); type !== null; type = this.#tones.take()) {
      const ms = this.#tones.position / 8
      if (type === 'tone-ended') this.#detect(now, { type, at: ms, isIsolated: this.#tones.isIsolated })
      else
        this.#detect(now, {
          type: 'tone-started',
          tone: type === 'tone-started' ? 'tone' : type,
          hz: this.#tones.hz,
          at: ms,
        })
    }
    this.#advance(now)
  }

  #voice(now: number, input: AnswerInput & DialogueInput): void {
    if (this.#options.withSound !== false) this.#detect(now, input)
    if (this.#answered) this.#turn(now, input)
  }

  #advance(now: number): void {
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
