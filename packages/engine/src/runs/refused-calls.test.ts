import { VirtualTime } from '@parley/kernel'
import { expect, it } from 'vitest'
import { RefusedCalls } from './refused-calls.ts'

function refusedCalls() {
  const time = new VirtualTime()
  const reported: string[] = []
  const recorded: string[] = []
  const calls = new RefusedCalls({ time, onProblem: what => void reported.push(what) })
  const refuse = (callId: string, work = () => Promise.resolve()) =>
    calls.note(callId, () => {
      recorded.push(callId)
      return work()
    })
  return { time, reported, recorded, refuse }
}

it('a refused call is recorded once, however often its INVITE is retransmitted', () => {
  const { time, recorded, refuse } = refusedCalls()
  for (let again = 0; again < 5; again++) {
    refuse('a')
    time.advance(500)
  }
  expect(recorded).toEqual(['a'])
})

it('at most five refused calls a second are recorded; the number of others is reported once a minute', async () => {
  const { time, recorded, reported, refuse } = refusedCalls()
  for (let call = 0; call < 1000; call++) {
    refuse(`call ${call}`)
    await new Promise(setImmediate)
    time.advance(10)
  }
  expect(recorded.length).toBe(50)
  expect(reported).toHaveLength(1)
  time.advance(60_000)
  refuse('free')
  refuse('last')
  expect(reported).toEqual([
    'one refused call leaves no run: at most 5 a second do',
    '950 refused calls leave no run: at most 5 a second do',
  ])
})

it('at most four refused calls are being recorded at once while the database does not answer', () => {
  const { time, recorded, refuse } = refusedCalls()
  for (let call = 0; call < 100; call++) {
    refuse(`call ${call}`, () => new Promise(() => {}))
    time.advance(1000)
  }
  expect(recorded).toHaveLength(4)
})
