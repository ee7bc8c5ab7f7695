import type { UnixMs } from '@parley/kernel'

const DAY_MS = 86_400_000

/** A year ahead, in days. */
const HORIZON_DAYS = 366
const WEEK_DAYS = 7
const SATURDAY = 6
const SUNDAY = 0

/** Times of appointments, and how they are spoken. */
const MORNING = [
  { time: '09:30', spoken: 'nine thirty', half: 'morning' },
  { time: '10:15', spoken: 'ten fifteen', half: 'morning' },
  { time: '11:00', spoken: 'eleven', half: 'morning' },
] as const
const AFTERNOON = [
  { time: '14:15', spoken: 'two fifteen', half: 'afternoon' },
  { time: '15:00', spoken: 'three', half: 'afternoon' },
  { time: '16:30', spoken: 'four thirty', half: 'afternoon' },
] as const

const WEEKDAY = new Intl.DateTimeFormat('en-US', { timeZone: 'UTC', weekday: 'long' })
const DAY_OF_MONTH = new Intl.DateTimeFormat('en-US', { timeZone: 'UTC', month: 'long', day: 'numeric' })

/** One available appointment. */
export interface Slot {
  /** `2026-11-24T09:30`. */
  readonly id: string
  readonly time: string
  /** "nine thirty" */
  readonly spoken: string
  readonly half: 'morning' | 'afternoon'
}

/** A date, `2026-11-24`; undefined for anything else. Dates are in UTC. */
export function dateOf(text: string): string | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined
  const at = Date.parse(text)
  return Number.isNaN(at) || dateAt(at) !== text ? undefined : text
}

export function dateAt(at: UnixMs): string {
  return new Date(at).toISOString().slice(0, 10)
}

/** "Tuesday" */
export function weekday(date: string): string {
  return WEEKDAY.format(Date.parse(date))
}

/** As it is said on the day `today`: "Tuesday", from a week on "Tuesday December 1". */
export function dayName(date: string, today: string): string {
  const at = Date.parse(date)
  const isNear = (at - Date.parse(today)) / DAY_MS < WEEK_DAYS
  return isNear ? weekday(date) : `${weekday(date)} ${DAY_OF_MONTH.format(at)}`
}

/** The appointments of a day: one in the morning, one in the afternoon, none on weekends. The date alone decides. */
export function slotsOn(date: string): Slot[] {
  const day = Date.parse(date) / DAY_MS
  const dayOfWeek = new Date(date).getUTCDay()
  if (dayOfWeek === SATURDAY || dayOfWeek === SUNDAY) return []
  return [MORNING[day % 3]!, AFTERNOON[(day + 1) % 3]!].map(slot => ({ ...slot, id: `${date}T${slot.time}` }))
}

/** Dates after `today`, nearest first, for as long as a year. */
export function* datesAfter(today: string): Generator<string, void, undefined> {
  for (let day = 1; day <= HORIZON_DAYS; day++) yield dateAt(Date.parse(today) + day * DAY_MS)
}

/** The slot with this id; undefined: there is none. */
export function slotById(id: string): Slot | undefined {
  const date = dateOf(id.slice(0, 10))
  return date === undefined ? undefined : slotsOn(date).find(slot => slot.id === id)
}
