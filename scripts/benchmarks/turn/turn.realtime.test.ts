import { beforeAll, describe, expect, it } from 'vitest'
import { callerLines } from './callers.ts'
import type { PlantedFault } from './faults.ts'
import { measureRow, type Row } from './row.ts'

const PLANTED_MS = 50
const CALLS = 4

describe('the turn benchmark', () => {
  let lines: readonly Int16Array[]
  const rowOf = (plantedMs: number, fault: PlantedFault | null, secure: boolean) =>
    measureRow({
      calls: CALLS,
      turns: 4,
      warmUpTurns: 1,
      quietMs: 300,
      lines,
      asksAhead: false,
      plantedMs,
      fault,
      services: null,
      secure,
      recorded: secure,
    })
  let plain: Row
  let planted: Row
  let torn: Row
  let paused: Row
  beforeAll(async () => {
    lines = await callerLines(true)
    // All at the same time, so that other load of the machine affects all.
    const rows = [
      rowOf(0, null, true),
      rowOf(PLANTED_MS, 'busy', true),
      rowOf(0, 'hole', true),
      rowOf(0, 'pause', false),
    ]
    ;[plain, planted, torn, paused] = (await Promise.all(rows)) as [Row, Row, Row, Row]
  }, 90_000)

  it('every turn of simultaneous calls over TLS and SRTP, which are recorded, is answered', () => {
    expect(plain).toMatchObject({ calls: CALLS, turns: 4 * CALLS, broken: [], secure: true, recorded: true })
    // Words are lost when the machine stalls for longer than a frame, which is not a fault of the benchmark.
    expect(plain.misheard.length).toBeLessThanOrEqual(3)
    expect(plain.overhead_p50_ms).toBeGreaterThan(-50)
    expect(plain.overhead_p95_ms).toBeLessThan(500)
    expect(plain.e2e_p50_ms).toBeGreaterThan(plain.overhead_p50_ms + 499)
    expect(plain.live_seconds).toBeGreaterThan(1)
    expect(plain.engine_event_loop_utilization).toBeGreaterThan(0)
  })

  it(`a model delay of ${PLANTED_MS} ms beyond the script raises the overhead by as much`, () => {
    const shift = planted.overhead_p50_ms - plain.overhead_p50_ms
    expect(Math.abs(shift - PLANTED_MS)).toBeLessThanOrEqual(PLANTED_MS / 2)
  })

  it('work of a tenth of a core on the main thread is CPU of the main thread', () => {
    const mainOf = (row: Row) => row.engine_cpu_ms_per_call_second?.main ?? 0
    expect(mainOf(planted) - mainOf(plain)).toBeGreaterThan((0.6 * 100) / CALLS)
  })

  it('an answer that breaks off for 60 ms is a gap in each turn', () => {
    expect(torn.gaps_over_40_ms).toBeGreaterThanOrEqual(plain.gaps_over_40_ms + torn.turns / 2)
    expect(torn.longest_gap_ms).toBeGreaterThanOrEqual(45)
  })

  it('lines with a pause inside are heard in two', () => {
    expect(paused.lines_in_two).toBeGreaterThan(plain.lines_in_two + CALLS / 2)
    expect(paused.lines_in_two_percent).toBeGreaterThan(plain.lines_in_two_percent)
  })

  it('an engine that stands still for 150 ms lets every call have a gap', async () => {
    const stalled = await rowOf(0, 'stall', true)
    expect(stalled.gaps_over_40_ms).toBeGreaterThanOrEqual(CALLS)
    expect(stalled.longest_gap_ms).toBeGreaterThan(100)
  }, 60_000)
})
