import type { Ms } from '@parley/kernel'
import { BRIDGED_MS, type CallerVoice } from './caller-voice.ts'
import { CANDIDATE_MS } from './endpointing.ts'
import type { HeardWords } from './heard-words.ts'
import type { Interjection, InterjectionJudge } from './interjection.ts'
import type { DialogueOutput } from './protocol.ts'
import type { TurnCollector } from './turn-collector.ts'

const DUCK_AFTER_MS: Ms = 150
/** Without a word for this long after the voice stopped, the agent resumes. */
const RESUME_AFTER_MS: Ms = 700
/** Longest pause without a recognised word: after it the voice counts as noise. */
const MAX_PAUSE_MS: Ms = 6000
/** Speech without words interrupts from this length on. */
const REAL_SPEECH_MS: Ms = 1000
/** An acknowledgement that ends at most this long before the end of the agent's speech is an answer to it. */
const ANSWERS_WITHIN_MS: Ms = 1000

type Phase =
  /** `off`: the agent does not speak, or was cut. */
  'off' | 'listening' | 'ducked' | 'paused'

/**
 * Barge-in: decides whether the caller interrupts the agent. A voice first lowers the agent's volume, then pauses the agent. Words
 * other than an acknowledgement cut its speech; without words it resumes. Every pause ends in exactly one `resume` or `cut`:
 * 700 ms after the voice stopped (and after the recogniser answered `finalize`, or 1 s without an answer), at the latest 6 s
 * after the pause began. A voice without words that lasts longer counts as noise; it does not pause the agent again until it
 * has stopped.
 */
export class BargeIn {
  readonly #voice: CallerVoice
  readonly #words: HeardWords
  readonly #turns: TurnCollector
  readonly #judge: InterjectionJudge
  readonly #emit: (output: DialogueOutput) => void
  #speaking = false
  #phase: Phase = 'off'
  #isDucked = false
  #pausedAt: Ms = 0
  /** End of the last acknowledgement, after which the agent went on speaking. */
  #acknowledgedAt: Ms = Number.NEGATIVE_INFINITY
  /** Number of speeches of the agent so far; 1: it is greeting. */
  #speeches = 0
  /** The agent asks for a yes or no. */
  #asksYesNo = false
  /** The voice counts as noise: no pause until the line has been silent for a while. */
  #ignoresVoice = false
  #deadline: Ms | undefined

  constructor(
    parts: { voice: CallerVoice; words: HeardWords; turns: TurnCollector; judge: InterjectionJudge },
    emit: (output: DialogueOutput) => void,
  ) {
    this.#voice = parts.voice
    this.#words = parts.words
    this.#turns = parts.turns
    this.#judge = parts.judge
    this.#emit = emit
  }

  /** The agent speaks or is paused, and was not cut. */
  get holdsFloor(): boolean {
    return this.#phase !== 'off'
  }

  get isPaused(): boolean {
    return this.#phase === 'paused'
  }

