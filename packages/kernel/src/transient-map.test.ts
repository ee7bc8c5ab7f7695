import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { TransientMap } from './transient-map.ts'
import { TransientSet } from './transient-set.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as (options?: { readonly type: 'minor' }) => void

/** Objects that are in a collection at once, each of about 16 KB, and how many there are in all. */
const LIVE = 8
const TOTAL = 4_000

interface Collection {
  add(key: number, value: object): () => void
}

/** Megabytes that are still used after many objects have come and gone and the young ones were collected. */
function leftBehind({ add }: Collection): number {
  const removals: (() => void)[] = []
  const turn = (key: number) => {
    removals.push(
      add(
        key,
        Array.from({ length: 500 }, (_, i) => ({ i })),
      ),
    )
    if (removals.length > LIVE) removals.shift()!()
  }
  for (let key = 0; key < LIVE; key++) turn(key)
  // What exists now is in the old generation afterwards.
  collect()
  const before = process.memoryUsage().heapUsed
  for (let key = LIVE; key < TOTAL; key++) turn(key)
  collect({ type: 'minor' })
  collect({ type: 'minor' })
  return (process.memoryUsage().heapUsed - before) / 2 ** 20
}

it('objects that have left a transient map or set are freed by the next collection of young objects', () => {
  const map = new TransientMap<number, object>()
  const set = new TransientSet<object>()
  const throughMap = leftBehind({
    add: (key, value) => {
      map.set(key, value)
      return () => map.delete(key)
    },
  })
  expect(throughMap).toBeLessThan(5)
  expect(leftBehind({ add: (_, value) => set.add(value) })).toBeLessThan(5)
})

it('a Map leaves behind what was in it, which is why there is a transient one', () => {
  const map = new Map<number, object>()
  const throughMap = leftBehind({
    add: (key, value) => {
      map.set(key, value)
      return () => map.delete(key)
    },
  })
  expect(throughMap).toBeGreaterThan(10)
})

it('a transient map has the last value of each key that was not deleted', () => {
  const map = new TransientMap<string, number>()
  map.set('a', 1)
  map.set('b', 2)
  map.set('a', 3)
  expect([map.size, map.get('a'), map.get('b'), map.get('c')]).toEqual([2, 3, 2, undefined])
  expect([map.delete('a'), map.delete('a')]).toEqual([true, false])
  map.set('c', 4)
  expect([map.size, map.get('a'), map.get('b'), map.get('c')]).toEqual([2, undefined, 2, 4])
  expect([...map.values()]).toEqual([2, 4])
  map.clear()
  expect([map.size, map.get('b'), [...map.values()]]).toEqual([0, undefined, []])
})

it('a value of a transient map may be undefined, and is deleted like any other', () => {
  const map = new TransientMap<string, undefined>()
  map.set('a', undefined)
  expect([map.size, [...map.values()], map.delete('a'), map.size]).toEqual([1, [undefined], true, 0])
})

it('the values of a transient map are visited in order, without those that are deleted meanwhile and with those that are added', () => {
  const map = new TransientMap<number, string>()
  for (const key of [1, 2, 3]) map.set(key, `value ${key}`)
  const seen: string[] = []
  for (const value of map.values()) {
    seen.push(value)
    if (value !== 'value 1') continue
    map.delete(2)
    map.set(4, 'value 4')
  }
  expect(seen).toEqual(['value 1', 'value 3', 'value 4'])
})

it('a member of a transient set leaves once, and a member that was added twice leaves twice', () => {
  const set = new TransientSet<string>()
  const leave = [set.add('a'), set.add('b'), set.add('a')]
  expect([...set]).toEqual(['a', 'b', 'a'])
  leave[0]!()
  leave[0]!()
  expect([set.size, [...set]]).toEqual([2, ['b', 'a']])
  leave[2]!()
  expect([...set]).toEqual(['b'])
})
