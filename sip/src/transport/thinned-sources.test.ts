import { VirtualTime } from '@parley/kernel'
import { expect, it } from 'vitest'
import { ThinnedSources } from './thinned-sources.ts'

function thinned(isPossible = true) {
  const time = new VirtualTime()
  const applied: (readonly string[])[] = []
  const sources = new ThinnedSources(time, 1000, addresses => {
    applied.push(addresses)
    return isPossible
  })
  return { time, sources, applied }
}

it('a source stays thinned while its flood lasts, and is thinned no more when it is over', () => {
  const { time, sources, applied } = thinned()
  sources.add('192.0.2.1')
  sources.add('192.0.2.1')
  for (let review = 0; review < 25; review++) {
    for (let i = 0; i < 4; i++) expect(sources.count('192.0.2.1')).toBe(review < 15 ? 1 : 64)
    time.advance(200)
  }
  expect(applied).toEqual([['192.0.2.1']])
  for (let i = 0; i < 3; i++) sources.count('192.0.2.1')
  time.advance(200)
  expect(applied).toEqual([['192.0.2.1'], []])
  expect(sources.count('192.0.2.1')).toBe(1)
})

it('the end of one flood leaves other sources thinned', () => {
  const { time, sources, applied } = thinned()
  sources.add('192.0.2.1')
  sources.add('192.0.2.2')
  for (let i = 0; i < 4; i++) sources.count('192.0.2.2')
  time.advance(200)
  expect(applied.at(-1)).toEqual(['192.0.2.2'])
})

it('at most 64 sources are thinned, and none of IPv6', () => {
  const { sources, applied } = thinned()
  sources.add('2001:db8::1')
  for (let i = 0; i < 100; i++) sources.add(`192.0.2.${i}`)
  expect(applied).toHaveLength(64)
  expect(applied.at(-1)).toHaveLength(64)
})

it('where the system cannot drop datagrams, no source counts as thinned', () => {
  const { time, sources } = thinned(false)
  sources.add('192.0.2.1')
  expect(sources.count('192.0.2.1')).toBe(1)
  time.advance(10_000)
})