  agentSpeaking(now: Ms, speaking: boolean): void {
    if (speaking) {
      if (this.holdsFloor) return
      this.#speaking = true
      this.#speeches++
      this.#phase = 'listening'
      this.#acknowledgedAt = Number.NEGATIVE_INFINITY
      return
    }
    if (!this.#speaking) return
    this.#speaking = false
    if (this.#phase === 'paused') this.#resume()
    this.#unduck()
    this.#phase = 'off'
    this.#takeFinalAssent(now)
  }

  unintelligible(now: Ms, lengthMs: Ms, sensitivity: number): void {
    if (this.holdsFloor && sensitivity > 0 && lengthMs >= REAL_SPEECH_MS) this.#interrupt(now)
  }

  /** Words arrived or were revised. */
  onWords(now: Ms, sensitivity: number): void {
    if (this.#words.acknowledgedUntilMs !== null) {
      if (!this.#words.isAcknowledgementRevised || isNoTurn(this.#judgement())) return
      this.#words.unmarkAcknowledgement()
    }
    if (!this.holdsFloor || sensitivity <= 0 || this.#words.count === 0) return
    const judgement = this.#judgement()
    if (judgement === 'words' || judgement === 'stop') this.#interrupt(now)
    else if (judgement === 'unclear') this.#pause(now)
  }

  /** The agent has begun to ask. `yesNo`: whether a yes or no answers it. */
  asks(yesNo: boolean): void {
    this.#asksYesNo = yesNo
  }

  /** A digit that may interrupt was pressed. */
  digit(): void {
    if (this.holdsFloor) this.#cut()
  }

  /** The call is over. */
  end(): void {
    if (this.#phase === 'paused') this.#resume()
    this.#unduck()
    this.#phase = 'off'
  }

  settle(now: Ms, sensitivity: number): void {
    this.#deadline = undefined
    if (!this.holdsFloor) return
    if (sensitivity <= 0) return this.#disallowInterruptions()
    if (this.#phase === 'paused') return this.#settlePaused(now)
    const { speaking, startedAt, stoppedAt } = this.#voice
    if (this.#phase === 'ducked' && !speaking) this.#settleDucked(now, stoppedAt)
    if (this.#ignoresVoice && !speaking && now >= stoppedAt + RESUME_AFTER_MS) this.#ignoresVoice = false
    this.#settleAcknowledgement(now)
    if (!this.#voice.isTalking(now) || this.#ignoresVoice) return
    const duckAt = startedAt + DUCK_AFTER_MS
    const pauseAt = startedAt + pauseAfter(sensitivity)
    if (now >= pauseAt) {
      this.#pause(now)
      return this.#settlePaused(now)
    }
    if (now >= duckAt && this.#phase === 'listening') this.#duck()
    this.#wake(now >= duckAt ? pauseAt : duckAt)
  }

  /** When `settle` must run next. */
  deadline(): Ms | undefined {
    return this.#deadline
  }

  #settleDucked(now: Ms, stoppedAt: Ms): void {
    if (now < stoppedAt + BRIDGED_MS) return this.#wake(stoppedAt + BRIDGED_MS)
    this.#unduck()
    this.#phase = 'listening'
  }

  /** Ends the pause when it is decided whether it was an interruption. */
  #settlePaused(now: Ms): void {
    const noiseAt = this.#pausedAt + MAX_PAUSE_MS
    if (now >= noiseAt) {
      this.#ignoresVoice = true
      this.#voice.declareNoise()
      return this.#settleWithoutMoreWords(now)
    }
    this.#deadline = noiseAt
    const quietSince = this.#turns.quietSince(now)
    if (quietSince === null) return
    // `finalize` in a gap between two words would separate them.
    if (now < quietSince + CANDIDATE_MS) return this.#wake(quietSince + CANDIDATE_MS)
    const answerAt = this.#turns.requestPendingWords(now, quietSince)
    const resumeAt = Math.max(quietSince + RESUME_AFTER_MS, answerAt ?? quietSince)
    if (now >= resumeAt) this.#settleWithoutMoreWords(now)
    else this.#deadline = Math.min(resumeAt, noiseAt)
  }

  /** No more words will come. Words that could still have become an acknowledgement now interrupt. */
  #settleWithoutMoreWords(now: Ms): void {
    if (this.#words.count > 0 && this.#judgement() === 'unclear') return this.#interrupt(now)
    this.#resume()
    this.#phase = 'listening'
    this.#acknowledgedAt = now
    this.#words.markAcknowledgement()
    this.#turns.discardVoice()
  }

  /** Marks words that did not pause the agent as an acknowledgement, 700 ms after they ended. */
  #settleAcknowledgement(now: Ms): void {
    const wordEnd = this.#words.count > 0 ? this.#words.lastEndMs : null
    const overAt = wordEnd ?? (this.#turns.isPending ? this.#turns.quietSince(now) : null)
    if (overAt === null) return
    const dismissAt = overAt + RESUME_AFTER_MS
    if (now < dismissAt) return this.#wake(dismissAt)
    this.#acknowledgedAt = overAt
    this.#words.markAcknowledgement()
    this.#turns.discardVoice()
  }

  #wake(at: Ms): void {
    this.#deadline = Math.min(this.#deadline ?? at, at)
  }

  #judgement(): Interjection {
    const words = this.#words.all
    const judgement = this.#judge.judge(words, this.#speeches <= 1)
    const isAnswer = this.#asksYesNo && judgement === 'acknowledgement' && this.#judge.isAcceptance(words)
    return isAnswer ? 'words' : judgement
  }

  /** The sensitivity is 0: the agent speaks on at full volume. */
  #disallowInterruptions(): void {
    if (this.#phase === 'paused') this.#resume()
    this.#unduck()
    this.#phase = 'listening'
  }

  #interrupt(now: Ms): void {
    this.#pause(now)
    this.#words.unmarkAcknowledgement()
    this.#turns.requireTurn(now)
    this.#cut()
  }

  /** The agent counts as silent from now on; the owner confirms with `agent-speaking` false. */
  #cut(): void {
    this.#phase = 'off'
    this.#emit({ type: 'cut' })
    this.#unduck()
  }

  #pause(now: Ms): void {
    if (this.#phase === 'paused') return
    this.#phase = 'paused'
    this.#pausedAt = now
    this.#emit({ type: 'pause' })
  }

  #resume(): void {
    this.#unduck()
    this.#emit({ type: 'resume' })
  }

  #duck(): void {
    if (this.#isDucked) return
    this.#isDucked = true
    if (this.#phase === 'listening') this.#phase = 'ducked'
    this.#emit({ type: 'duck', on: true })
  }

  #unduck(): void {
    if (!this.#isDucked) return
    this.#isDucked = false
    this.#emit({ type: 'duck', on: false })
  }

  /** An assent at the end of the agent's speech counts as the answer to it. */
  #takeFinalAssent(now: Ms): void {
    if (this.#words.acknowledgedUntilMs === null || now - this.#acknowledgedAt > ANSWERS_WITHIN_MS) return
    if (this.#judge.isAssent(this.#words.all)) this.#words.unmarkAcknowledgement()
  }
}

/** Length of voice that pauses the agent: 300 ms at sensitivity 1, 400 at 0.5, towards 1000 at 0. */
function pauseAfter(sensitivity: number): Ms {
  return sensitivity >= 0.5 ? 300 + (1 - sensitivity) * 200 : 400 + (0.5 - sensitivity) * 1200
}

function isNoTurn(judgement: Interjection): boolean {
  return judgement === 'nothing' || judgement === 'acknowledgement'
}
