import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SendSlots } from './send-slots.ts'

function sweeps(slots: SendSlots<string>, wakes: number[]): [owner: string, slot: number, at: number][] {
  const sent: [string, number, number][] = []
  for (const wake of wakes) slots.sweep(wake, (owner, slot) => sent.push([owner, slot, wake]))
  return sent
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i)

describe('send slots', () => {
  it('a new call gets the emptiest slot, and keeps it', () => {
    const slots = new SendSlots<string>()
    const calls = range(0, 64).map(i => slots.add(`call ${i}`, 20))
    const load = range(0, 8).map(slot => calls.filter(call => call.slot === slot).length)
    expect(load).toEqual([16, 0, 16, 0, 16, 0, 16, 0])
    const third = calls.filter(call => call.slot === 4)
    for (const call of third.slice(0, 2)) slots.remove(call)
    expect(slots.add('late', 20).slot).toBe(4)
    expect(slots.count).toBe(63)
  })

  it('from 400 calls on new ones have every slot, until all have as many', () => {
    const slots = new SendSlots<string>()
    const calls = range(0, 800).map(i => slots.add(`call ${i}`, 20))
    const load = range(0, 8).map(slot => calls.filter(call => call.slot === slot).length)
    expect(load).toEqual([100, 100, 100, 100, 100, 100, 100, 100])
  })

  it('each call sends once per packet time, on its own grid', () => {
    for (const ptime of [10, 20, 30, 40, 50, 60]) {
      const slots = new SendSlots<string>()
      slots.add('other', 20)
      slots.add('call', ptime)
      const at = sweeps(slots, range(1, 1201)).filter(([owner]) => owner === 'call')
      const gaps = at.slice(1).map(([, slot], i) => (slot - at[i]![1]) * 2.5)
      expect(new Set(gaps)).toEqual(new Set([ptime]))
      expect(at.length).toBeGreaterThanOrEqual(Math.floor(3000 / ptime) - 1)
    }
  })

  it('after a stall a call sends one packet for the newest slot, which says how many were missed, and continues on its grid', () => {
    const slots = new SendSlots<string>()
    slots.add('call', 20)
    const sent: [slot: number, at: number, missed: number][] = []
    for (const wake of [...range(1, 10), 30, 31, 32, 33])
      slots.sweep(wake, (_, slot, missed) => sent.push([slot, wake, missed]))
    expect(sent).toEqual([
      [8, 8, 0],
      [24, 30, 1],
      [32, 32, 0],
    ])
  })

  it('at any times of wake-up a call sends never early, never twice and never off its grid', () => {
    const ptimes = fc.constantFrom(10, 20, 30, 40, 50, 60)
    fc.assert(
      fc.property(fc.array(ptimes, { maxLength: 30 }), fc.array(fc.integer({ min: 1, max: 60 })), (calls, steps) => {
        const slots = new SendSlots<string>()
        const entries = new Map(calls.map((ptime, i) => [`${i}`, slots.add(`${i}`, ptime)]))
        const first = new Map([...entries].map(([owner, entry]) => [owner, entry.nextWake]))
        let wake = 0
        for (const step of steps) {
          wake += step
          const seen = new Set<string>()
          slots.sweep(wake, (owner, slot) => {
            expect(seen.has(owner)).toBe(false)
            seen.add(owner)
            expect(slot).toBeLessThanOrEqual(wake)
            expect((slot - first.get(owner)!) % entries.get(owner)!.periodWakes).toBe(0)
          })
          for (const entry of entries.values()) expect(entry.nextWake).toBeGreaterThan(wake)
        }
      }),
    )
  })
})
