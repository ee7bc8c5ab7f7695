import { countDigits, isDigits } from '../completeness.ts'
import { foldedTokensOf, type Lexicon } from '../lexicon/lexicon.ts'
import type { ExpectedAnswer, NumberLength } from './question.ts'

/**
 * Whether words answer a question completely, or certainly not yet; `unknown`: the question says nothing about them.
 * `hesitating`: there are only fillers. `partial`: a usual part of the answer is missing, which some callers leave out.
 */
export type AnswerJudgement = 'complete' | 'partial' | 'unfinished' | 'hesitating' | 'unknown'

/** A closed question is answered by at most this many tokens; longer turns are judged by their words alone. */
const MAX_CLOSED_TOKENS = 4
const MAX_NAME_TOKENS = 4
const MAX_VALUE_TOKENS = 3
/** More words without a number are no address. */
const MAX_ADDRESS_TOKENS = 8

/** `tokens`: all words of the turn, in lower case, without punctuation. */
export function judgeAnswer(expected: ExpectedAnswer, tokens: readonly string[], lexicon: Lexicon): AnswerJudgement {
  if (tokens.length === 0) return 'unknown'
  // "I guess so" consists of fillers and is an answer.
  const answers = tokens.length > 1 && lexicon.answers.isWhole(tokens)
  if (!answers && isOnlyFillers(tokens, lexicon)) return 'hesitating'
  if (isAnnouncement(tokens, lexicon)) return 'unfinished'
  if (isOpenEnd(tokens, lexicon)) return 'unknown'
  switch (expected.kind) {
    case 'number':
      return judgeNumber(expected.digits, tokens, lexicon)
    case 'name':
      return judgeName(expected.isFull, tokens, lexicon)
    case 'date':
      return tokens.length <= MAX_CLOSED_TOKENS && tokens.some(token => lexicon.dateWords.has(token))
        ? 'complete'
        : 'unknown'
    case 'quantity':
      return tokens.length <= MAX_CLOSED_TOKENS && tokens.some(token => isDigits(token, lexicon))
        ? 'complete'
        : 'unknown'
    case 'choice':
      return judgeChoice(expected.words, tokens, lexicon)
    case 'address':
      return judgeAddress(tokens, lexicon)
    case 'yes-no':
      return lexicon.answers.lengthAt(tokens, 0) > 0 && tokens.length <= MAX_CLOSED_TOKENS ? 'complete' : 'unknown'
    case 'spelling':
      return 'unknown'
    default:
      return isNamedValue(expected.words, tokens, lexicon) ? 'complete' : 'unknown'
  }
}

/** "Margarita", "an appointment": nothing but a value that the flow reads, or words of a condition. */
function isNamedValue(words: ReadonlySet<string> | undefined, tokens: readonly string[], lexicon: Lexicon): boolean {
  if (words === undefined || tokens.length > MAX_VALUE_TOKENS || lexicon.weaklyDangling.has(tokens.at(-1)!))
    return false
  return tokens.every(token => foldedTokensOf(token).every(folded => words.has(folded)))
}

function isOnlyFillers(tokens: readonly string[], { fillers, hesitations }: Lexicon): boolean {
  for (let at = 0; at < tokens.length; ) {
    const length = Math.max(fillers.lengthAt(tokens, at), hesitations.lengthAt(tokens, at))
    if (length === 0) return false
    at += length
  }
  return true
}

/** "Uh, I don't know": after a filler it answers no question that asks for one of a few things. */
export function isThinkingAloud({ kind }: ExpectedAnswer, tokens: readonly string[], lexicon: Lexicon): boolean {
  if (kind === 'open' || kind === 'unknown' || kind === 'yes-no') return false
  const filler = Math.max(lexicon.fillers.lengthAt(tokens, 0), lexicon.hesitations.lengthAt(tokens, 0))
  return filler > 0 && lexicon.undecided.isWhole(tokens.slice(filler))
}

/** "my name is", "the number's": the value has not come yet. Not "it is", nor "what the price is". */
function isAnnouncement(tokens: readonly string[], { announcers, answers, questionWords }: Lexicon): boolean {
  const last = tokens.at(-1)!
  if (!announcers.has(last) || answers.lengthAtEnd(tokens) > 1 || answers.isWhole(tokens)) return false
  return !tokens.some(token => questionWords.has(token) && !announcers.has(token))
}

/** The turn ends in a word that needs another one, or in a filler. */
function isOpenEnd(tokens: readonly string[], lexicon: Lexicon): boolean {
  const last = tokens.at(-1)!
  return (
    lexicon.dangling.has(last) ||
    lexicon.connectors.has(last) ||
    lexicon.hesitations.lengthAtEnd(tokens) > 0 ||
    (lexicon.fillers.lengthAtEnd(tokens) > 0 && !lexicon.answers.isWhole(tokens))
  )
}

function judgeNumber(digits: NumberLength | null, tokens: readonly string[], lexicon: Lexicon): AnswerJudgement {
  const length = countDigits(tokens, lexicon)
  if (length === 0) return 'unknown'
  // Words after the digits: the caller does not dictate any more.
  if (!isDigits(tokens.at(-1)!, lexicon)) return 'unknown'
  if (digits === null) return length <= 2 ? 'partial' : 'unknown'
  if (length < digits.min) return digits.isExample === true ? 'partial' : 'unfinished'
  return length <= digits.max ? 'complete' : 'unknown'
}

function judgeName(isFull: boolean, tokens: readonly string[], lexicon: Lexicon): AnswerJudgement {
  const announced = tokens.findLastIndex(token => lexicon.announcers.has(token))
  const name = tokens.slice(announced + 1).filter(token => lexicon.fillers.lengthAt([token], 0) === 0)
  if (name.length === 0 || name.length > MAX_NAME_TOKENS) return 'unknown'
  const isPlain = name.every(
    token =>
      token.length > 1 &&
      !lexicon.dangling.has(token) &&
      !lexicon.weaklyDangling.has(token) &&
      !lexicon.questionWords.has(token) &&
      !isDigits(token, lexicon),
  )
  if (!isPlain) return 'unknown'
  return isFull && name.length < 2 ? 'unknown' : 'complete'
}

/** A few words without a number lack the number of the house; one at the end completes them. */
function judgeAddress(tokens: readonly string[], lexicon: Lexicon): AnswerJudgement {
  const isShort = tokens.length <= MAX_ADDRESS_TOKENS
  const isOther = lexicon.answers.lengthAt(tokens, 0) > 0 || lexicon.closers.lengthAtEnd(tokens) > 0
  if (!isShort || isOther) return 'unknown'
  if (!tokens.some(token => isDigits(token, lexicon))) return 'partial'
  return tokens.length > 1 && isDigits(tokens.at(-1)!, lexicon) ? 'complete' : 'unknown'
}

function judgeChoice(words: ReadonlySet<string>, tokens: readonly string[], lexicon: Lexicon): AnswerJudgement {
  if (tokens.length > MAX_CLOSED_TOKENS) return 'unknown'
  const folded = foldedTokensOf(tokens.join(' '))
  const chooses = folded.some(token => words.has(token)) || tokens.some(token => lexicon.ordinals.has(token))
  return chooses ? 'complete' : 'unknown'
}
