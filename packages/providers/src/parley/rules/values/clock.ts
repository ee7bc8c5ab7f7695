import type { Evidence, ReadingContext } from '../evidence.ts'
import { chosenOf } from '../numbers.ts'
import { wordsOf } from '../words.ts'
import { timesIn, written } from './times.ts'

/**
 * The time that the turn gives, as "15:00": a spoken time, the position of an offered time ("the second one"), a number
 * alone when the agent asked for a time, or a plain yes to a proposed time.
 */
export function timeIn(evidence: Evidence, { requested, language }: ReadingContext): string | undefined {
  const { exchange, turn, question } = evidence
  const offered = timesIn(wordsOf(exchange.agent, language), language)
  const spokenTime = (bare: boolean) => {
    const times = timesIn(turn.words, language, bare)
    return times.find(time => !turn.negatedStems.has(turn.words[time.from]!.stem))
  }
  const given =
    spokenTime(false) ?? chosenOf(offered, turn.words, language) ?? (requested ? spokenTime(true) : undefined)
  if (given !== undefined) return written(given, offered)
  const proposed = timesIn(question.words, language)
  return evidence.agrees && proposed.length === 1 ? written(proposed[0]!) : undefined
}
