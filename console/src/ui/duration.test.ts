import { expect, it } from 'vitest'
import { clock, shortTime } from './duration.ts'

it('a duration is shown as minutes and seconds, and with hours where it has some', () => {
  expect([0, 61_400, 3_725_000, null].map(clock)).toEqual(['0:00', '1:01', '1:02:05', '–'])
})

it('a short time is shown in ms below a second, and in s from there on', () => {
  const times = [8.4, 999, 1250, 12_340, null].map(ms => shortTime(ms, 'en').replace('\u00a0', ' '))
  expect(times).toEqual(['8 ms', '999 ms', '1.25 s', '12.3 s', '–'])
})

it('a short time has the decimal comma of Spanish', () => {
  expect([1250, 12_340].map(ms => shortTime(ms, 'es'))).toEqual(['1,25\u00a0s', '12,3\u00a0s'])
})
