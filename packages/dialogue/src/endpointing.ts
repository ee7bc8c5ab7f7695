import type { Ms } from '@parley/kernel'
import { bestLexicon, completeness, endsSentence, goesOn, hasPunctuation } from './completeness.ts'
import { type Lexicon, tokensOf } from './lexicon/lexicon.ts'
import type { Endpointing, Prosody, SpokenWord } from './protocol.ts'
import { type AnswerJudgement, isThinkingAloud, judgeAnswer } from './question/judge-answer.ts'
import type { ExpectedAnswer } from './question/question.ts'

/** Shortest silence that ends a turn. */
export const CANDIDATE_MS: Ms = 200
/** Longest silence within a turn whose words may be complete. */
const MAX_SILENCE_MS: Ms = 3000
/** Shortest silence after words that announce what has not come yet ("my name is"), and after nothing but a filler. */
const UNFINISHED_MS: Ms = 3200
const HESITATING_MS: Ms = 5000
/** Longest wait for a caller who has not finished. */
export const MAX_WAIT_MS: Ms = 5000

/** Silence that ends a complete turn, and an unfinished one, at full responsiveness and for a caller with usual pauses. */
const MIN_SILENCE_MS: Ms = 250
const OPEN_MS: Ms = 1700
/** Below this score the caller will certainly go on: towards 0 the silence grows by up to `CERTAIN_MS`. */
const CERTAIN_SCORE = 0.15
const CERTAIN_MS: Ms = 800
/** At responsiveness 0 all silences grow by this multiple of themselves. */
const UNRESPONSIVE = 1.5
/** Steepness of the logistic curve from unfinished to complete. */
const STEEPNESS = 10

const USUAL_PAUSE_MS: Ms = 500
const PAUSE_MEMORY = 0.9
const MIN_PAUSE_MS: Ms = 200
const FASTEST_PACE = 0.8
const SLOWEST_PACE = 1.6

/** Weight of the recogniser's own end-of-turn detection, when it is firm and when it is an early guess. */
const FIRM_SHARE = 0.65
const EAGER_SHARE = 0.3
/** Largest change of the score by prosody, for energy and for pitch each. */
const MAX_PROSODY_SHARE = 0.06
/** Reduction of the score for a missing full stop, if the recogniser writes punctuation. */
const NO_MARK = 0.15
const MARKS_NEEDED = 2
/** Score of words that answer the question completely, and of words that certainly do not yet. */
const ANSWERS = 0.97
const DOES_NOT_ANSWER = 0.03
/** Highest score of words that answer the question in part. */
const ANSWERS_IN_PART = 0.35
/** Change of the score after an open question, whose answers have pauses in the middle. */
const OPEN_QUESTION = -0.105
/** Lowest score of letters after the question for a spelling: the last letter is known by its pause alone. */
const SPELLING = 0.42
/** Change of the score of a few words after a question that a few words answer. */
const CLOSED_QUESTION = 0.06
const FEW_WORDS = 4
const CLOSED: readonly ExpectedAnswer['kind'][] = ['yes-no', 'choice', 'date', 'quantity']
/** From this confidence on the recogniser's own end of turn outweighs words that sound unfinished. */
const TRUSTED_CONFIDENCE = 0.9
/** Below this score a turn that was ended by silence is probably not finished. */
const PROBABLY_UNFINISHED = 0.4
const UNKNOWN_QUESTION: ExpectedAnswer = { kind: 'unknown' }

/** Evidence about a silence of the caller. */
export interface Silence {
  readonly words: readonly SpokenWord[]
  /** There was speech after the last word: the transcript is incomplete. */
  readonly isTextBehind: boolean
  readonly prosody: Prosody | null
  /** The recogniser's end-of-turn detection in this silence. */
  readonly endOfTurn: { readonly confidence: number; readonly eager: boolean } | null
}

/** Adaptive endpointing: computes the silence that ends a turn of this caller. */
export class Endpointer {
  readonly #mode: Endpointing
  #lexicons: readonly Lexicon[]
  #pause: Ms = USUAL_PAUSE_MS
  #marks = 0
  #expected: ExpectedAnswer = UNKNOWN_QUESTION
  /** The last judgement: the same words are judged at each step of the machine. */
  #judged: { readonly text: string; readonly judgement: AnswerJudgement } = { text: '', judgement: 'unknown' }

  constructor(mode: Endpointing, lexicons: readonly Lexicon[]) {
    this.#mode = mode
    this.#lexicons = lexicons
  }

  /** The lexicons from now on, that of the caller's likeliest language first. */
  setLexicons(lexicons: readonly Lexicon[]): void {
    this.#lexicons = lexicons
    this.#judged = { text: '', judgement: 'unknown' }
  }

  /** What the caller is asked for from now on; null: nothing in particular. */
  expect(answer: ExpectedAnswer | null): void {
    this.#expected = answer ?? UNKNOWN_QUESTION
    this.#judged = { text: '', judgement: 'unknown' }
  }

  /** Learns from a turn's final text whether this recogniser writes punctuation. */
  learnText(words: readonly SpokenWord[]): void {
    if (words.length > 2) this.#marks += hasPunctuation(words.map(({ text }) => text)) ? 1 : -1
    this.#marks = Math.min(Math.max(this.#marks, 0), 2 * MARKS_NEEDED)
  }

