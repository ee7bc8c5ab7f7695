import type { Evidence, ReadingContext } from '../evidence.ts'
import { chosenOf } from '../numbers.ts'
import type { Schema } from '../property.ts'
import { type Word, wordsOf } from '../words.ts'
import { datesIn, type SpokenDate } from './dates.ts'

/**
 * The day that the turn gives: a spoken day, the position of an offered day ("the second one"), or a plain yes to a
 * proposed day. As spoken ("next Tuesday"), or as an ISO date when the schema asks for a date and the year or today is known.
 */
export function dateIn(schema: Schema, evidence: Evidence, requested: ReadingContext): string | undefined {
  const { language } = requested
  const { exchange, turn, question } = evidence
  const form = (date: SpokenDate | undefined, text: string, words: readonly Word[]) =>
    date === undefined ? undefined : wantsIso(schema) ? isoDate(date, requested.today) : asSpoken(date, text, words)
  const spoken = datesIn(turn.words, language).find(date => !isDenied(date, turn.words, turn.negatedStems))
  if (spoken !== undefined) return form(spoken, exchange.caller, turn.words)
  const words = wordsOf(exchange.agent, language)
  const chosen = chosenOf(datesIn(words, language), turn.words, language)
  if (chosen !== undefined) return form(chosen, exchange.agent, words)
  const proposed = datesIn(question.words, language)
  return evidence.agrees && proposed.length === 1 ? form(proposed[0], question.text, question.words) : undefined
}

function isDenied(date: SpokenDate, words: readonly Word[], denied: ReadonlySet<string>): boolean {
  return denied.has(words[date.to - 1]!.stem)
}

function asSpoken(date: SpokenDate, text: string, words: readonly Word[]): string {
  return text.slice(words[date.from]!.start, words[date.to - 1]!.end)
}

function wantsIso(schema: Schema): boolean {
  return schema.format === 'date' || (typeof schema.description === 'string' && /YYYY-MM-DD/.test(schema.description))
}

const DAY_MS = 86_400_000

/** The ISO date; undefined when it depends on an unknown current date or does not exist. */
function isoDate(date: SpokenDate, today: string | null): string | undefined {
  const now = today === null ? Number.NaN : Date.parse(`${today}T00:00:00Z`)
  if (date.offset !== null) return isoOf(now + date.offset * DAY_MS)
  if (date.weekday !== null) return isoOf(now + daysUntil(date.weekday, now) * DAY_MS)
  if (date.day === null || date.month === null) return undefined
  if (date.year !== null) return isoOf(Date.UTC(date.year, date.month - 1, date.day), date.day)
  const thisYear = new Date(now).getUTCFullYear()
  const next = Date.UTC(thisYear, date.month - 1, date.day)
  return isoOf(next < now ? Date.UTC(thisYear + 1, date.month - 1, date.day) : next, date.day)
}

/** 1 to 7: "Tuesday" on a Tuesday means the next one. */
function daysUntil(weekday: number, now: number): number {
  const today = new Date(now).getUTCDay()
  return ((weekday - today + 6) % 7) + 1
}

function isoOf(instant: number, day?: number): string | undefined {
  const date = new Date(instant)
  if (Number.isNaN(date.getTime()) || (day !== undefined && date.getUTCDate() !== day)) return undefined
  return date.toISOString().slice(0, 10)
}
