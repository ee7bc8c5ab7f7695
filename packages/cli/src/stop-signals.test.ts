import { describe, expect, it } from 'vitest'
import { StopSteps } from './stop-signals.ts'

const steps = (...signals: readonly (readonly ['SIGINT' | 'SIGTERM', number])[]) => {
  const received = new StopSteps()
  return signals.map(([signal, at]) => received.receive(signal, at))
}

describe('signals that stop a process', () => {
  it('SIGTERM drains, a second signal ends live calls, a third one exits', () => {
    expect(steps(['SIGTERM', 0], ['SIGTERM', 2000], ['SIGINT', 2500])).toEqual(['drain', 'end', 'exit'])
    expect(steps(['SIGTERM', 0], ['SIGINT', 300])).toEqual(['drain', 'end'])
  })

  it('SIGINT ends live calls, and a second signal exits', () => {
    expect(steps(['SIGINT', 0], ['SIGINT', 1500])).toEqual(['end', 'exit'])
    expect(steps(['SIGINT', 0], ['SIGTERM', 10])).toEqual(['end', 'exit'])
  })

  it('a signal that arrives twice within a second counts once', () => {
    expect(steps(['SIGINT', 0], ['SIGINT', 999], ['SIGINT', 1000])).toEqual(['end', 'end', 'exit'])
    expect(steps(['SIGTERM', 0], ['SIGTERM', 5], ['SIGTERM', 1200])).toEqual(['drain', 'drain', 'end'])
  })
})
