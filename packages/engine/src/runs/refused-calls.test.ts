import { VirtualTime } from '@parley/kernel'
import { expect, it } from 'vitest'
import { RefusedCalls } from './refused-calls.ts'

function refusedCalls() {
  const time = new VirtualTime()
  const told: string[] = []
  const noted: string[] = []
  const calls = new RefusedCalls({ time, onProblem: what => void told.push(what) })
  const refuse = (callId: string, work = () => Promise.resolve()) =>
    calls.note(callId, () => {
      noted.push(callId)
      return work()
    })
  return { time, told, noted, refuse }
}

it('are noted once, however often the INVITE comes', () => {
  const { time, noted, refuse } = refusedCalls()
  for (let again = 0; again < 5; again++) {
    refuse('a')
    time.advance(500)
  }
  expect(noted).toEqual(['a'])
})

it('are noted five a second and no more, whatever comes; how many more there were is told once a minute', async () => {
  const { time, noted, told, refuse } = refusedCalls()
  for (let call = 0; call < 1000; call++) {
    refuse(`call ${call}`)
    await new Promise(setImmediate)
    time.advance(10)
  }
  expect(noted.length).toBe(50)
  expect(told).toHaveLength(1)
  time.advance(60_000)
  refuse('free')
  refuse('last')
  expect(told).toEqual([
    'one more call was refused than leave a run (5 a second do)',
    '950 more calls were refused than leave a run (5 a second do)',
  ])
})

it('wait for no database that is away: four notes under way are all', () => {
  const { time, noted, refuse } = refusedCalls()
  for (let call = 0; call < 100; call++) {
    refuse(`call ${call}`, () => new Promise(() => {}))
    time.advance(1000)
  }
  expect(noted).toHaveLength(4)
})
