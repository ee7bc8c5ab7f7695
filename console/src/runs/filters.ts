/** The filters of the list of runs, as the query of the page's address. */
const FILTERS = [
  'agent_id',
  'channel',
  'state',
  'contact',
  'disposition',
  'successful',
  'test',
  'after',
  'before',
] as const
export type FilterName = (typeof FILTERS)[number]
type Filters = Readonly<Partial<Record<FilterName, string>>>

export const STATES = [
  'admitted',
  'running',
  'ending',
  'completed',
  'failed',
  'cancelled',
  'rejected',
  'expired',
] as const
export const CHANNELS = ['phone', 'web', 'cloud'] as const
export const CONTACTS = ['human', 'voicemail', 'ivr', 'unknown', 'not_applicable'] as const

/** The filters that the address names; empty and unknown ones are left out. */
export function filtersOf(search: URLSearchParams): Filters {
  const found = FILTERS.map(name => [name, search.get(name)?.trim() ?? ''] as const)
  return Object.fromEntries(found.filter(([, value]) => value !== ''))
}

/** The address's query with one filter changed; an empty value removes it. */
export function withFilter(search: URLSearchParams, name: FilterName, value: string): URLSearchParams {
  const changed = new URLSearchParams(search)
  if (value === '') changed.delete(name)
  else changed.set(name, value)
  return changed
}

interface RunsQuery {
  agent_id?: string
  channel?: (typeof CHANNELS)[number]
  state?: (typeof STATES)[number]
  contact?: string
  disposition?: string
  successful?: boolean
  test?: boolean
  after?: string
  before?: string
}

/** The query of `runs.list`. Days are of the time zone `dayStart` knows: `before` includes its day. Values that the API would refuse are left out. */
export function runsQuery(filters: Filters, dayStart: (day: string, plusDays: number) => string | null): RunsQuery {
  const query: RunsQuery = {}
  if (filters.agent_id !== undefined) query.agent_id = filters.agent_id
  const channel = CHANNELS.find(value => value === filters.channel)
  if (channel !== undefined) query.channel = channel
  const state = STATES.find(value => value === filters.state)
  if (state !== undefined) query.state = state
  const contact = CONTACTS.find(value => value === filters.contact)
  if (contact !== undefined) query.contact = contact
  const disposition = dispositions(filters.disposition ?? '')
  if (disposition !== '') query.disposition = disposition
  if (filters.successful === 'true' || filters.successful === 'false') query.successful = filters.successful === 'true'
  if (filters.test === 'true' || filters.test === 'false') query.test = filters.test === 'true'
  const after = filters.after === undefined ? null : dayStart(filters.after, 0)
  if (after !== null) query.after = after
  const before = filters.before === undefined ? null : dayStart(filters.before, 1)
  if (before !== null) query.before = before
  return query
}

/** Words separated by commas or blanks, as the API takes them. */
function dispositions(text: string): string {
  const words = text.toLowerCase().split(/[\s,]+/)
  return words
    .filter(word => /^[a-z][a-z0-9_-]{0,127}$/.test(word))
    .slice(0, 32)
    .join(',')
}

/** The start of a day (`YYYY-MM-DD`) in the browser's time zone, `plusDays` later; null for a text that is no day. */
export function localDayStart(day: string, plusDays: number): string | null {
  const found = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day)
  if (found === null) return null
  const date = new Date(Number(found[1]), Number(found[2]) - 1, Number(found[3]) + plusDays)
  return Number.isNaN(date.getTime()) ? null : date.toISOString()
}
