import type { Ms } from '@parley/kernel'
import { completeness, hasMarks } from './completeness.ts'
import type { Lexicon } from './lexicon/lexicon.ts'
import type { Endpointing, Prosody, SpokenWord } from './protocol.ts'

/** Least silence that ends a turn. */
export const CANDIDATE_MS: Ms = 200
/** Most silence that is waited for; every turn is over after it. */
const LONGEST_MS: Ms = 3000

/** At full responsiveness and with a caller of usual pace: the wait after what is complete, and after what is not. */
const SHORTEST_MS: Ms = 250
const OPEN_MS: Ms = 1700
/** Below this score more words are certain: the wait grows by up to so much towards 0. */
const CERTAIN_SCORE = 0.15
const CERTAIN_MS: Ms = 800
/** Factor by which all waits grow at responsiveness 0. */
const UNRESPONSIVE = 1.5
/** Steepness of the way between, over the score. */
const STEEPNESS = 10

const USUAL_PAUSE_MS: Ms = 500
const PAUSE_MEMORY = 0.9
const LEAST_PAUSE_MS: Ms = 200
const FASTEST_PACE = 0.8
const SLOWEST_PACE = 1.6

/** Share of the recogniser's own judgement, when it is firm and when it is a guess. */
const FIRM_SHARE = 0.65
const EAGER_SHARE = 0.3
/** How much the fall of the voice says at most. */
const PROSODY_MOST = 0.06
/** Text that lacks a closing mark, from a recogniser that writes them. */
const NO_MARK = 0.15
const MARKS_NEEDED = 2

/** Evidence about a silence of the caller. */
export interface Silence {
  readonly words: readonly SpokenWord[]
  /** There was speech after the last word: the transcript is incomplete. */
  readonly isTextBehind: boolean
  readonly prosody: Prosody | null
  /** The recogniser's end-of-turn detection in this silence. */
  readonly endOfTurn: { readonly confidence: number; readonly eager: boolean } | null
}

/** Adaptive endpointing: the silence that ends a turn of this caller. */
export class EndOfTurn {
  readonly #mode: Endpointing
  readonly #lexicons: readonly Lexicon[]
  #pause: Ms = USUAL_PAUSE_MS
  #marks = 0

  constructor(mode: Endpointing, lexicons: readonly Lexicon[]) {
    this.#mode = mode
    this.#lexicons = lexicons
  }

  /** Learns from a turn's final text whether this recogniser writes punctuation. */
  learnText(words: readonly SpokenWord[]): void {
    if (words.length > 2) this.#marks += hasMarks(words.map(({ text }) => text)) ? 1 : -1
    this.#marks = Math.min(Math.max(this.#marks, 0), 2 * MARKS_NEEDED)
  }

  /** Learns from a pause after which the caller went on with the same turn. */
  learnPause(pauseMs: Ms): void {
    if (pauseMs < LEAST_PAUSE_MS) return
    this.#pause = PAUSE_MEMORY * this.#pause + (1 - PAUSE_MEMORY) * Math.min(pauseMs, LONGEST_MS)
  }

  /** Score of 0 to 1: how likely the caller has finished. */
  score({ words, isTextBehind, prosody, endOfTurn }: Silence): number {
    const texts = words.map(({ text }) => text)
    let score = completeness(texts, this.#lexicons)
    if (isTextBehind) score = Math.min(score, 0.5)
    else if (this.#marks >= MARKS_NEEDED && score < 0.8 && score > 0.4) score -= NO_MARK
    if (prosody !== null) score += prosodyShare(prosody)
    if (endOfTurn !== null) {
      const share = endOfTurn.eager ? EAGER_SHARE : FIRM_SHARE
      score = (1 - share) * score + share * endOfTurn.confidence
    }
    return Math.min(Math.max(score, 0), 1)
  }

  /** The silence that ends the turn, ms; `responsiveness` 0 to 1. Never more than `LONGEST_MS` unless fixed so. */
  silenceNeeded(silence: Silence, responsiveness: number): Ms {
    if (this.#mode.mode === 'fixed') return this.#mode.silenceMs
    const patience = 1 + (1 - responsiveness) * UNRESPONSIVE
    const pace = Math.min(Math.max(this.#pause / USUAL_PAUSE_MS, FASTEST_PACE), SLOWEST_PACE)
    const score = this.score(silence)
    const certain = Math.max(0, (CERTAIN_SCORE - score) / CERTAIN_SCORE) * CERTAIN_MS
    const open = (OPEN_MS - SHORTEST_MS) / (1 + Math.exp(STEEPNESS * (score - 0.5))) + certain
    return Math.round(Math.min(Math.max((SHORTEST_MS + open * pace) * patience, CANDIDATE_MS), LONGEST_MS))
  }
}

/** Contribution of prosody to the score: positive for a falling voice, negative for a level or rising one. */
function prosodyShare({ energyFallDb, pitchFallSemitones }: Prosody): number {
  const energy = (energyFallDb - 3) * 0.01
  const pitch = ((pitchFallSemitones ?? 1) - 1) * 0.02
  return (
    Math.min(Math.max(energy, -PROSODY_MOST), PROSODY_MOST) + Math.min(Math.max(pitch, -PROSODY_MOST), PROSODY_MOST)
  )
}
