import { type Lexicon, tokensOf } from './lexicon/lexicon.ts'

/** Only the last words of a turn are examined. */
const TAIL_WORDS = 14

/** Scores from 0 (the caller has certainly not finished) to 1 (has finished). */
const HESITATES = 0.03
const FILLER = 0.08
const DANGLING = 0.1
const OPEN_RUN = 0.15
const OPEN_LIST = 0.25
const WEAKLY_DANGLING = 0.3
const UNKNOWN = 0.55
const PLAIN = 0.62
const QUANTITY = 0.6
const FULL_ANSWER = 0.95
const FULL_STOP = 0.93
const COMMA = 0.15

/**
 * How likely a turn is complete, 0 to 1, by its words alone: punctuation if the recogniser writes it, dangling words, fillers,
 * digit or letter sequences that are too short, short answers. `words`: all words of the turn, as the recogniser wrote them; no
 * words: 0.55.
 */
export function completeness(words: readonly string[], lexicons: readonly Lexicon[]): number {
  const tail = words.slice(-TAIL_WORDS)
  const tokens = tail.flatMap(tokensOf)
  if (tokens.length === 0) return UNKNOWN
  const lexicon = bestLexicon(lexicons, tokens)
  const isWhole = tail.length === words.length
  const mark = markOf(tail.at(-1)!)
  if (lexicon.hesitations.lengthAtEnd(tokens) > 0) return HESITATES
  if (mark === 'ellipsis') return FILLER
  if (isWhole && lexicon.answers.isWhole(tokens)) return mark === 'comma' ? OPEN_LIST : FULL_ANSWER
  if (mark !== 'stop' && lexicon.fillers.lengthAtEnd(tokens) > 0 && lexicon.closers.lengthAtEnd(tokens) === 0)
    return FILLER
  const run = runScore(tokens, lexicon)
  // Recognisers write a full stop after each group of a dictated number; after a quantity the full stop is real evidence.
  if (run !== null) return mark !== 'stop' ? run : run === QUANTITY ? FULL_STOP : (run + FULL_STOP) / 2
  const byWords = wordScore(tokens, lexicon, isWhole)
  if (mark === 'stop') return byWords <= DANGLING ? WEAKLY_DANGLING : FULL_STOP
  if (mark === 'comma') return Math.min(byWords, COMMA)
  return hasOpenList(tail) ? Math.min(byWords, OPEN_LIST) : byWords
}

/** Whether the recogniser wrote punctuation; a missing mark at the end is then evidence of an unfinished turn. */
export function hasPunctuation(words: readonly string[]): boolean {
  return words.some(word => markOf(word) !== 'none')
}

/** Whether the recogniser wrote that the sentence goes on: a comma or an ellipsis. */
export function goesOn(word: string): boolean {
  const mark = markOf(word)
  return mark === 'comma' || mark === 'ellipsis'
}

/** Whether the recogniser wrote that the sentence ends here. */
export function endsSentence(word: string): boolean {
  return markOf(word) === 'stop'
}

type Mark = 'stop' | 'comma' | 'ellipsis' | 'none'

