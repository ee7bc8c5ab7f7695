import type { Language } from '../language.ts'
import { numberAt } from '../numbers.ts'
import type { Word } from '../words.ts'

/** Consecutive digits, spoken or written. They cover the words `from` to `to`, exclusive. */
interface DigitRun {
  readonly digits: string
  /** A written "+" or a spoken "plus" precedes the digits. */
  readonly international: boolean
  readonly from: number
  readonly to: number
}

const MAX_DIGITS = 64
const TIMES: ReadonlyMap<string, number> = new Map(Object.entries({ double: 2, triple: 3, doble: 2 }))
const ZERO = new Set(['oh', 'o'])

/** The digit runs in a text: "five five five, twelve, double three" is the run 5551233. */
export function digitRuns(text: string, words: readonly Word[], language: Language): DigitRun[] {
  const runs: DigitRun[] = []
  for (let at = 0; at < words.length; ) {
    const run = runAt(text, words, at, language)
    if (run !== null) runs.push(run)
    at = run?.to ?? at + 1
  }
  return runs
}

function runAt(text: string, words: readonly Word[], at: number, language: Language): DigitRun | null {
  const plus = words[at]!.folded === 'plus' || words[at]!.folded === 'mas'
  let digits = ''
  let to = plus ? at + 1 : at
  while (to < words.length && digits.length < MAX_DIGITS) {
    const times = TIMES.get(words[to]!.folded) ?? 1
    const next = times > 1 ? to + 1 : to
    const number = numberAt(words, next, language)
    if (number !== null) {
      digits += number.digits.repeat(times)
      to = number.to
    } else if (times === 1 && digits !== '' && language === 'en' && ZERO.has(words[to]!.folded)) {
      digits += '0'
      to++
    } else break
  }
  if (digits === '') return null
  return { digits, international: plus || text[words[at]!.start - 1] === '+', from: at, to }
}
