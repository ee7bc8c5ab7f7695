import { expect, it } from 'vitest'
import { dayFormat } from './day-format.ts'

it('the days of a plot have month and day in the order of the language, and are days of UTC', () => {
  const lastSecond = Date.UTC(2026, 10, 23, 23, 59, 59) / 1000
  expect([dayFormat('en')(lastSecond), dayFormat('es')(lastSecond)]).toEqual(['11/23', '23/11'])
})
