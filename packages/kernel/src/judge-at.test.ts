import { expect, it } from 'vitest'
import { judgeAt } from './judge-at.ts'
import { HeldUpTime } from './testing/index.ts'

function judging() {
  const time = new HeldUpTime()
  const judged: number[] = []
  const timer = judgeAt(time, 1000, () => judged.push(time.now()))
  return { time, judged, timer }
}

it('what has not arrived is judged at the deadline by a process that is in time', () => {
  const { time, judged } = judging()
  time.advance(999)
  expect(judged).toEqual([])
  time.advance(1)
  expect(judged).toEqual([1000])
})

it('a process that was held up beyond the deadline reads first what arrived, and what it reads may cancel the judgement', () => {
  const { time, judged, timer } = judging()
  time.holdUp(3000)
  expect(judged).toEqual([])
  timer.cancel()
  time.advance(1000)
  expect(judged).toEqual([])
})

it('a process that was held up judges a little later, once', () => {
  const { time, judged } = judging()
  time.holdUp(3000)
  time.holdUp(3000)
  expect(judged).toEqual([6000])
})
