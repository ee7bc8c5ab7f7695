import type { Ms } from '@parley/kernel'
import { AsideSpeech } from './aside-speech.ts'
import type { CallerVoice } from './caller-voice.ts'
import { EndOfTurnCandidate } from './end-of-turn-candidate.ts'
import type { Endpointer, Silence } from './endpointing.ts'
import type { HeardWords } from './heard-words.ts'
import { PendingWords, RECOGNISER_PATIENCE_MS } from './pending-words.ts'
import type { CallerTurn, SpokenWord } from './protocol.ts'

/** Words that end more than this after the voice were not detected by voice activity. */
const UNDETECTED_MS: Ms = 300
/** Shortest silence that ends a turn whose words voice activity did not detect, since the next word may have begun. */
const UNDETECTED_SILENCE_MS: Ms = 700
/** The transcript is incomplete when the voice went on for this long after its last word. */
const BEHIND_MS: Ms = 450
/** Longest time that a continuing voice without words keeps a turn open: without, and with, the recogniser's end-of-turn signal. */
const WORDLESS_MS: Ms = 3000
const WORDLESS_AFTER_END_MS: Ms = 800
/** The same with a recogniser that sends no partials. */
const WORDLESS_WITHOUT_PARTIALS_MS: Ms = 15_000
/** From this much voice without words on, it is speech that the recogniser missed. */
const UNHEARD_MS: Ms = 1000
/** From this much voice without words on, it is music or noise. */
const MUSIC_MS: Ms = 6000
const FIRM_CONFIDENCE = 0.5
/** Shorter speech without words counts as a cough. */
const MIN_SPEECH_MS: Ms = 250
/** A shorter sound that is not understood may be a hesitation: the caller is waited for this long after it. */
const HESITATION_SOUND_MS: Ms = 700
const AFTER_HESITATION_MS: Ms = 2000
/** A turn of this many words is reported without waiting for its end. */
const MAX_WORDS = 4000
/** A caller who goes on within this time after a turn was probably cut off by endpointing. */
const CUT_OFF_WITHIN_MS: Ms = 2000

/** Outputs of the turn collector. */
interface TurnCollectorListener {
  turn(turn: CallerTurn): void
  finalize(): void
  /** The caller spoke for a while, and the recogniser neither delivered words nor answered `finalize`, `silenceMs` after the end of the voice. */
  unheard(silenceMs: Ms): void
  /** The turn may be over with this text; `withdrawCandidate`: the caller goes on. */
  candidate(text: string): void
  withdrawCandidate(): void
}

/**
 * Collects the caller's words into turns: decides by the `Endpointer` when one is over, asks the recogniser to finalise,
 * and reports the turn once. All decisions are made in `settle`, which the owner calls after each change.
 */
export class TurnCollector {
  readonly #voice: CallerVoice
  readonly #words: HeardWords
  readonly #endpointer: Endpointer
  readonly #listener: TurnCollectorListener
  readonly #pendingWords = new PendingWords()
  readonly #candidate: EndOfTurnCandidate
  /** Start of the first voice that belongs to no turn yet. */
  #onset: Ms | null = null
  /** Speech without words in this turn. */
  #unintelligible: { readonly startMs: Ms; readonly endMs: Ms } | null = null
  /** When the agent was cut; a turn must follow, even a blank one. */
  #turnRequiredSince: Ms | null = null
  #endOfTurn: { readonly confidence: number; readonly eager: boolean; readonly afterWordMs: Ms } | null = null
  /** When the silence was long enough; from then on the turn waits for the recogniser. */
  #decidedAt: Ms | null = null
  #lastFinalAt: Ms | null = null
  #hearsPartials = false
  /** Voice since the last turn. */
  #voicedMs: Ms = 0
  /** End of the last time in which the agent could not be interrupted and no turn was decided. */
  #suspendedUntil: Ms = Number.NEGATIVE_INFINITY
  #isSuspended = false
  #agentHasSpoken = false
  #lastTurn: { readonly endMs: Ms } | null = null
  readonly #aside: AsideSpeech
  #deadline: Ms | undefined

