import { VirtualTime } from '@parley/kernel'
import { expect, it } from 'vitest'
import { RefusedCalls } from './refused-calls.ts'

function refusedCalls() {
  const time = new VirtualTime()
  const reported: string[] = []
  const noted: string[] = []
  const calls = new RefusedCalls({ time, onProblem: what => void reported.push(what) })
  const refuse = (callId: string, work = () => Promise.resolve()) =>
    calls.note(callId, () => {
      noted.push(callId)
      return work()
    })
  return { time, reported, noted, refuse }
}

it('a refused call is noted once, however often its INVITE is retransmitted', () => {
  const { time, noted, refuse } = refusedCalls()
  for (let again = 0; again < 5; again++) {
    refuse('a')
    time.advance(500)
  }
  expect(noted).toEqual(['a'])
})

it('at most five refused calls a second are noted; the number of others is reported once a minute', async () => {
  const { time, noted, reported, refuse } = refusedCalls()
  for (let call = 0; call < 1000; call++) {
    refuse(`call ${call}`)
    await new Promise(setImmediate)
    time.advance(10)
  }
  expect(noted.length).toBe(50)
  expect(reported).toHaveLength(1)
  time.advance(60_000)
  refuse('free')
  refuse('last')
  expect(reported).toEqual([
    'one refused call leaves no run: at most 5 a second do',
    '950 refused calls leave no run: at most 5 a second do',
  ])
})

it('at most four notes of refused calls run at once while the database is away', () => {
  const { time, noted, refuse } = refusedCalls()
  for (let call = 0; call < 100; call++) {
    refuse(`call ${call}`, () => new Promise(() => {}))
    time.advance(1000)
  }
  expect(noted).toHaveLength(4)
})
