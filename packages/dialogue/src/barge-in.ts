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
const LONGEST_PAUSE_MS: Ms = 6000
/** Speech without words of this length interrupts; shorter speech is a mere sound. */
const REAL_SPEECH_MS: Ms = 1000
/** An acknowledgement that ends this shortly before the agent's speech is an answer to it. */
const ANSWERS_WITHIN_MS: Ms = 1000

type Phase =
  /** The agent does not speak, or was cut. */
  'off' | 'listening' | 'ducked' | 'paused'

/**
 * Barge-in: decides whether the caller interrupts the agent. A voice makes the agent speak lower, then pause; words beyond an
 * acknowledgement cut it; without words it resumes. Every pause ends in exactly one `resume` or `cut`: 700 ms after the
 * voice stopped (and after the recogniser answered `finalize`, or 1 s without an answer), at the latest 6 s after the
 * pause began. A voice without words that lasts longer is noise, and does not pause the agent again until it has stopped.
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
  /** The agent has been heard on since then after the last acknowledgement. */
  #wentOnAt: Ms = Number.NEGATIVE_INFINITY
  /** The agent's first speech, its greeting, is playing. */
  #speeches = 0
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

  agentSpeaking(now: Ms, speaking: boolean): void {
    if (speaking) {
      if (this.holdsFloor) return
      this.#speaking = true
      this.#speeches++
      this.#phase = 'listening'
      this.#wentOnAt = Number.NEGATIVE_INFINITY
      return
    }
    if (!this.#speaking) return
    this.#speaking = false
    if (this.#phase === 'paused') this.#resume()
    this.#unduck()
    this.#phase = 'off'
    this.#answeredAtTheEnd(now)
  }

  unintelligible(now: Ms, lengthMs: Ms, sensitivity: number): void {
    if (this.holdsFloor && sensitivity > 0 && lengthMs >= REAL_SPEECH_MS) this.#interrupt(now)
  }

  /** Words arrived or were revised. */
  onWords(now: Ms, sensitivity: number): void {
    if (this.#words.asideUntilMs !== null) {
      if (!this.#words.isAsideRevised || isNoTurn(this.#judgement())) return
      this.#words.readmit()
    }
    if (!this.holdsFloor || sensitivity <= 0 || this.#words.count === 0) return
    const judgement = this.#judgement()
    if (judgement === 'words' || judgement === 'stop') this.#interrupt(now)
    else if (judgement === 'unclear') this.#pause(now)
  }

  /** A digit that may interrupt. */
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
    if (sensitivity <= 0) return this.#yieldNothing()
    if (this.#phase === 'paused') return this.#settlePaused(now)
    const { speaking, startedAt, stoppedAt } = this.#voice
    if (this.#phase === 'ducked' && !speaking) this.#settleDucked(now, stoppedAt)
    if (this.#ignoresVoice && !speaking && now >= stoppedAt + RESUME_AFTER_MS) this.#ignoresVoice = false
    this.#settleAside(now)
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

  /** Whether the pause is over. */
  #settlePaused(now: Ms): void {
    const noiseAt = this.#pausedAt + LONGEST_PAUSE_MS
    if (now >= noiseAt) {
      this.#ignoresVoice = true
      this.#voice.declareNoise()
      return this.#settleDoubt(now)
    }
    this.#deadline = noiseAt
    const quietSince = this.#turns.quietSince(now)
    if (quietSince === null) return
    // A request in a gap between two words would split them.
    if (now < quietSince + CANDIDATE_MS) return this.#wake(quietSince + CANDIDATE_MS)
    const answerAt = this.#turns.askForHeldBack(now, quietSince)
    const resumeAt = Math.max(quietSince + RESUME_AFTER_MS, answerAt ?? quietSince)
    if (now >= resumeAt) this.#settleDoubt(now)
    else this.#deadline = Math.min(resumeAt, noiseAt)
  }

  /** No more words will come: words that could have become an acknowledgement did not. */
  #settleDoubt(now: Ms): void {
    if (this.#words.count > 0 && this.#judgement() === 'unclear') return this.#interrupt(now)
    this.#resume()
    this.#phase = 'listening'
    this.#wentOnAt = now
    this.#words.setAside()
    this.#turns.forgetVoice()
  }

  /** What was said without pausing the agent, and is over: an acknowledgement, or nothing. */
  #settleAside(now: Ms): void {
    const wordEnd = this.#words.count > 0 ? this.#words.lastEndMs : null
    const overAt = wordEnd ?? (this.#turns.isPending ? this.#turns.quietSince(now) : null)
    if (overAt === null) return
    const asideAt = overAt + RESUME_AFTER_MS
    if (now < asideAt) return this.#wake(asideAt)
    this.#wentOnAt = overAt
    this.#words.setAside()
    this.#turns.forgetVoice()
  }

  #wake(at: Ms): void {
    this.#deadline = Math.min(this.#deadline ?? at, at)
  }

  #judgement(): Interjection {
    return this.#judge.judge(this.#words.all, this.#speeches <= 1)
  }

  /** Interruptions of the agent became disallowed. */
  #yieldNothing(): void {
    if (this.#phase === 'paused') this.#resume()
    this.#unduck()
    this.#phase = 'listening'
  }

  #interrupt(now: Ms): void {
    this.#pause(now)
    this.#words.readmit()
    this.#turns.owe(now)
    this.#cut()
  }

  /** The owner answers with `agent-speaking` false; until then the agent counts as silent. */
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

  /** An acknowledgement at the very end of the agent's speech is the answer to it. */
  #answeredAtTheEnd(now: Ms): void {
    if (this.#words.asideUntilMs === null || now - this.#wentOnAt > ANSWERS_WITHIN_MS) return
    if (this.#judge.isAssent(this.#words.all)) this.#words.readmit()
  }
}

/** Voice that pauses the agent: 300 ms at sensitivity 1, 400 at 0.5, towards 1000 at 0. */
function pauseAfter(sensitivity: number): Ms {
  return sensitivity >= 0.5 ? 300 + (1 - sensitivity) * 200 : 400 + (0.5 - sensitivity) * 1200
}

function isNoTurn(judgement: Interjection): boolean {
  return judgement === 'nothing' || judgement === 'acknowledgement'
}
