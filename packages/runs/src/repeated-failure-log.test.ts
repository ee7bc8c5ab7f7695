import { VirtualTime } from '@parley/kernel'
import { beforeEach, expect, it } from 'vitest'
import { RepeatedFailureLog } from './repeated-failure-log.ts'

let time: VirtualTime
let lines: [seconds: number, line: string][]
let rounds: RepeatedFailureLog
beforeEach(() => {
  time = new VirtualTime()
  lines = []
  const onProblem = (what: string, error: unknown) =>
    lines.push([time.now() / 1000, error === null ? what : `${what}: ${(error as Error).message}`])
  rounds = new RepeatedFailureLog({ name: 'the sweep', time, onProblem })
})

/** So many rounds, a second after each. */
function go(count: number, round: (index: number) => void): void {
  for (let index = 0; index < count; index++) {
    round(index)
    time.advance(1000)
  }
}
const fail = () => rounds.failed(new Error('away'))
const work = () => rounds.worked()

it('the failure log writes no line for successes', () => {
  go(1000, work)
  expect(lines).toEqual([])
})

it('the failure log writes the first failure at once, then a count per minute, then the recovery', () => {
  go(10, work)
  go(150, fail)
  go(200, work)
  expect(lines).toEqual([
    [10, 'the sweep failed: away'],
    [70, 'the sweep failed, 61 rounds by now: away'],
    [130, 'the sweep failed, 121 rounds by now: away'],
    [160, 'the sweep works again after 150 failed rounds, 150 s'],
  ])
})

it('the failure log writes a failure at once when the last one was long ago', () => {
  go(1, fail)
  go(100, work)
  go(1, fail)
  go(1, work)
  expect(lines).toEqual([
    [0, 'the sweep failed: away'],
    [1, 'the sweep works again after 1 failed round, 1 s'],
    [101, 'the sweep failed: away'],
    [102, 'the sweep works again after 1 failed round, 1 s'],
  ])
})

it('the failure log writes intermittent failures once a minute, with the number of unwritten ones', () => {
  go(122, index => (index % 2 === 0 ? fail() : work()))
  expect(lines).toEqual([
    [0, 'the sweep failed: away'],
    [1, 'the sweep works again after 1 failed round, 1 s'],
    [60, 'the sweep failed, 30 rounds by now: away'],
    [61, 'the sweep works again after 30 failed rounds, 1 s'],
    [120, 'the sweep failed, 30 rounds by now: away'],
    [121, 'the sweep works again after 30 failed rounds, 1 s'],
  ])
})
