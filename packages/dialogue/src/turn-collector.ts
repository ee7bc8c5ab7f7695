import type { Ms } from '@parley/kernel'
import type { CallerVoice } from './caller-voice.ts'
import { EndOfTurnCandidate } from './end-of-turn-candidate.ts'
import type { EndOfTurn, Silence } from './endpointing.ts'
import type { HeardWords } from './heard-words.ts'
import { PendingWords, RECOGNISER_PATIENCE_MS } from './pending-words.ts'
import type { CallerTurn, SpokenWord } from './protocol.ts'

/** Words that end later than the voice did by more than this were missed by voice activity. */
const UNSEEN_MS: Ms = 300
/** Least silence that ends a turn whose words voice activity missed: the next word may be under way. */
const UNSEEN_SILENCE_MS: Ms = 700
/** The transcript is incomplete when the voice went on for this long after its last word. */
const BEHIND_MS: Ms = 450
/** A voice that goes on without words after some were said does not keep the turn for longer, nor when the recogniser calls it over. */
const WORDLESS_MS: Ms = 3000
const WORDLESS_AFTER_END_MS: Ms = 800
/** The same with a recogniser that sends no partials. */
const WORDLESS_WITHOUT_PARTIALS_MS: Ms = 15_000
const FIRM_CONFIDENCE = 0.5
/** Speech without words shorter than this is a cough. */
const LEAST_SPEECH_MS: Ms = 250
/** A turn of this many words is reported without waiting for its end. */
const MOST_WORDS = 4000
/** Longest pause that is learnt when the caller goes on after the turn was reported. */
const CUT_OFF_WITHIN_MS: Ms = 2000

/** What the gathering of turns asks for. */
interface CallerTurnsPort {
  give(turn: CallerTurn): void
  finalize(): void
  /** The turn may be over; or it is not. */
  candidate(text: string): void
  goesOn(): void
}

/**
 * Collects the caller's words into turns: decides by `EndOfTurn` when one is over, asks the recogniser to finalise,
 * and reports the turn once. All decisions are made in `settle`, which the owner calls after each change.
 */
export class TurnCollector {
  readonly #voice: CallerVoice
  readonly #words: HeardWords
  readonly #ends: EndOfTurn
  readonly #port: CallerTurnsPort
  readonly #held = new PendingWords()
  readonly #candidate: EndOfTurnCandidate
  /** Start of the first voice that belongs to no turn yet. */
  #onset: Ms | null = null
  /** Speech without words in this turn. */
  #unintelligible: { readonly startMs: Ms; readonly endMs: Ms } | null = null
  /** When the agent was cut: a turn must follow, if only a blank one. */
  #owedSince: Ms | null = null
  #endOfTurn: { readonly confidence: number; readonly eager: boolean; readonly afterWordMs: Ms } | null = null
  /** When the silence was long enough; since then the turn waits for the recogniser. */
  #decidedAt: Ms | null = null
  #lastFinalAt: Ms | null = null
  #hearsPartials = false
  /** While the agent could not be interrupted nothing was decided: until when. */
  #suspendedUntil: Ms = Number.NEGATIVE_INFINITY
  #isSuspended = false
  #given: { readonly endMs: Ms } | null = null
  #deadline: Ms | undefined

