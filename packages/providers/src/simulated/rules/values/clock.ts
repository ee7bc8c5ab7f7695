import type { Asked, Evidence } from '../evidence.ts'
import { ordinalOf } from '../numbers.ts'
import { wordsOf } from '../words.ts'
import { timesIn, written } from './times.ts'

/** The time that the turn names, "15:00": as said, by its place among those the agent offered, or by a plain yes to one. */
export function timeIn({ exchange, turn, question }: Evidence, { asked, language }: Asked): string | undefined {
  const said = timesIn(turn.words, language, asked).filter(time => !turn.denied.has(turn.words[time.from]!.stem))
  const offered = timesIn(wordsOf(exchange.agent, language), language)
  if (said.length > 0) return written(said[0]!, offered)
  const ordinal = turn.words.map(word => ordinalOf(word, language)).find(place => place !== null)
  const chosen = ordinal === undefined || ordinal === null ? undefined : offered[ordinal - 1]
  if (chosen !== undefined) return written(chosen)
  const proposed = timesIn(question.words, language)
  return turn.polarity === 'yes' && turn.plain && proposed.length === 1 ? written(proposed[0]!) : undefined
}