  /** Learns from a pause after which the caller went on with the same turn. */
  learnPause(pauseMs: Ms): void {
    if (pauseMs < MIN_PAUSE_MS) return
    this.#pause = PAUSE_MEMORY * this.#pause + (1 - PAUSE_MEMORY) * Math.min(pauseMs, MAX_SILENCE_MS)
  }

  /** Score of 0 to 1: how likely the caller has finished. */
  score({ words, isTextBehind, prosody, endOfTurn }: Silence): number {
    const texts = words.map(({ text }) => text)
    const judgement = this.#judgement(words)
    let score = completeness(texts, this.#lexicons)
    if (judgement === 'complete') score = Math.max(score, ANSWERS)
    else if (judgement === 'partial') score = Math.min(score, ANSWERS_IN_PART)
    else if (judgement !== 'unknown') score = Math.min(score, DOES_NOT_ANSWER)
    else if (this.#expected.kind === 'spelling') score = Math.max(score, SPELLING)
    else if (this.#expected.kind === 'open') score += OPEN_QUESTION
    else if (CLOSED.includes(this.#expected.kind) && words.length <= FEW_WORDS) score += CLOSED_QUESTION
    if (isTextBehind) score = Math.min(score, 0.5)
    else if (this.#marks >= MARKS_NEEDED && score < 0.8 && score > 0.4) score -= NO_MARK
    if (prosody !== null) score += prosodyShare(prosody)
    if (endOfTurn !== null) {
      const share = endOfTurn.eager ? EAGER_SHARE : FIRM_SHARE
      score = (1 - share) * score + share * endOfTurn.confidence
    }
    return Math.min(Math.max(score, 0), 1)
  }

  /** The silence that ends the turn, ms. `responsiveness`: 0 to 1. At most `MAX_WAIT_MS`, except with fixed endpointing. */
  silenceNeeded(silence: Silence, responsiveness: number): Ms {
    if (this.#mode.mode === 'fixed') return this.#mode.silenceMs
    const patience = 1 + (1 - responsiveness) * UNRESPONSIVE
    const pace = Math.min(Math.max(this.#pause / USUAL_PAUSE_MS, FASTEST_PACE), SLOWEST_PACE)
    const score = this.score(silence)
    const certain = Math.max(0, (CERTAIN_SCORE - score) / CERTAIN_SCORE) * CERTAIN_MS
    const open = (OPEN_MS - MIN_SILENCE_MS) / (1 + Math.exp(STEEPNESS * (score - 0.5))) + certain
    const silenceMs = Math.min(Math.max((MIN_SILENCE_MS + open * pace) * patience, CANDIDATE_MS), MAX_SILENCE_MS)
    return Math.round(Math.max(silenceMs, this.#shortestSilence(silence)))
  }

  /** Whether the caller has probably not finished, by the words alone. */
  isUnfinished(silence: Silence): boolean {
    return silence.words.length > 0 && this.score(silence) < PROBABLY_UNFINISHED
  }

  #shortestSilence({ words, endOfTurn }: Silence): Ms {
    if (endOfTurn !== null && !endOfTurn.eager && endOfTurn.confidence >= TRUSTED_CONFIDENCE) return 0
    const judgement = this.#judgement(words)
    if (judgement === 'hesitating') return HESITATING_MS
    return judgement === 'unfinished' ? UNFINISHED_MS : 0
  }

  #judgement(words: readonly SpokenWord[]): AnswerJudgement {
    const text = words.map(word => word.text).join(' ')
    if (text !== this.#judged.text) this.#judged = { text, judgement: this.#judge(text) }
    return this.#judged.judgement
  }

  #judge(text: string): AnswerJudgement {
    const tokens = text.split(' ').flatMap(tokensOf)
    if (tokens.length === 0) return 'unknown'
    if (this.#lexicons.some(lexicon => isThinkingAloud(this.#expected, tokens, lexicon))) return 'hesitating'
    const judgement = judgeAnswer(this.#expected, tokens, bestLexicon(this.#lexicons, tokens))
    if (judgement !== 'complete') return judgement
    // "Yes," is followed by "please"; "My name is Grace" without a full stop by a last name, where the recogniser writes full stops.
    return goesOn(text) || this.#mayGoOn(text) ? 'unknown' : judgement
  }

  /** Without a full stop a last name may follow a name, and the floor an address. */
  #mayGoOn(text: string): boolean {
    if (endsSentence(text)) return false
    const { kind } = this.#expected
    return kind === 'address' || (kind === 'name' && this.#marks >= MARKS_NEEDED)
  }
}

/** Contribution of prosody to the score: positive for a falling voice, negative for a level or rising one. */
function prosodyShare({ energyFallDb, pitchFallSemitones }: Prosody): number {
  const energy = (energyFallDb - 3) * 0.01
  const pitch = ((pitchFallSemitones ?? 1) - 1) * 0.02
  return (
    Math.min(Math.max(energy, -MAX_PROSODY_SHARE), MAX_PROSODY_SHARE) +
    Math.min(Math.max(pitch, -MAX_PROSODY_SHARE), MAX_PROSODY_SHARE)
  )
}
