import { expect, it } from 'vitest'
import { serviceChanges, serviceId, servicesOf, withCurrent } from './choices.ts'

it('a list of choices has the current value, also where the catalogue lacks it', () => {
  const choices = [['a', 'A']] as const
  expect(withCurrent(choices, 'a')).toEqual([['a', 'A']])
  expect(withCurrent(choices, 'b')).toEqual([
    ['a', 'A'],
    ['b', 'b'],
  ])
  expect(withCurrent(choices, '')).toEqual([['a', 'A']])
})

it('a service is listed once, and is ready if one of its voices is', () => {
  const voices = [
    { provider: 'x', model: 'm', ready: false },
    { provider: 'x', model: 'm', ready: true },
    { provider: 'y', model: 'm', ready: false },
  ]
  expect(servicesOf(voices).map(one => [serviceId(one), one.ready])).toEqual([
    ['x · m', true],
    ['y · m', false],
  ])
})

it('another provider takes no key and no address of the one before', () => {
  const before = { provider: 'x', credential: { id: 'k', version: '1' } }
  expect(serviceChanges(before, 'y')).toEqual({ credential: null })
  expect(serviceChanges(before, 'x')).toEqual({})
})
