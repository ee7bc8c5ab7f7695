import type { Language } from '../language.ts'
import { numberAt, ordinalOf } from '../numbers.ts'
import type { Word } from '../words.ts'

/** A day in a text. It covers the words `from` to `to`, exclusive. */
export interface SpokenDate {
  readonly from: number
  readonly to: number
  /** 0 (Sunday) to 6 (Saturday) for a weekday, else null. */
  readonly weekday: number | null
  /** Days from today for a relative day ("tomorrow"), else null. */
  readonly offset: number | null
  readonly day: number | null
  /** 1 to 12. */
  readonly month: number | null
  readonly year: number | null
}

interface CalendarWords {
  readonly weekdays: readonly string[]
  readonly months: readonly string[]
  /** Phrases and their distance from today in days. */
  readonly relative: readonly (readonly [words: readonly string[], days: number])[]
  readonly before: ReadonlySet<string>
  readonly after: ReadonlySet<string>
}

const WORDS: Readonly<Record<Language, CalendarWords>> = {
  en: {
    weekdays: 'sunday monday tuesday wednesday thursday friday saturday'.split(' '),
    months: 'january february march april may june july august september october november december'.split(' '),
    relative: [
      [['day', 'after', 'tomorrow'], 2],
      [['tomorrow'], 1],
      [['today'], 0],
      [['tonight'], 0],
    ],
    before: new Set(['next', 'this', 'coming']),
    after: new Set([]),
  },
  es: {
    weekdays: 'domingo lunes martes miercoles jueves viernes sabado'.split(' '),
    months: 'enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre'.split(' '),
    relative: [
      [['pasado', 'manana'], 2],
      [['manana'], 1],
      [['hoy'], 0],
    ],
    before: new Set(['proximo', 'este']),
    after: new Set(['proximo', 'que']),
  },
}

const NOTHING = { weekday: null, offset: null, day: null, month: null, year: null }

/** The days in the words, in order: weekdays, "tomorrow", "the fifth of May", "2026-05-05". */
export function datesIn(words: readonly Word[], language: Language): SpokenDate[] {
  const found: SpokenDate[] = []
  for (let at = 0; at < words.length; ) {
    const date = dateAt(words, at, language)
    if (date !== null) found.push(date)
    at = date?.to ?? at + 1
  }
  return found
}

function dateAt(words: readonly Word[], at: number, language: Language): SpokenDate | null {
  return (
    relativeAt(words, at, language) ??
    weekdayAt(words, at, language) ??
    monthAt(words, at, language) ??
    isoAt(words, at)
  )
}

function relativeAt(words: readonly Word[], at: number, language: Language): SpokenDate | null {
  const found = WORDS[language].relative.find(([phrase]) => phrase.every((word, i) => words[at + i]?.folded === word))
  if (found === undefined) return null
  // "por la mañana" means "in the morning".
  if (language === 'es' && found[1] === 1 && words[at - 1]?.folded === 'la') return null
  return { ...NOTHING, from: at, to: at + found[0].length, offset: found[1] }
}

function weekdayAt(words: readonly Word[], at: number, language: Language): SpokenDate | null {
  const { weekdays, before, after } = WORDS[language]
  const first = before.has(words[at]?.folded ?? '') ? at + 1 : at
  const name = words[first]?.folded ?? ''
  const weekday = weekdays.findIndex(day => name === day || name === `${day}s`)
  if (weekday < 0) return null
  const more = after.has(words[first + 1]?.folded ?? '')
  const phrase = more ? (words[first + 1]!.folded === 'que' ? (words[first + 2]?.folded === 'viene' ? 2 : 0) : 1) : 0
  return { ...NOTHING, from: at, to: first + 1 + phrase, weekday }
}

function monthAt(words: readonly Word[], at: number, language: Language): SpokenDate | null {
  const month = (i: number) => WORDS[language].months.indexOf(words[i]?.folded ?? '') + 1
  const day = dayAt(words, at, language)
  if (day !== null) {
    const of = ['of', 'de'].includes(words[day.to]?.folded ?? '') ? day.to + 1 : day.to
    if (month(of) > 0) return withYear(words, { from: at, to: of + 1, day: day.value, month: month(of) })
  }
  if (language === 'es' || month(at) === 0) return null
  const the = words[at + 1]?.folded === 'the' ? at + 2 : at + 1
  const after = dayAt(words, the, language)
  return after === null ? null : withYear(words, { from: at, to: after.to, day: after.value, month: month(at) })
}

function dayAt(words: readonly Word[], at: number, language: Language): { value: number; to: number } | null {
  const word = words[at]
  if (word === undefined) return null
  const written = /^([0-9]{1,2})(st|nd|rd|th)$/.exec(word.folded)
  const number = numberAt(words, at, language)
  const value = written === null ? (ordinalOf(word, language) ?? number?.value) : Number(written[1])
  if (value === undefined || value < 1 || value > 31) return null
  return { value, to: number?.to ?? at + 1 }
}

function withYear(words: readonly Word[], date: { from: number; to: number; day: number; month: number }): SpokenDate {
  const of = ['of', 'de', 'del'].includes(words[date.to]?.folded ?? '') ? date.to + 1 : date.to
  const written = words[of]?.folded ?? ''
  const year = /^(19|20)[0-9]{2}$/.test(written) ? Number(written) : null
  return { ...NOTHING, ...date, year, to: year === null ? date.to : of + 1 }
}

/** A date such as 2026-05-05. */
function isoAt(words: readonly Word[], at: number): SpokenDate | null {
  const [year, month, day] = [0, 1, 2].map(i => words[at + i]?.folded ?? '')
  if (!/^(19|20)[0-9]{2}$/.test(year!) || !/^(0[1-9]|1[0-2])$/.test(month!) || !/^[0-3][0-9]$/.test(day!)) return null
  return { ...NOTHING, from: at, to: at + 3, year: Number(year), month: Number(month), day: Number(day) }
}
