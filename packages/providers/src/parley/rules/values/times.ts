import type { Language } from '../language.ts'
import { numberAt } from '../numbers.ts'
import type { Word } from '../words.ts'

/** A time of day in a text. It covers the words `from` to `to`, exclusive. */
interface SpokenTime {
  readonly from: number
  readonly to: number
  readonly hour: number
  readonly minute: number
  /** The hour is from 1 to 12, without "morning" or "afternoon". */
  readonly ambiguous: boolean
}

interface Read {
  readonly hour: number
  readonly minute: number
  readonly to: number
  /** Its form shows that it is a time, without a word such as "at". */
  readonly sure: boolean
}

const PREPOSITIONS: Readonly<Record<Language, readonly string[]>> = {
  en: ['at', 'around', 'by'],
  es: ['las', 'la'],
}
const NAMED: Readonly<Record<string, number>> = { noon: 12, midday: 12, midnight: 0, mediodia: 12, medianoche: 0 }
const PARTS_OF_HOUR = new Map(Object.entries({ half: 30, quarter: 15, media: 30, cuarto: 15 }))
const MINUTES = [0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55]
/** Ambiguous hours below this one are in the afternoon, others in the morning, because appointments are by day. */
const FIRST_MORNING_HOUR = 7

/** The times in the words, in order. `bare`: a number alone, such as "three", also counts. */
export function timesIn(words: readonly Word[], language: Language, bare = false): SpokenTime[] {
  const found: SpokenTime[] = []
  for (let at = 0; at < words.length; ) {
    const time = timeAt(words, at, language, bare)
    if (time !== null) found.push(time)
    at = time?.to ?? at + 1
  }
  return found
}

/**
 * The time as "15:00". An ambiguous hour takes the half of the day of the equal time in `offered` (times that the agent
 * named); else one to six are in the afternoon.
 */
export function written(time: SpokenTime, offered: readonly SpokenTime[] = []): string {
  const same = offered.find(
    other => !other.ambiguous && other.hour % 12 === time.hour % 12 && other.minute === time.minute,
  )
  let { hour } = time
  if (time.ambiguous && same !== undefined) hour = same.hour
  else if (time.ambiguous && hour < FIRST_MORNING_HOUR) hour += 12
  return `${String(hour).padStart(2, '0')}:${String(time.minute).padStart(2, '0')}`
}

function timeAt(words: readonly Word[], at: number, language: Language, bare: boolean): SpokenTime | null {
  const word = words[at]!.folded
  if (Object.hasOwn(NAMED, word)) return { from: at, to: at + 1, hour: NAMED[word]!, minute: 0, ambiguous: false }
  const read = language === 'en' ? readEnglish(words, at) : readSpanish(words, at)
  if (read === null || read.hour > 23 || read.minute > 59) return null
  const half = halfOfDay(words, read.to, language)
  const before = words[at - 1]?.folded ?? ''
  if (!read.sure && half === null && !bare && !PREPOSITIONS[language].includes(before)) return null
  const meant = inHalf(read.hour, half?.half ?? null)
  const exact = /^0[0-9]$/.test(word)
  const ambiguous = half === null && meant >= 1 && meant <= 12 && !exact
  return { from: at, to: half?.to ?? read.to, hour: meant, minute: read.minute, ambiguous }
}

function inHalf(hour: number, half: 'morning' | 'afternoon' | null): number {
  if (half === 'afternoon' && hour < 12) return hour + 12
  return half === 'morning' && hour === 12 ? 0 : hour
}

function readEnglish(words: readonly Word[], at: number): Read | null {
  const word = words[at]!.folded
  const past = ['half', 'quarter'].includes(word) || numberAt(words, at, 'en') !== null ? pastOrTo(words, at) : null
  if (past !== null) return past
  return read(words, at, 'en')
}

/** "half past nine", "a quarter to four", "ten past three". */
function pastOrTo(words: readonly Word[], at: number): Read | null {
  const named = PARTS_OF_HOUR.get(words[at]!.folded)
  const number = numberAt(words, at, 'en')
  const minutes = named ?? number?.value ?? 60
  const link = named === undefined ? number!.to : at + 1
  const direction = words[link]?.folded
  // "from ten to five" and "eight to six" are ranges, not times.
  const isSpan = words[at - 1]?.folded === 'from' || !MINUTES.includes(minutes)
  if ((direction !== 'past' && direction !== 'to') || isSpan) return null
  const hour = numberAt(words, link + 1, 'en')
  if (hour === null || hour.value < 1 || hour.value > 12) return null
  return direction === 'past'
    ? { hour: hour.value, minute: minutes, to: hour.to, sure: true }
    : { hour: hour.value === 1 ? 12 : hour.value - 1, minute: 60 - minutes, to: hour.to, sure: true }
}

