import { LatenessHistogram } from '@parley/media'
import { describe, expect, it } from 'vitest'
import { type CallRow, CSV_HEADER, csvLine } from './call-row.ts'
import { loadStages } from './load-stages.ts'
import { htmlReport } from './report/html-report.ts'
import { progressLine } from './report/progress-line.ts'
import type { ProcessSample } from './results.ts'
import { RunRecord } from './run-record.ts'
import { readScenario } from './scenario.ts'

const SCENARIO = readScenario(`
name: set-up <b>
callers: [{ name: a, caller: { kind: script, steps: [{ hangs_up: true }] } }]
load: { per_second: [10, 20, 40], hold_s: 2 }
goals: { failed_percent: 1, setup_p99_ms: 500, begun_percent: 99 }
generator: { late_ms: 5 }
`)

function row(step: number | null, more: Partial<CallRow> = {}): CallRow {
  return {
    call_id: 'abc',
    process: 0,
    direction: 'out',
    caller: 'a',
    retry: 0,
    step,
    started_ms: 0,
    setup_ms: 20,
    duration_ms: 500,
    status: 200,
    cause: 'bye',
    ended_by: 'local',
    reply_ms: [],
    gaps: 0,
    longest_gap_ms: 0,
    packets_received: 25,
    packets_lost: 0,
    jitter_max_ms: 1,
    concealed_ms: 0,
    failures: [],
    ...more,
  }
}

/** What one process reports of a second with 1,000 packets, of which `late` were 9 ms late and the others 0.09 ms. */
function lateBy9Ms(late: number): Partial<ProcessSample> {
  const packets = new LatenessHistogram()
  for (let i = 0; i < 1000; i++) packets.add(i < late ? 9 : 0.09)
  return { late_p999_ms: packets.quantile(0.999), late_max_ms: packets.maxMs, late: [packets.counts()] }
}

/** A run of one step whose calls miss a goal, in which the generator was late in the seconds of `late`: of 1,000 packets of each. */
function brokenStep(late: readonly number[]) {
  const record = new RunRecord(SCENARIO)
  record.setStage(loadStages(SCENARIO)[0]!)
  late.forEach((packets, second) => {
    for (let i = 0; i < 10; i++) record.addRow(row(0, slow))
    record.addProcessSample(processSample(10 * (second + 1), lateBy9Ms(packets)))
    record.tick(1000 * (second + 1), null)
  })
  record.closeStage(10 * late.length)
  const summary = record.summary({ target: null, startedAt: '2026-01-01T00:00:00Z', seconds: late.length })
  return { record, summary, step: summary.steps[0]! }
}

function processSample(begun: number, more: Partial<ProcessSample> = {}): ProcessSample {
  return {
    process: 0,
    live: 3,
    waiting: 0,
    begun,
    cpu_ms: 10 * begun,
    rss_bytes: 1e8,
    packets: 1000,
    late_p50_ms: 0.1,
    late_p999_ms: 1,
    late_max_ms: 2,
    late: [],
    loop_max_ms: 6,
    ...more,
  }
}

/** A run of three steps of two seconds; `rowOf` makes a call of a step, `lateStep` is the step in which the fleet is late. */
function run(rowOf: (step: number) => CallRow, lateStep: number | null = null) {
  const record = new RunRecord(SCENARIO)
  let begun = 0
  let at = 0
  for (const stage of loadStages(SCENARIO)) {
    record.setStage(stage)
    for (let second = 0; second < 2; second++) {
      for (let i = 0; i < stage.to; i++) record.addRow(rowOf(stage.step!))
      begun += stage.to
      record.addProcessSample(processSample(begun, lateBy9Ms(stage.step === lateStep ? 10 : 0)))
      at += 1000
      record.tick(at, { cpuMs: at / 2, rssBytes: 5e8 })
    }
    record.closeStage(begun)
    if (record.stepBroke(stage.step!)) break
  }
  return {
    record,
    summary: record.summary({ target: 'sip:a@b', startedAt: '2026-01-01T00:00:00Z', seconds: at / 1000 }),
  }
}

const slow = { setup_ms: 900 }

