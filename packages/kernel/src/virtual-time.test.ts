import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { VirtualTime } from './virtual-time.ts'

describe('virtual time', () => {
  it('virtual time fires in order of deadline, then of creation, each at its own deadline', () => {
    const time = new VirtualTime(100)
    const fired: string[] = []
    const note = (name: string) => () => fired.push(`${name}@${time.now()}`)
    time.at(130, note('late'))
    time.at(110, note('first'))
    time.at(110, note('second'))
    time.at(50, note('overdue'))
    expect(fired, 'nothing fires before time moves').toEqual([])
    time.advance(20)
    expect(fired).toEqual(['overdue@100', 'first@110', 'second@110'])
    expect([time.now(), time.nextDeadline()]).toEqual([120, 130])
  })

  it('virtual time fires in the same order as a sorted list for random timers and cancellations', () => {
    const timers = fc.array(fc.record({ deadline: fc.nat(1000), cancel: fc.boolean() }), { maxLength: 300 })
    fc.assert(
      fc.property(timers, fc.nat(1000), (plan, until) => {
        const time = new VirtualTime()
        const fired: number[] = []
        const armed = plan.map(({ deadline }, i) => time.at(deadline, () => fired.push(i)))
        plan.forEach(({ cancel }, i) => {
          if (cancel) armed[i]!.cancel()
        })
        const expected = plan
          .map((entry, i) => ({ ...entry, i }))
          .filter(({ cancel }) => !cancel)
          .sort((a, b) => a.deadline - b.deadline || a.i - b.i)
        time.advanceTo(until)
        expect(fired).toEqual(expected.filter(({ deadline }) => deadline <= until).map(({ i }) => i))
        expect(time.nextDeadline()).toBe(expected.find(({ deadline }) => deadline > until)?.deadline)
      }),
    )
  })

  it('virtual time fires timers that a callback arms, and not those that it cancels', () => {
    const time = new VirtualTime()
    const fired: string[] = []
    const doomed = time.at(20, () => fired.push('doomed'))
    time.at(10, () => {
      fired.push('a')
      doomed.cancel()
      doomed.cancel()
      time.at(time.now(), () => fired.push('at once'))
      time.at(15, () => fired.push('b'))
    })
    time.advanceTo(30)
    expect(fired).toEqual(['a', 'at once', 'b'])
    expect(time.nextDeadline()).toBeUndefined()
  })

  it('virtual time runs the ticks of a 40-minute call, each moving a 32-second timer, in well under a second', () => {
    const time = new VirtualTime()
    const end = 40 * 60_000
    let ticks = 0
    let guard = time.at(32_000, () => {})
    const tick = () => {
      ticks++
      guard.cancel()
      guard = time.at(time.now() + 32_000, () => {})
      if (time.now() < end) time.at(time.now() + 20, tick)
    }
    time.at(20, tick)
    const started = performance.now()
    time.advanceTo(end)
    expect(ticks).toBe(120_000)
    expect(performance.now() - started).toBeLessThan(5000)
  })

  it('virtual time throws when timers arm themselves for "now" without end', () => {
    const time = new VirtualTime()
    const again = () => {
      time.at(time.now(), again)
    }
    again()
    expect(() => time.advance(1)).toThrow('virtual time does not advance')
  })
})
