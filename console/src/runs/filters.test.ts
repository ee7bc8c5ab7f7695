import { expect, it } from 'vitest'
import { filtersOf, localDayStart, runsQuery, withFilter } from './filters.ts'

const dayStart = (day: string, plusDays: number) => `${day}+${plusDays}`
const queryOf = (search: string) => runsQuery(filtersOf(new URLSearchParams(search)), dayStart)

it('the filters of the address become the query of the API', () => {
  expect(queryOf('agent_id=clinic&channel=phone&state=failed&successful=false&test=true&contact=human')).toEqual({
    agent_id: 'clinic',
    channel: 'phone',
    state: 'failed',
    contact: 'human',
    successful: false,
    test: true,
  })
})

it('the last day of a range is included', () => {
  expect(queryOf('after=2026-11-01&before=2026-11-02')).toEqual({ after: '2026-11-01+0', before: '2026-11-02+1' })
})

it('values that the API would refuse are left out', () => {
  expect(queryOf('channel=fax&state=done&successful=maybe&disposition=%3Cscript%3E&unknown=1&agent_id=')).toEqual({})
})

it('results are separated by commas or blanks', () => {
  expect(queryOf('disposition=Booked, no_answer busy')).toEqual({ disposition: 'booked,no_answer,busy' })
})

it('an empty filter leaves the address', () => {
  const search = withFilter(new URLSearchParams('state=failed&channel=web'), 'state', '')
  expect(search.toString()).toBe('channel=web')
  expect(withFilter(search, 'channel', 'phone').toString()).toBe('channel=phone')
})

it('a day begins at midnight of the browser', () => {
  expect(localDayStart('2026-11-23', 1)).toBe(new Date(2026, 10, 24).toISOString())
  expect(localDayStart('yesterday', 0)).toBeNull()
})
