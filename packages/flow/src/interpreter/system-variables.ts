import type { UnixMs } from '@parley/kernel'

const DAY_MS = 86_400_000
const CALENDAR_DAYS = 14
/** Making a formatter takes longer than formatting; authors choose time zones, so that the number of formatters is bounded. */
const MAX_FORMATTERS = 64

/** Facts of a conversation that system variables show. */
interface SystemFacts {
  readonly now: UnixMs
  /** IANA name of the agent's time zone. */
  readonly timezone: string
  /** Names of the current and the previous node. */
  readonly node: string | undefined
  readonly previousNode: string | undefined
  /** Number of consecutive caller turns that were speech without words. */
  readonly notUnderstood: number
  /** Digits of the caller's last turn; null when it was speech. */
  readonly digits: string | null
  /** Outcome of the last action: succeeded, failed or uncertain; null: there was none. */
  readonly actionOutcome: string | null
  /** What answered the call: human, voicemail, ivr, …; null: not known. */
  readonly answeredBy: string | null
  /** The language of the conversation now, as a primary tag. */
  readonly language: string
}

const FIXED: Readonly<Record<string, (facts: SystemFacts) => string | undefined>> = {
  current_time: facts => timeIn(facts.timezone, facts.now),
  current_calendar: facts => calendarIn(facts.timezone, facts.now),
  current_agent_state: facts => facts.node,
  previous_agent_state: facts => facts.previousNode,
  current_not_understood: facts => String(facts.notUnderstood),
  current_digits: facts => facts.digits ?? undefined,
  current_action_outcome: facts => facts.actionOutcome ?? undefined,
  current_answered_by: facts => facts.answeredBy ?? undefined,
  current_language: facts => facts.language,
}

const TIME_PREFIX = 'current_time_'

/** The value of a `current_` or `previous_` variable; undefined where there is none. `current_time_Europe/Madrid` is the time there. */
export function systemVariable(name: string, facts: SystemFacts): string | undefined {
  if (Object.hasOwn(FIXED, name)) return FIXED[name]!(facts)
  return name.startsWith(TIME_PREFIX) ? timeIn(name.slice(TIME_PREFIX.length), facts.now) : undefined
}

/** Whether a template may refer to the name. */
export function isKnownSystemVariable(name: string): boolean {
  return (
    Object.hasOwn(FIXED, name) ||
    (name.startsWith(TIME_PREFIX) && timeIn(name.slice(TIME_PREFIX.length), 0) !== undefined)
  )
}

const clocks = new Map<string, Intl.DateTimeFormat>()
const calendars = new Map<string, Intl.DateTimeFormat>()

function timeIn(timeZone: string, now: UnixMs): string | undefined {
  try {
    return formatter(clocks, { timeZone, dateStyle: 'full', timeStyle: 'long' }).format(now)
  } catch {
    // Not a time zone, or not a time.
    return undefined
  }
}

function calendarIn(timeZone: string, now: UnixMs): string | undefined {
  try {
    const day = formatter(calendars, { timeZone, weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' })
    const days = Array.from({ length: CALENDAR_DAYS }, (_, index) => day.format(now + index * DAY_MS))
    return days.map((text, index) => (index === 0 ? `${text} (today)` : text)).join('\n')
  } catch {
    return undefined
  }
}

/** The formatter of a time zone, which is made once. Throws a RangeError for what is no time zone. */
function formatter(
  made: Map<string, Intl.DateTimeFormat>,
  options: Intl.DateTimeFormatOptions & { readonly timeZone: string },
): Intl.DateTimeFormat {
  const known = made.get(options.timeZone)
  if (known !== undefined) return known
  const fresh = new Intl.DateTimeFormat('en-US', options)
  if (made.size >= MAX_FORMATTERS) made.clear()
  made.set(options.timeZone, fresh)
  return fresh
}