  constructor(voice: CallerVoice, words: HeardWords, endpointer: Endpointer, listener: TurnCollectorListener) {
    this.#voice = voice
    this.#words = words
    this.#endpointer = endpointer
    this.#listener = listener
    this.#aside = new AsideSpeech(until => words.extendAside(until))
    this.#candidate = new EndOfTurnCandidate(
      text => listener.candidate(text),
      () => listener.withdrawCandidate(),
    )
  }

  /** A stretch of the caller's voice has ended. */
  voiceStopped(at: Ms, lengthMs: Ms): void {
    if (this.#aside.voiceStopped(at)) return
    if (!this.#isSuspended) this.#voicedMs += lengthMs
  }

  voiceStarted(at: Ms): void {
    if (this.#aside.voiceStarted(at)) return
    const wasCutOff = this.#lastTurn !== null && at - this.#lastTurn.endMs <= CUT_OFF_WITHIN_MS
    const goesOn = this.#words.count > 0 || wasCutOff
    if (goesOn && this.#voice.hasSpoken) this.#endpointer.learnPause(at - this.#voice.stoppedAt)
    this.#lastTurn = null
    this.#onset ??= at
    this.#candidate.withdraw()
    this.#endOfTurn = null
    this.#decidedAt = null
  }

  partial(): void {
    this.#hearsPartials = true
  }

  final(now: Ms, lastWordEndMs: Ms | null, fromFinalize: boolean): void {
    this.#pendingWords.final(lastWordEndMs, fromFinalize)
    if (lastWordEndMs !== null) this.#lastFinalAt = now
  }

  unintelligible(startMs: Ms, endMs: Ms): void {
    this.#pendingWords.unintelligible(endMs)
    if (endMs - startMs < MIN_SPEECH_MS) return
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

  /** A turn must follow, even without recognised words. */
  requireTurn(now: Ms): void {
    this.#turnRequiredSince ??= now
  }

  /** The voice was not an interruption: it begins no turn. */
  discardVoice(): void {
    this.#onset = this.#voice.speaking ? this.#voice.startedAt : null
    this.#voicedMs = 0
    this.#unintelligible = null
    this.#decidedAt = null
  }

  /** Digits have answered the question: the words and the voice so far are no turn. Returns the words. */
  setAside(now: Ms): CallerTurn | null {
    const words = this.#words.setAside(now)
    this.#candidate.withdraw()
    this.#aside.begin(now, this.#voice.speaking)
    if (this.#voice.speaking) this.#voice.declareNoise()
    this.#onset = null
    this.#voicedMs = 0
    this.#unintelligible = null
    this.#turnRequiredSince = null
    this.#endOfTurn = null
    this.#decidedAt = null
    return asideTurn(words, now)
  }

  /** The voice that is under way belongs to what digits have decided. */
  get isAside(): boolean {
    return this.#aside.isVoiceUnderWay
  }

  /** Words that were set aside and that the recogniser delivered later; null: there are none. */
  takeLateAside(now: Ms): CallerTurn | null {
    return asideTurn(this.#words.takeAside(), now)
  }

  /** The agent has begun to speak, so the caller's next voice does not mean that the last turn was cut off. */
  agentSpoke(now: Ms): void {
    this.#lastTurn = null
    this.#agentHasSpoken = true
    this.#aside.agentSpoke(now)
  }

  /**
   * Requests `finalize`, once since `since`, if words may be pending. Returns when the answer times out; null: no answer is
   * expected.
   */
  requestPendingWords(now: Ms, since: Ms): Ms | null {
    const quietSince = this.quietSince(now)
    if (quietSince === null || !this.#mayHavePendingWords(quietSince)) return null
    const dueAt = this.#pendingWords.answerDueAt(quietSince)
    if (dueAt !== null || this.#pendingWords.lastRequestedAt >= since) return dueAt
    this.#finalize(now)
    return now + RECOGNISER_PATIENCE_MS
  }

  #finalize(now: Ms): void {
    this.#pendingWords.requested(now)
    this.#listener.finalize()
  }

  /** There are words, or there may be some, that are in no turn yet. */
  get isPending(): boolean {
    return (
      this.#words.count > 0 || this.#unintelligible !== null || this.#turnRequiredSince !== null || this.#onset !== null
    )
  }

  get startMs(): Ms | null {
    return this.#onset ?? this.#words.all[0]?.startMs ?? null
  }

  /** The end of the caller's last speech; null while the caller speaks. */
  quietSince(now: Ms): Ms | null {
    const { speaking, stoppedAt } = this.#voice
    const wordEnd = this.#words.lastEndMs ?? Number.NEGATIVE_INFINITY
    const turnRequiredSince = this.#words.count === 0 ? this.#turnRequiredSince : null
    if (speaking) return now >= this.#noiseFrom() ? Math.max(wordEnd, turnRequiredSince ?? wordEnd) : null
    const wordsEnd = Math.max(wordEnd, this.#unintelligible?.endMs ?? wordEnd)
    return Math.max(
      stoppedAt,
      wordsEnd > stoppedAt + UNDETECTED_MS ? wordsEnd : stoppedAt,
      turnRequiredSince ?? stoppedAt,
    )
  }

  /** `suspended`: the agent speaks and is not interrupted, so no turn ends. */
  settle(now: Ms, responsiveness: number, suspended: boolean): void {
    this.#deadline = undefined
    this.#pendingWords.expire(now)
    if (this.#aside.takeFinalize(now)) this.#finalize(now)
    if (this.#words.count >= MAX_WORDS) return this.#report(now, now, now)
    if (this.#isSuspended) this.#suspendedUntil = now
    this.#isSuspended = suspended
    if (suspended) {
      this.#candidate.withdraw()
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
    const finalizeAt = this.#aside.finalizeAt
    return finalizeAt === null ? this.#deadline : Math.min(finalizeAt, this.#deadline ?? finalizeAt)
  }

  /** When the turn will be decided if no more speech comes; null while the caller speaks. */
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
      this.#endpointer.score(this.#silence(quietSince)),
    )
    if (now < dueAt) {
      this.#decidedAt = null
      this.#deadline = Math.min(dueAt, candidateAt ?? dueAt)
      return
    }
    this.#decidedAt ??= now
    const timeoutAt = this.#decidedAt + RECOGNISER_PATIENCE_MS
    const answerDueAt = now < timeoutAt ? this.requestPendingWords(now, this.#decidedAt) : null
    if (answerDueAt === null) this.#report(now, quietSince, this.#decidedAt)
    else this.#deadline = Math.min(answerDueAt, timeoutAt)
  }

  #silenceNeeded(quietSince: Ms, responsiveness: number): Ms {
    const needed = Math.max(
      this.#endpointer.silenceNeeded(this.#silence(quietSince), responsiveness),
      this.#isHesitationSound ? AFTER_HESITATION_MS : 0,
    )
    return quietSince > this.#voice.stoppedAt && !this.#voice.speaking
      ? Math.max(needed, UNDETECTED_SILENCE_MS)
      : needed
  }

  /** Nothing of the turn is known but a short sound without words, which is no interruption. */
  get #isHesitationSound(): boolean {
    const sound = this.#unintelligible
    if (!this.#agentHasSpoken || sound === null || this.#words.count > 0 || this.#turnRequiredSince !== null)
      return false
    return sound.endMs - sound.startMs < HESITATION_SOUND_MS
  }

  #silence(quietSince: Ms): Silence {
    const words = this.#words.count === 0 ? [] : this.#words.all
    const endOfTurn = this.#endOfTurn
    const wordEnd = this.#words.lastEndMs
    const isStale = endOfTurn !== null && wordEnd !== null && wordEnd > endOfTurn.afterWordMs + UNDETECTED_MS
    return {
      words,
      isTextBehind: wordEnd !== null && this.#mayHavePendingWords(quietSince) && quietSince - wordEnd > BEHIND_MS,
      prosody: this.#voice.prosody,
      endOfTurn: isStale ? null : endOfTurn,
    }
  }

  #mayHavePendingWords(quietSince: Ms): boolean {
    return this.#words.hasPartial || this.#pendingWords.mayHoldWords(quietSince)
  }

  /** When a continuing voice begins to count as background noise. */
  #noiseFrom(): Ms {
    if (!this.#voice.speaking) return Number.POSITIVE_INFINITY
    const wordEnd = this.#words.count > 0 ? this.#words.lastEndMs : this.#turnRequiredSince
    if (wordEnd === null) return Number.POSITIVE_INFINITY
    const isOver = this.#endOfTurn !== null && !this.#endOfTurn.eager && this.#endOfTurn.confidence >= FIRM_CONFIDENCE
    const last = Math.max(wordEnd, isOver ? wordEnd : this.#voice.startedAt)
    if (isOver) return last + WORDLESS_AFTER_END_MS
    return last + (this.#hearsPartials ? WORDLESS_MS : WORDLESS_WITHOUT_PARTIALS_MS)
  }

  #report(now: Ms, quietSince: Ms, decidedAt: Ms): void {
    const isBlank = this.#words.count === 0
    const isUnfinished = this.#endpointer.isUnfinished(this.#silence(quietSince))
    const isMute = now - decidedAt >= RECOGNISER_PATIENCE_MS
    const isSpeech = this.#voicedMs >= UNHEARD_MS && this.#voicedMs < MUSIC_MS
    const isUnheard = isBlank && this.#unintelligible === null && isMute && isSpeech
    const isNothing = isBlank && this.#unintelligible === null && this.#turnRequiredSince === null && !isUnheard
    const observedMs = this.#words.hasPartial ? now : (this.#lastFinalAt ?? now)
    const words: readonly SpokenWord[] = isBlank ? [] : this.#words.take()
    const startMs =
      words[0]?.startMs ?? this.#unintelligible?.startMs ?? this.#onset ?? this.#turnRequiredSince ?? quietSince
    // A continuing voice counts as background noise, unless the turn was only split for its length.
    if (this.#voice.speaking && quietSince < now) this.#voice.declareNoise()
    this.#onset = null
    this.#voicedMs = 0
    this.#unintelligible = null
    this.#turnRequiredSince = null
    this.#endOfTurn = null
    this.#decidedAt = null
    this.#lastFinalAt = null
    this.#candidate.turnReported()
    if (isNothing) return
    if (isUnheard) this.#listener.unheard(now - quietSince)
    this.#endpointer.learnText(words)
    this.#lastTurn = { endMs: quietSince }
    this.#listener.turn({
      text: textOf(words),
      words,
      startMs: Math.min(startMs, quietSince),
      endMs: quietSince,
      observedMs,
      endpointingMs: Math.max(0, decidedAt - Math.max(quietSince, this.#suspendedUntil)),
      recogniserMs: now - decidedAt,
      isUnfinished,
    })
  }
}

/** Words beside digits that answer the question. */
function asideTurn(words: readonly SpokenWord[], observedMs: Ms): CallerTurn | null {
  const [first] = words
  if (first === undefined) return null
  return {
    text: textOf(words),
    words,
    startMs: first.startMs,
    endMs: words.at(-1)!.endMs,
    observedMs,
    endpointingMs: 0,
    recogniserMs: 0,
    isUnfinished: false,
  }
}

function textOf(words: readonly SpokenWord[]): string {
  return words.map(({ text }) => text).join(' ')
}
