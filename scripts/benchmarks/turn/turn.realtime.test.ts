import { beforeAll, describe, expect, it } from 'vitest'
import { callerLines } from './callers.ts'
import { measureRow, type Row } from './row.ts'

const PLANTED_MS = 50

describe('the turn benchmark', () => {
  let plain: Row
  let planted: Row
  beforeAll(async () => {
    const lines = await callerLines(true)
    const row = (plantedMs: number) =>
      measureRow({
        calls: 6,
        turns: 4,
        warmUpTurns: 1,
        quietMs: 300,
        lines,
        asksAhead: false,
        plantedMs,
        services: null,
      })
    // At the same time: whatever else the machine does befalls both.
    const rows = await Promise.all([row(0), row(PLANTED_MS)])
    plain = rows[0]
    planted = rows[1]
  }, 60_000)

  it('every turn of six calls is answered', () => {
    expect(plain).toMatchObject({ calls: 6, turns: 24, broken: [] })
    // Words are lost where the machine stands still for longer than a frame: that is not the benchmark's fault.
    expect(plain.misheard.length).toBeLessThanOrEqual(3)
    expect(plain.overhead_p50_ms).toBeGreaterThan(-50)
    expect(plain.overhead_p95_ms).toBeLessThan(500)
    expect(plain.e2e_p50_ms).toBeGreaterThan(plain.overhead_p50_ms + 499)
    expect(plain.engine_event_loop_utilization).toBeGreaterThan(0)
    expect(plain.engine_cpu_ms_per_call_second).toBeGreaterThan(0)
  })

  it(`a model that takes ${PLANTED_MS} ms longer than its script shows in the figures`, () => {
    const shift = planted.overhead_p50_ms - plain.overhead_p50_ms
    expect(Math.abs(shift - PLANTED_MS)).toBeLessThanOrEqual(PLANTED_MS / 2)
  })
})