function markOf(word: string): Mark {
  if (/(\.\.+|…)["')\]]*$/.test(word)) return 'ellipsis'
  if (/[.?!。？！]["')\]]*$/.test(word)) return 'stop'
  return /[,;:，、–—-]$/.test(word) ? 'comma' : 'none'
}

/** Whether the token is a digit, several digits, or a number word. */
export function isDigits(token: string, lexicon: Lexicon): boolean {
  return /^\d+$/.test(token) || lexicon.digits.has(token) || lexicon.numbers.has(token)
}

/** How many digits a caller has dictated, all groups of the turn together. */
export function countDigits(tokens: readonly string[], lexicon: Lexicon): number {
  return lengthOf(
    tokens.filter(token => isDigits(token, lexicon)),
    lexicon,
  )
}

/** The lexicon that knows most of the words; the first if none knows any. */
export function bestLexicon(lexicons: readonly Lexicon[], tokens: readonly string[]): Lexicon {
  let best = lexicons[0]!
  let most = -1
  for (const lexicon of lexicons) {
    const known = tokens.filter(
      (token, at) =>
        lexicon.dangling.has(token) ||
        lexicon.weaklyDangling.has(token) ||
        lexicon.digits.has(token) ||
        lexicon.answers.lengthAt(tokens, at) > 0 ||
        lexicon.fillers.lengthAt(tokens, at) > 0,
    ).length
    if (known > most) {
      best = lexicon
      most = known
    }
  }
  return best
}

function wordScore(tokens: readonly string[], lexicon: Lexicon, isWhole: boolean): number {
  const last = tokens.at(-1)!
  if (lexicon.closers.lengthAtEnd(tokens) > 0) return 0.88
  const isQuestion = isWhole && tokens.length >= 3 && lexicon.questionWords.has(tokens[0]!)
  const before = tokens.at(-2)
  if (lexicon.dangling.has(last)) return DANGLING
  if (lexicon.connectors.has(last)) return OPEN_RUN
  if (lexicon.weaklyDangling.has(last)) {
    const asks = lexicon.questionWords.has(tokens[0]!)
    if (!isWhole || asks || tokens.length > 4) return WEAKLY_DANGLING
    // "yes I do", "no, we can't"; but not "I would like", although "I would" is an answer.
    if (lexicon.answers.lengthAt(tokens, 0) === 1) return 0.85
    // "My neighbour did": a few words that answer who did something.
    return tokens.length > 1 && tokens.length <= 3 && lexicon.proVerbs.has(last) ? PLAIN : WEAKLY_DANGLING
  }
  // A day or a year may follow a month, but hardly in "since April".
  if (lexicon.months.has(last)) return before !== undefined && lexicon.monthPrepositions.has(before) ? PLAIN : 0.4
  if (isQuestion) return 0.8
  return tokens.length < 3 ? 0.55 : PLAIN
}

/** How likely a sequence of single digits or letters at the end is complete; null: there is none. */
function runScore(tokens: readonly string[], lexicon: Lexicon): number | null {
  const letters = trailing(
    tokens,
    token => /^\p{Script=Latin}$/u.test(token) && !(token === 'o' && lexicon.language === 'en'),
  )
  const names = tokens.some(token => lexicon.spellingNames.has(token))
  // One letter is a word ("I", "a", "y") more often than a spelling.
  if (letters >= 2 || (letters === 1 && names)) return names ? OPEN_RUN : 0.2
  const digits = trailing(tokens, token => isDigits(token, lexicon))
  if (digits === 0) return null
  // "quiero una": an article, not a digit.
  if (digits === 1 && tokens.length > 1 && lexicon.dangling.has(tokens.at(-1)!)) return null
  const run = tokens.slice(-digits)
  const announced = tokens.slice(0, -digits).some(token => lexicon.numberNames.has(token))
  // "twenty five", "nineteen eighty": counted, not dictated digit by digit.
  const isCounted = digits <= 3 && !announced && run.some(token => lexicon.numbers.has(token))
  return isCounted ? QUANTITY : numberScore(lengthOf(run, lexicon), announced, digits)
}

/** How likely a dictated number of `length` digits is complete: telephone numbers have 9 to 11 digits, cards 16, codes 4 to 6. */
function numberScore(length: number, announced: boolean, tokens: number): number {
  if (length <= 2 && !announced) return tokens === 1 ? QUANTITY : 0.35
  if (length >= 16) return 0.9
  if (length > 11) return OPEN_RUN
  if (length >= 9) return length === 9 ? 0.5 : 0.85
  if (length >= 7) return 0.3
  if (announced) return OPEN_RUN
  // A few digits alone answer a question for a code, or are the first group of a longer number; in one token they are a quantity.
  return tokens === 1 ? 0.4 : 0.22
}

/** Number of digits that the tokens stand for. */
function lengthOf(run: readonly string[], lexicon: Lexicon): number {
  return run.reduce((sum, token) => {
    if (/^\d+$/.test(token)) return sum + token.length
    return sum + (lexicon.digits.has(token) ? 1 : 2)
  }, 0)
}

function trailing(tokens: readonly string[], is: (token: string) => boolean): number {
  let count = 0
  while (count < tokens.length && is(tokens[tokens.length - 1 - count]!)) count++
  return count
}

/** "apples, pears" without an "and" before the last. */
function hasOpenList(tail: readonly string[]): boolean {
  const commas = tail.filter(word => markOf(word) === 'comma').length
  if (commas === 0 || tail.length < 2) return false
  const fromLast = tail.length - 1 - tail.findLastIndex(word => markOf(word) === 'comma')
  return fromLast <= 2 && !/^(and|or|y|o|e|u)$/i.test(tail.at(-fromLast)!) && commas >= 2
}
