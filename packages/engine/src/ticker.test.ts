import type { Ms } from '@parley/kernel'
import { expect, it } from 'vitest'
import { Ticker } from './ticker.ts'

/** A clock whose next timer fires as late as the test says. */
function lateClock() {
  let now: Ms = 0
  let next: { readonly dueAt: Ms; readonly run: () => void } | null = null
  const ticker = new Ticker({
    now: () => now,
    at: (dueAt, run) => {
      next = { dueAt, run }
      return { cancel: () => {} }
    },
  })
  const fire = (count: number, lateMs: Ms) => {
    for (let i = 0; i < count; i++) {
      now = next!.dueAt + lateMs
      next!.run()
    }
  }
  return { ticker, fire }
}

it('an engine that reads audio on time is not late, and one stall of 200 ms counts for a tenth', () => {
  const { ticker, fire } = lateClock()
  ticker.add(() => {})
  fire(1000, 1)
  expect(ticker.latenessMs).toBeCloseTo(1, 1)
  fire(1, 200)
  expect(ticker.latenessMs).toBeGreaterThan(15)
  expect(ticker.latenessMs).toBeLessThan(25)
})

it('an engine that reads audio 400 ms late for three seconds is late by more than 300 ms, and on time three seconds after', () => {
  const { ticker, fire } = lateClock()
  ticker.add(() => {})
  fire(8, 400)
  expect(ticker.latenessMs).toBeGreaterThan(300)
  fire(600, 0)
  expect(ticker.latenessMs).toBeLessThan(100)
})

it('an engine without calls is not late', () => {
  const { ticker, fire } = lateClock()
  const remove = ticker.add(() => {})
  fire(8, 400)
  remove()
  fire(4, 400)
  expect(ticker.latenessMs).toBe(0)
})
