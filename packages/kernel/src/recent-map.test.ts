import { expect, it } from 'vitest'
import { RecentMap } from './recent-map.ts'

function filled(capacity: number, keys: readonly number[]): RecentMap<number, string> {
  const map = new RecentMap<number, string>(capacity)
  for (const key of keys) map.set(key, `value ${key}`)
  return map
}

it('a recent map stores at least as many recent entries as its capacity, and at most twice as many', () => {
  const map = new RecentMap<number, number>(10)
  for (let key = 0; key < 1000; key++) {
    map.set(key, key)
    expect(map.size).toBeLessThan(20)
    // Four other entries were set since, and four were read.
    if (key >= 4) expect(map.get(key - 4)).toBe(key - 4)
  }
  expect(map.get(0)).toBeUndefined()
})

it('an entry of a recent map that is read stays while others are forgotten', () => {
  const map = filled(4, [0])
  for (let key = 1; key < 100; key++) {
    map.set(key, `value ${key}`)
    expect(map.get(0)).toBe('value 0')
  }
  expect(map.get(50)).toBeUndefined()
})

it('an entry of a recent map has its last value, and is counted once', () => {
  const map = filled(2, [1, 2])
  map.set(1, 'other')
  expect([map.get(1), map.size]).toEqual(['other', 2])
})

it('a deleted entry of a recent map is gone, whatever its age', () => {
  const map = filled(2, [1, 2, 3])
  expect([map.delete(1), map.delete(3), map.delete(4)]).toEqual([true, true, false])
  expect([map.get(1), map.get(2), map.get(3)]).toEqual([undefined, 'value 2', undefined])
})