describe('the record of a run', () => {
  it('a target that meets every goal held the highest step', () => {
    const { summary } = run(row)
    expect(summary.breaking_point).toEqual({ kind: 'held', held: 40 })
    expect(summary.begun_percent).toBe(100)
    expect(summary.calls.calls).toBe(140)
    expect(summary.missed_goals).toEqual([])
  })

  it('calls that begin after the last sample of a step count for that step', () => {
    const record = new RunRecord(SCENARIO)
    const [first, second] = loadStages(SCENARIO)
    record.setStage(first!)
    record.addRow(row(0))
    record.addProcessSample(processSample(11))
    record.tick(1000, null)
    record.closeStage(20)
    expect(record.stepBroke(0)).toBe(false)
    record.setStage(second!)
    record.addRow(row(1))
    record.addProcessSample(processSample(20))
    record.tick(2000, null)
    record.closeStage(59)
    const { steps, begun_percent } = record.summary({ target: null, startedAt: '2026-01-01T00:00:00Z', seconds: 4 })
    expect(steps.map(({ missed }) => missed)).toEqual([[], [{ goal: 'begun_percent', limit: 99, measured: 97.5 }]])
    expect(begun_percent).toBe(98.3)
  })

  it('the tool names the step at which a target broke, and why', () => {
    const { summary } = run(step => row(step, step === 1 ? slow : {}))
    expect(summary.breaking_point).toMatchObject({ kind: 'broke', held: 10, broke: 20 })
    expect(summary.breaking_point_text).toBe(
      'The target broke at 20 calls a second (setup_p99_ms was 900, the goal is 500); 10 calls a second held.',
    )
    expect(summary.steps).toHaveLength(2)
  })

  it('a goal that is missed while the generator is late says nothing about the target', () => {
    const { summary } = run(step => row(step, step === 2 ? slow : {}), 2)
    expect(summary.breaking_point).toEqual({ kind: 'generator-late', held: 20, at: 40 })
    expect(summary.generator).toMatchObject({ late: true, late_seconds: 2 })
    expect(htmlReport(summary, [], '')).toContain('The generator was late')
  })

  it('a generator that is late with more than 0.1 % of the packets of a step is late in that step', () => {
    const { summary, step } = brokenStep(Array.from({ length: 15 }, () => 2))
    expect(step).toMatchObject({ generatorLate: true, generatorLateP999Ms: 9 })
    expect(summary.generator).toMatchObject({ late: true, run_late_p999_ms: 9, late_seconds: 15 })
    expect(summary.steps).toHaveLength(1)
    const html = htmlReport(summary, [], '')
    expect(html).toContain('late (p99.9 9.0 ms)')
    expect(html).toContain('(p99.9 of its packets 9.0 ms; late in 15 s of the run)')
  })

  it('a generator that stands still for one second of fifteen is late in that step, however few its packets are', () => {
    const standstill = Array.from({ length: 15 }, (_, second) => (second === 7 ? 1000 : 0))
    expect(brokenStep(standstill).step).toMatchObject({ generatorLate: true, generatorLateP999Ms: 9 })
  })

  it('a short burst of late packets within 0.1 % of a step marks neither step nor run, and its second stays visible', () => {
    const burst = Array.from({ length: 15 }, (_, second) => (second === 7 ? 12 : 0))
    const { record, summary, step } = brokenStep(burst)
    expect(step).toMatchObject({ generatorLate: false, generatorLateP999Ms: 0.1 })
    expect(summary.generator).toMatchObject({ late: false, run_late_p999_ms: 0.1, late_seconds: 1, late_p999_ms: 9 })
    expect(record.samples[7]).toMatchObject({ late_p999_ms: 9 })
    const html = htmlReport(summary, record.samples, '')
    expect(html).not.toContain('The generator was late')
    expect(html).toContain('<td>seconds with late packets</td><td>1</td>')
  })

  it('the p99.9 of a step is that of the packets of all processes and media threads together', () => {
    const record = new RunRecord(SCENARIO)
    record.setStage(loadStages(SCENARIO)[0]!)
    const [late] = lateBy9Ms(3).late!
    const [inTime] = lateBy9Ms(0).late!
    record.addProcessSample(processSample(10, { late: [inTime!, inTime!] }))
    record.addProcessSample(processSample(10, { process: 1, late: [late!] }))
    record.tick(1000, null)
    const judge = () => record.summary({ target: null, startedAt: '2026-01-01T00:00:00Z', seconds: 1 }).steps[0]!
    expect(judge().generatorLate).toBe(false)
    record.addProcessSample(processSample(10, { process: 1, late: [late!] }))
    record.tick(2000, null)
    expect(judge().generatorLate).toBe(true)
  })

  it('a second has the highest lateness of what its processes reported in it, once', () => {
    const record = new RunRecord(SCENARIO)
    record.setStage(loadStages(SCENARIO)[0]!)
    record.addProcessSample(processSample(5, { late_p999_ms: 9, loop_max_ms: 40 }))
    record.addProcessSample(processSample(10))
    expect(record.tick(1000, null)).toMatchObject({ begun: 10, late_p999_ms: 9, loop_max_ms: 40 })
    // A process that has not answered by then counts in the second in which it does.
    expect(record.tick(2000, null)).toMatchObject({ begun: 0, late_p999_ms: 0, loop_max_ms: 0 })
    const { generator } = record.summary({ target: null, startedAt: '2026-01-01T00:00:00Z', seconds: 2 })
    expect(generator).toMatchObject({ late_seconds: 1, late_p999_ms: 9 })
  })

  it('a share of CPU is that of the time in which it was measured, which is not that between the ends of two seconds', () => {
    const record = new RunRecord(SCENARIO)
    record.tick(1000, { cpuMs: 100, rssBytes: 1 })
    record.addProcessSample(processSample(10))
    expect(record.tick(1100, { cpuMs: 600, rssBytes: 1 }, 1000)).toMatchObject({
      fleet_cpu_percent: 10,
      target_cpu_percent: 50,
    })
  })

  it('the report says how many calls are of callers who were refused, and who waits', () => {
    const record = new RunRecord(SCENARIO)
    record.setStage(loadStages(SCENARIO)[0]!)
    for (const retry of [0, 0, 1, 2])
      record.addRow(row(0, { retry, setup_ms: null, failures: [{ kind: 'refused_503', detail: '' }] }))
    record.addProcessSample(processSample(4, { live: 0, waiting: 2 }))
    const sample = record.tick(1000, null)
    const summary = record.summary({ target: null, startedAt: '2026-01-01T00:00:00Z', seconds: 1 })
    expect(progressLine(sample, summary.calls)).toContain('0 live (2 wait to call again)')
    expect(htmlReport(summary, record.samples, '')).toContain(
      '2 calls (50.00 %) are of callers who were not answered and called again.',
    )
    expect(csvLine(row(0, { retry: 2 }))).toContain('abc,0,out,a,2,0,')
  })

  it('failures are counted by kind, once a call, and CPU and memory of both sides are in the samples', () => {
    const failures = [
      { kind: 'gap', detail: 'one' },
      { kind: 'gap', detail: 'two' },
    ]
    const { record, summary } = run(step => row(step, { failures }))
    expect(summary.calls).toMatchObject({ calls: 20, failed: 20, failures: { gap: 20 } })
    expect(record.samples[1]).toMatchObject({
      begun: 10,
      fleet_cpu_percent: 10,
      target_cpu_percent: 50,
      target_rss_bytes: 5e8,
      failures: { gap: 10 },
    })
    expect(progressLine(record.samples[1]!, summary.calls)).toContain('20 failed (gap 20)')
  })

  it('the report is one file with plots, and text of others cannot become markup', () => {
    const { record, summary } = run(row)
    const html = htmlReport(summary, record.samples, 'A <script>alert(1)</script> test.')
    expect(html).not.toMatch(/<script|https?:\/\/|src=|set-up <b>/)
    expect(html).toContain('set-up &lt;b&gt;')
    expect(html.match(/<svg /g)).toHaveLength(7)
    expect(html).toContain('The target held 40 calls a second')
  })

  it('a line of the CSV quotes what contains commas, and spreadsheets read no formula', () => {
    const line = csvLine(row(0, { caller: '=1+1', failures: [{ kind: 'gap', detail: 'a, "b"' }] }))
    expect(line).toContain(",'=1+1,")
    expect(line).toContain('"gap: a, ""b"""')
    expect(CSV_HEADER.split(',')).toHaveLength(21)
  })
})
