import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { LeftBehind } from './transient-map.fixture.ts'
import { TransientMap } from './transient-map.ts'
import { TransientSet } from './transient-set.ts'

it('objects that have left a transient map or set are freed by the next collection of young objects, and those that have left a Map are not', () => {
  const program = join(import.meta.dirname, 'transient-map.fixture.ts')
  const left = JSON.parse(execFileSync(process.execPath, ['--expose-gc', program], { encoding: 'utf8' })) as LeftBehind
  expect(left.transientMap).toBeLessThan(5)
  expect(left.transientSet).toBeLessThan(5)
  // This is why there is a transient map.
  expect(left.map).toBeGreaterThan(10)
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
