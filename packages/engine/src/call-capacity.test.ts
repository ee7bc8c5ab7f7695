import { expect, it } from 'vitest'
import { CallCapacity } from './call-capacity.ts'

it('an engine with all places taken refuses a call for overload until a place is released', () => {
  const capacity = new CallCapacity(2)
  const first = capacity.reserve()
  capacity.reserve()
  expect([capacity.refusal, capacity.reserve(), capacity.free]).toEqual(['overload', null, 0])
  first?.release()
  expect([capacity.refusal, capacity.free, capacity.taken]).toEqual([null, 1, 1])
})

it('a place that is released twice frees one place', () => {
  const capacity = new CallCapacity(3)
  const place = capacity.reserve()
  capacity.reserve()
  place?.release()
  place?.release()
  expect(capacity.taken).toBe(1)
})

it('an engine that sends or reads audio late refuses calls for overload until it is on time, and the calls it has keep their places', () => {
  let p99Ms = 0
  let readMs = 0
  const capacity = new CallCapacity(2, [
    { limitMs: 40, recentMs: () => p99Ms },
    { limitMs: 250, recentMs: () => readMs },
  ])
  capacity.reserve()
  p99Ms = 41
  expect([capacity.refusal, capacity.reserve(), capacity.free, capacity.taken]).toEqual(['overload', null, 0, 1])
  p99Ms = 40
  readMs = 251
  expect(capacity.refusal).toBe('overload')
  readMs = 250
  expect([capacity.refusal, capacity.free, capacity.reserve()]).toEqual([null, 1, expect.anything()])
})

it('an engine that drains gives no place, and the calls it has keep theirs', () => {
  const capacity = new CallCapacity(2)
  const place = capacity.reserve()
  capacity.drain()
  expect([capacity.refusal, capacity.reserve(), capacity.free, capacity.taken]).toEqual(['draining', null, 0, 1])
  place?.release()
  expect([capacity.refusal, capacity.taken]).toEqual(['draining', 0])
})