function readSpanish(words: readonly Word[], at: number): Read | null {
  const hour = read(words, at, 'es')
  if (hour === null || hour.sure) return hour
  const [link, part] = [words[hour.to]?.folded, words[hour.to + 1]?.folded]
  const named = PARTS_OF_HOUR.get(part ?? '')
  const minutes = named ?? numberAt(words, hour.to + 1, 'es')?.value
  const to = named === undefined ? (numberAt(words, hour.to + 1, 'es')?.to ?? hour.to) : hour.to + 2
  if (minutes === undefined || minutes > 59) return hour
  if (link === 'y' && (named !== undefined || MINUTES.includes(minutes)))
    return { hour: hour.hour, minute: minutes, to, sure: named !== undefined }
  if (link === 'menos') return { hour: hour.hour === 1 ? 12 : hour.hour - 1, minute: 60 - minutes, to, sure: true }
  return hour
}

/** "15:00", "3 30", "three thirty", "three o'clock", "three". */
function read(words: readonly Word[], at: number, language: Language): Read | null {
  const glued = /^([0-9]{1,2})(am|pm|h)$/.exec(words[at]!.folded)
  // halfOfDay() reads "am" or "pm" from the same word afterwards.
  if (glued !== null) return { hour: Number(glued[1]), minute: 0, to: glued[2] === 'h' ? at + 1 : at, sure: true }
  const hour = numberAt(words, at, language)
  if (hour === null || hour.value > 23 || hour.digits.length > 2) return null
  const [clock, o] = [words[hour.to], words[hour.to + 1]]
  if (clock?.folded === "o'clock" || clock?.folded === 'oclock')
    return { hour: hour.value, minute: 0, to: hour.to + 1, sure: true }
  if (clock?.folded === 'o' && o?.folded === 'clock')
    return { hour: hour.value, minute: 0, to: hour.to + 2, sure: true }
  const minute = numberAt(words, hour.to, language)
  if (minute !== null && isClock(words[at]!, clock!))
    return { hour: hour.value, minute: minute.value, to: minute.to, sure: true }
  if (minute !== null && hour.value > 0 && !/^[0-9]/.test(words[at]!.folded) && isMinutes(minute.value, clock!))
    return { hour: hour.value, minute: minute.value, to: minute.to, sure: false }
  return { hour: hour.value, minute: 0, to: hour.to, sure: false }
}

/** Whether the words are a clock time such as 10:30 or 10.30, with one mark between the numbers. */
function isClock(hour: Word, minute: Word): boolean {
  const oneMark = minute.afterBreak && minute.start === hour.end + 1
  return oneMark && /^[0-9]{1,2}$/.test(hour.folded) && /^[0-5][0-9]$/.test(minute.folded)
}

function isMinutes(value: number, word: Word): boolean {
  return value >= 10 && MINUTES.includes(value) && !word.afterBreak
}

function halfOfDay(
  words: readonly Word[],
  at: number,
  language: Language,
): { half: 'morning' | 'afternoon'; to: number } | null {
  const glued = /^[0-9]{1,2}(am|pm)$/.exec(words[at]?.folded ?? '')
  if (glued !== null) return { half: glued[1] === 'am' ? 'morning' : 'afternoon', to: at + 1 }
  const [first, second, third] = [0, 1, 2].map(i => words[at + i]?.folded ?? '')
  for (const [letter, half] of [
    ['a', 'morning'],
    ['p', 'afternoon'],
  ] as const) {
    if (first === `${letter}m`) return { half, to: at + 1 }
    if (first === letter && second === 'm') return { half, to: at + 2 }
  }
  const parts: Readonly<Record<string, 'morning' | 'afternoon'>> =
    language === 'en'
      ? { morning: 'morning', afternoon: 'afternoon', evening: 'afternoon' }
      : { manana: 'morning', madrugada: 'morning', tarde: 'afternoon', noche: 'afternoon' }
  const opens = language === 'en' ? first === 'in' && second === 'the' : first === 'de' && second === 'la'
  if (opens && Object.hasOwn(parts, third!)) return { half: parts[third!]!, to: at + 3 }
  if (language === 'en' && first === 'at' && second === 'night') return { half: 'afternoon', to: at + 2 }
  return null
}
