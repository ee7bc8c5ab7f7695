import { VirtualTime } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import { LiveWindow } from './live-window.ts'

function windowOf(calls: number, seconds: number | null) {
  const time = new VirtualTime()
  const window = new LiveWindow({ calls, seconds, sample: () => time.now(), time })
  return { time, window }
}

describe('the time in which all calls of a benchmark live', () => {
  it('it begins when the last call has warmed up, and ends when the first has said its lines', () => {
    const { time, window } = windowOf(3, null)
    window.warm()
    time.advance(1000)
    window.warm()
    time.advance(1000)
    window.warm()
    const began = time.now()
    time.advance(4000)
    window.done()
    time.advance(9000)
    window.done()
    expect(window.span).toEqual({ before: began, after: began + 4000, seconds: 4, callSeconds: 12 })
  })

  it('with a length it lasts that long', () => {
    const { time, window } = windowOf(2, 5)
    window.warm()
    window.warm()
    time.advance(4999)
    expect(window.isOver).toBe(false)
    time.advance(1)
    expect(window.isOver).toBe(true)
    expect(window.span).toMatchObject({ seconds: 5, callSeconds: 10 })
  })

  it('a call that breaks counts until it does, and not at all before it was warm', () => {
    const { time, window } = windowOf(4, 10)
    window.broken(false)
    for (let i = 0; i < 3; i++) window.warm()
    time.advance(4000)
    window.broken(true)
    time.advance(6000)
    expect(window.span).toMatchObject({ seconds: 10, callSeconds: 24 })
  })

  it('there is none when a call had said its lines before the last was warm, or when every call broke', () => {
    const early = windowOf(2, null)
    early.window.warm()
    early.window.done()
    early.window.warm()
    expect(early.window.span).toBeNull()
    const broken = windowOf(2, 60)
    broken.window.broken(false)
    broken.window.broken(false)
    expect(broken.window).toMatchObject({ isOver: true, span: null })
  })
})
