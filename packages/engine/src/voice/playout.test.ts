import { describe, expect, it } from 'vitest'
import { ScriptedLine } from '../testing/scripted-line.ts'
import { Playout } from './playout.ts'

const ramp = (from: number, count: number) => Int16Array.from({ length: count }, (_, i) => from + i)

function fixture(volume?: number) {
  const line = new ScriptedLine()
  const playout = new Playout(line, volume)
  return { line, playout, leave: (samples: number) => playout.onProgress(line.send(samples)) }
}

describe("the agent's audio", () => {
  it("the agent's audio continues after each of several pauses at exactly the first unplayed sample", () => {
    const { line, playout, leave } = fixture()
    playout.enqueue(ramp(0, 500))
    playout.enqueue(ramp(500, 500))
    leave(333)
    playout.pause()
    expect(playout.played()).toBe(333)
    leave(160)
    playout.resume()
    leave(400)
    playout.pause()
    playout.resume()
    leave(1000)
    expect(line.sent).toEqual([...ramp(0, 1000)])
    expect(playout.played()).toBe(1000)
  })

  it('that is enqueued during a pause waits for its end', () => {
    const { line, playout, leave } = fixture()
    playout.enqueue(ramp(0, 100))
    playout.pause()
    playout.enqueue(ramp(100, 100))
    leave(200)
    expect(line.sent).toEqual([])
    playout.resume()
    leave(200)
    expect(line.sent).toEqual([...ramp(0, 200)])
  })

  it("the agent's audio does not come back after drop(); later audio begins at once", () => {
    const { line, playout, leave } = fixture()
    playout.enqueue(ramp(0, 1000))
    leave(100)
    expect(playout.drop()).toBe(100)
    expect(playout.enqueue(ramp(5000, 10))).toBe(100)
    leave(1000)
    expect(line.sent).toEqual([...ramp(0, 100), ...ramp(5000, 10)])
  })

  it("the agent's audio can be dropped during a pause", () => {
    const { line, playout, leave } = fixture()
    playout.enqueue(ramp(0, 1000))
    leave(100)
    playout.pause()
    expect(playout.drop()).toBe(100)
    expect(playout.paused).toBe(false)
    playout.enqueue(ramp(7000, 5))
    leave(1000)
    expect(line.sent).toEqual([...ramp(0, 100), ...ramp(7000, 5)])
  })

  it("the agent's audio is ducked gradually and restored without losing a sample", () => {
    const { line, playout, leave } = fixture()
    playout.enqueue(new Int16Array(2000).fill(1000))
    leave(500)
    playout.setGain(0.3)
    leave(500)
    playout.setGain(1)
    leave(1000)
    expect(line.sent).toHaveLength(2000)
    expect(new Set(line.sent.slice(0, 500))).toEqual(new Set([1000]))
    expect(line.sent[500]).toBe(1000)
    expect(new Set(line.sent.slice(660, 1000))).toEqual(new Set([300]))
    expect(line.sent[1160]).toBe(1000)
    const steps = line.sent.map((sample, i) => Math.abs(sample - (line.sent[i - 1] ?? sample)))
    expect(Math.max(...steps)).toBeLessThan(10)
  })

  it("the agent's audio is played at the agent volume without overflow", () => {
    const { line, playout, leave } = fixture(2)
    playout.enqueue(Int16Array.of(100, 30_000, -30_000))
    leave(3)
    expect(line.sent).toEqual([200, 32_767, -32_768])
  })

  it("the agent's audio has a position on the sample clock, also after gaps and pauses", () => {
    const { line, playout, leave } = fixture()
    playout.enqueue(ramp(0, 320))
    line.wait(800)
    leave(160)
    expect(playout.sampleOf(0)).toBe(800)
    playout.pause()
    line.wait(8000)
    playout.resume()
    leave(160)
    expect(playout.sampleOf(320)).toBe(9120)
  })
})
