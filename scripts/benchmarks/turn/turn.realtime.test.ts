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
    // Both at the same time, so that other load of the machine affects both.
    const rows = await Promise.all([row(0), row(PLANTED_MS)])
    plain = rows[0]
    planted = rows[1]
  }, 60_000)

  it('every turn of six simultaneous calls is answered', () => {
    expect(plain).toMatchObject({ calls: 6, turns: 24, broken: [] })
    // Words are lost when the machine stalls for longer than a frame, which is not a fault of the benchmark.
    expect(plain.misheard.length).toBeLessThanOrEqual(3)
    expect(plain.overhead_p50_ms).toBeGreaterThan(-50)
    expect(plain.overhead_p95_ms).toBeLessThan(500)
    expect(plain.e2e_p50_ms).toBeGreaterThan(plain.overhead_p50_ms + 499)
    expect(plain.engine_event_loop_utilization).toBeGreaterThan(0)
    expect(plain.engine_cpu_ms_per_call_second).toBeGreaterThan(0)
  })

  it(`a model delay of ${PLANTED_MS} ms beyond the script raises the overhead by as much`, () => {
    const shift = planted.overhead_p50_ms - plain.overhead_p50_ms
    expect(Math.abs(shift - PLANTED_MS)).toBeLessThanOrEqual(PLANTED_MS / 2)
  })
})
