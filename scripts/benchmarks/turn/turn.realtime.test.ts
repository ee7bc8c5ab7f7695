import { beforeAll, describe, expect, it } from 'vitest'
import { callerLines } from './callers.ts'
import { PLANTED_FAULTS } from './faults.ts'
import { measureRow, type Row } from './row.ts'

const PLANTED_MS = 120
const CALLS = 5

describe('the turn benchmark', () => {
  let plain: Row
  let planted: Row
  beforeAll(async () => {
    const lines = await callerLines(true)
    const fixed = { calls: CALLS, turns: 4, warmUpTurns: 1, quietMs: 300, lines, asksAhead: false, services: null }
    const rowOf = (isPlanted: boolean) =>
      measureRow({
        ...fixed,
        secure: true,
        recorded: true,
        plantedMs: isPlanted ? PLANTED_MS : 0,
        faults: isPlanted ? PLANTED_FAULTS : [],
      })
    // Both at the same time, so that other load of the machine affects both.
    const rows = await Promise.all([rowOf(false), rowOf(true)])
    plain = rows[0]
    planted = rows[1]
  })

  it('every turn of simultaneous calls over TLS and SRTP, which are recorded, is answered', () => {
    expect(plain).toMatchObject({ calls: CALLS, turns: 4 * CALLS, broken: [], secure: true, recorded: true })
    // Words are lost when the machine stalls for longer than a frame, which is not a fault of the benchmark. The calls are in step, so that
    // a stall takes a word of the same line from each.
    expect(plain.misheard.length).toBeLessThanOrEqual(CALLS + 1)
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
    expect(mainOf(planted) - mainOf(plain)).toBeGreaterThan((0.5 * 100) / CALLS)
  })

  it('answers that break off for 60 ms are gaps', () => {
    expect(planted.gaps_over_40_ms).toBeGreaterThan(plain.gaps_over_40_ms + planted.turns / 2)
  })

  it('an engine that stands still for 150 ms is a gap of that length', () => {
    expect(planted.longest_gap_ms).toBeGreaterThan(110)
  })

  it('a line with a pause inside is heard in two', () => {
    expect(planted.lines_in_two).toBeGreaterThanOrEqual(plain.lines_in_two + CALLS / 2)
    expect(planted.lines_in_two_percent).toBeGreaterThan(plain.lines_in_two_percent)
  })
})