  constructor(voice: CallerVoice, words: HeardWords, ends: EndOfTurn, port: CallerTurnsPort) {
    this.#voice = voice
    this.#words = words
    this.#ends = ends
    this.#port = port
    this.#candidate = new EndOfTurnCandidate(
      text => port.candidate(text),
      () => port.goesOn(),
    )
  }

  voiceStarted(at: Ms): void {
    const wasCutOff = this.#given !== null && at - this.#given.endMs <= CUT_OFF_WITHIN_MS
    const goesOn = this.#words.count > 0 || wasCutOff
    if (goesOn && this.#voice.hasSpoken) this.#ends.learnPause(at - this.#voice.stoppedAt)
    this.#given = null
    this.#onset ??= at
    this.#candidate.goesOn()
    this.#endOfTurn = null
    this.#decidedAt = null
  }

  partial(): void {
    this.#hearsPartials = true
  }

  final(now: Ms, lastWordEndMs: Ms | null, fromFinalize: boolean): void {
    this.#held.final(lastWordEndMs, fromFinalize)
    if (lastWordEndMs !== null) this.#lastFinalAt = now
  }

  unintelligible(startMs: Ms, endMs: Ms): void {
    this.#held.unintelligible(endMs)
    if (endMs - startMs < LEAST_SPEECH_MS) return
    this.#unintelligible = { startMs: this.#unintelligible?.startMs ?? startMs, endMs }
  }

  endOfTurn(confidence: number, eager: boolean): void {
    const afterWordMs = this.#words.lastEndMs ?? Number.NEGATIVE_INFINITY
    this.#endOfTurn = { confidence: Math.min(Math.max(confidence || 0, 0), 1), eager, afterWordMs }
  }

  turnResumed(): void {
    this.#endOfTurn = null
    this.#decidedAt = null
  }

  /** After this a turn follows, even without recognised words. */
  owe(now: Ms): void {
    this.#owedSince ??= now
  }

  /** The voice was no interruption: the agent resumes. */
  forgetVoice(): void {
    this.#onset = this.#voice.speaking ? this.#voice.startedAt : null
    this.#unintelligible = null
    this.#decidedAt = null
  }

  /** The agent has begun to speak: the caller's next pause does not show that the last turn was ended too early. */
  agentSpoke(): void {
    this.#given = null
  }

  /**
   * Asks the recogniser to finalise, once since `since`. Returns when its answer times out;
   * null: no answer is outstanding.
   */
  askForHeldBack(now: Ms, since: Ms): Ms | null {
    const quietSince = this.quietSince(now)
    if (quietSince === null || !this.#holdsBack(quietSince)) return null
    const dueAt = this.#held.answerDueAt(quietSince)
    if (dueAt !== null || this.#held.lastAskedAt >= since) return dueAt
    this.#held.ask(now)
    this.#port.finalize()
    return now + RECOGNISER_PATIENCE_MS
  }

  /** There are, or may be, words that are in no turn yet. */
  get isPending(): boolean {
    return this.#words.count > 0 || this.#unintelligible !== null || this.#owedSince !== null || this.#onset !== null
  }

  get startMs(): Ms | null {
    return this.#onset ?? this.#words.all[0]?.startMs ?? null
  }

  /** The end of the caller's last speech; null while the caller speaks. */
  quietSince(now: Ms): Ms | null {
    const { speaking, stoppedAt } = this.#voice
    const wordEnd = this.#words.lastEndMs ?? Number.NEGATIVE_INFINITY
    const owedSince = this.#words.count === 0 ? this.#owedSince : null
    if (speaking) return now >= this.#noiseFrom() ? Math.max(wordEnd, owedSince ?? wordEnd) : null
    const unseen = Math.max(wordEnd, this.#unintelligible?.endMs ?? wordEnd)
    return Math.max(stoppedAt, unseen > stoppedAt + UNSEEN_MS ? unseen : stoppedAt, owedSince ?? stoppedAt)
  }

  /** `suspended`: the agent speaks and is not interrupted, so no turn ends. */
  settle(now: Ms, responsiveness: number, suspended: boolean): void {
    this.#deadline = undefined
    this.#held.expire(now)
    if (this.#words.count >= MOST_WORDS) return this.#give(now, now, now)
    if (this.#isSuspended) this.#suspendedUntil = now
    this.#isSuspended = suspended
    if (suspended) {
      this.#candidate.goesOn()
      this.#decidedAt = null
      return
    }
    if (!this.isPending) return
    const quietSince = this.quietSince(now)
    if (quietSince === null) {
      const noiseFrom = this.#noiseFrom()
      this.#deadline = noiseFrom < Number.POSITIVE_INFINITY ? noiseFrom : undefined
      return
    }
    this.#decide(now, quietSince, responsiveness)
  }

  /** When `settle` must run next. */
  deadline(): Ms | undefined {
    return this.#deadline
  }

  /** When the turn will be decided if nothing more comes; null while the caller speaks. */
  decisionDueAt(now: Ms, responsiveness: number): Ms | null {
    const quietSince = this.quietSince(now)
    return quietSince === null ? null : quietSince + this.#silenceNeeded(quietSince, responsiveness)
  }

  #decide(now: Ms, quietSince: Ms, responsiveness: number): void {
    const dueAt = quietSince + this.#silenceNeeded(quietSince, responsiveness)
    const words = this.#words.count === 0 ? [] : this.#words.all
    const candidateAt = this.#candidate.settle(
      now,
      quietSince,
      dueAt,
      words,
      this.#ends.score(this.#silence(quietSince)),
    )
    if (now < dueAt) {
      this.#decidedAt = null
      this.#deadline = Math.min(dueAt, candidateAt ?? dueAt)
      return
    }
    this.#decidedAt ??= now
    const givenUpAt = this.#decidedAt + RECOGNISER_PATIENCE_MS
    const answerDueAt = now < givenUpAt ? this.askForHeldBack(now, this.#decidedAt) : null
    if (answerDueAt === null) this.#give(now, quietSince, this.#decidedAt)
    else this.#deadline = Math.min(answerDueAt, givenUpAt)
  }

  #silenceNeeded(quietSince: Ms, responsiveness: number): Ms {
    const needed = this.#ends.silenceNeeded(this.#silence(quietSince), responsiveness)
    return quietSince > this.#voice.stoppedAt && !this.#voice.speaking ? Math.max(needed, UNSEEN_SILENCE_MS) : needed
  }

  #silence(quietSince: Ms): Silence {
    const words = this.#words.count === 0 ? [] : this.#words.all
    const endOfTurn = this.#endOfTurn
    const wordEnd = this.#words.lastEndMs
    const isStale = endOfTurn !== null && wordEnd !== null && wordEnd > endOfTurn.afterWordMs + UNSEEN_MS
    return {
      words,
      isTextBehind: wordEnd !== null && this.#holdsBack(quietSince) && quietSince - wordEnd > BEHIND_MS,
      prosody: this.#voice.prosody,
      endOfTurn: isStale ? null : endOfTurn,
    }
  }

  #holdsBack(quietSince: Ms): boolean {
    return this.#words.hasPartial || this.#held.mayHold(quietSince)
  }

  /** From when on a voice that goes on is taken for noise behind the words. */
  #noiseFrom(): Ms {
    if (!this.#voice.speaking) return Number.POSITIVE_INFINITY
    const wordEnd = this.#words.count > 0 ? this.#words.lastEndMs : this.#owedSince
    if (wordEnd === null) return Number.POSITIVE_INFINITY
    const isOver = this.#endOfTurn !== null && !this.#endOfTurn.eager && this.#endOfTurn.confidence >= FIRM_CONFIDENCE
    const last = Math.max(wordEnd, isOver ? wordEnd : this.#voice.startedAt)
    if (isOver) return last + WORDLESS_AFTER_END_MS
    return last + (this.#hearsPartials ? WORDLESS_MS : WORDLESS_WITHOUT_PARTIALS_MS)
  }

  #give(now: Ms, quietSince: Ms, decidedAt: Ms): void {
    const isBlank = this.#words.count === 0
    const isNothing = isBlank && this.#unintelligible === null && this.#owedSince === null
    const observedMs = this.#words.hasPartial ? now : (this.#lastFinalAt ?? now)
    const words: readonly SpokenWord[] = isBlank ? [] : this.#words.take()
    const startMs = words[0]?.startMs ?? this.#unintelligible?.startMs ?? this.#onset ?? this.#owedSince ?? quietSince
    // A voice that goes on is noise behind the words, unless the turn only grew too long.
    if (this.#voice.speaking && quietSince < now) this.#voice.declareNoise()
    this.#onset = null
    this.#unintelligible = null
    this.#owedSince = null
    this.#endOfTurn = null
    this.#decidedAt = null
    this.#lastFinalAt = null
    this.#candidate.given()
    if (isNothing) return
    this.#ends.learnText(words)
    this.#given = { endMs: quietSince }
    this.#port.give({
      text: words.map(({ text }) => text).join(' '),
      words,
      startMs: Math.min(startMs, quietSince),
      endMs: quietSince,
      observedMs,
      endpointingMs: Math.max(0, decidedAt - Math.max(quietSince, this.#suspendedUntil)),
      recogniserMs: now - decidedAt,
    })
  }
}
