import type { Asked, Evidence } from '../evidence.ts'
import { ordinalOf } from '../numbers.ts'
import { wordsOf } from '../words.ts'
import { timesIn, written } from './times.ts'

/**
 * The time that the turn names, "15:00": as said, by its place among those the agent offered, by a number alone where
 * it was asked for, or by a plain yes to one.
 */
export function timeIn(evidence: Evidence, { asked, language }: Asked): string | undefined {
  const { exchange, turn, question } = evidence
  const offered = timesIn(wordsOf(exchange.agent, language), language)
  const saidAs = (bare: boolean) => {
    const times = timesIn(turn.words, language, bare)
    return times.find(time => !turn.denied.has(turn.words[time.from]!.stem))
  }
  const place = turn.words.map(word => ordinalOf(word, language)).find(ordinal => ordinal !== null)
  const chosen = place === undefined || place === null ? undefined : offered[place - 1]
  const said = saidAs(false) ?? chosen ?? (asked ? saidAs(true) : undefined)
  if (said !== undefined) return written(said, offered)
  const proposed = timesIn(question.words, language)
  return evidence.agrees && proposed.length === 1 ? written(proposed[0]!) : undefined
}
