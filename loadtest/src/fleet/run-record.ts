import type { Ms } from '@parley/kernel'
import { type LatenessCounts, LatenessHistogram } from '@parley/media'
import type { CallRow } from './call-row.ts'
import { Distribution, quantilesOf } from './distribution.ts'
import { breakingPoint, describeBreakingPoint, missedGoals, type StepResult } from './goals.ts'
import { type LoadStage, stepValues } from './load-stages.ts'
import { type CallFigures, CallTotals, type ProcessSample, type Sample } from './results.ts'
import type { Scenario } from './scenario.ts'
import type { GeneratorFigures, Summary } from './summary.ts'

const IN_TIME = { late_p999_ms: 0, late_max_ms: 0, loop_max_ms: 0 }

interface Step {
  readonly value: number
  readonly totals: CallTotals
  /** Calls that the load asked for; 0: it asks for calls at once. */
  expected: number
  begun: number
  mostLive: number
  seconds: number
  /** Packets of the generator. */
  readonly late: LatenessHistogram
}

interface TargetFigures {
  readonly cpuMs: Ms
  readonly rssBytes: number
}

/** Adds up what a fleet reports: samples of a second, steps and the whole run. Pure: the caller brings the clock. */
export class RunRecord {
  readonly samples: Sample[] = []
  readonly #scenario: Scenario
  readonly #totals = new CallTotals()
  readonly #steps: Step[]
  readonly #processes = new Map<number, ProcessSample>()
  readonly #loop = new Distribution()
  /** Packets of the generator in the whole run. */
  readonly #runLate = new LatenessHistogram()
  #second = new CallTotals()
  /** Highest of what the processes measured since the last second was closed. */
  #late: Pick<ProcessSample, 'late_p999_ms' | 'late_max_ms' | 'loop_max_ms'> = IN_TIME
  /** What each of their media threads counted in that time. */
  #secondLate: LatenessCounts[] = []
  #stage: LoadStage | null = null
  #target: TargetFigures | null = null
  #fleetCpuMs: Ms = 0
  #begun = 0
  /** Calls that the fleet had begun when the current stage began. */
  #begunBefore = 0
  #lastAt: Ms = 0
  #liveSeconds = 0
  #callCpuMs = 0
  #peakRss = 0
  #worst = { p999: 0, max: 0 }
  #lateSeconds = 0

  constructor(scenario: Scenario) {
    this.#scenario = scenario
    this.#steps = stepValues(scenario).values.map(value => ({
      value,
      totals: new CallTotals(),
      expected: 0,
      begun: 0,
      mostLive: 0,
      seconds: 0,
      late: new LatenessHistogram(),
    }))
  }

  get begun(): number {
    return [...this.#processes.values()].reduce((sum, { begun }) => sum + begun, 0)
  }

  get live(): number {
    return [...this.#processes.values()].reduce((sum, { live }) => sum + live, 0)
  }

  get totals(): CallTotals {
    return this.#totals
  }

  addRow(row: CallRow): void {
    this.#totals.add(row)
    this.#second.add(row)
    if (row.step !== null) this.#steps[row.step]?.totals.add(row)
  }

  /** What a process measured counts for the second that is closed next. */
  addProcessSample(sample: ProcessSample): void {
    this.#processes.set(sample.process, sample)
    this.#secondLate.push(...sample.late)
    const { late_p999_ms, late_max_ms, loop_max_ms } = this.#late
    this.#late = {
      late_p999_ms: Math.max(late_p999_ms, sample.late_p999_ms),
      late_max_ms: Math.max(late_max_ms, sample.late_max_ms),
      loop_max_ms: Math.max(loop_max_ms, sample.loop_max_ms),
    }
  }

  setStage(stage: LoadStage | null): void {
    this.#stage = stage
    const step = this.#currentStep
    if (step !== undefined && stage!.quantity === 'per_second') step.expected = (stage!.to * stage!.durationMs) / 1000
  }

  /** Ends the current stage. `begun`: the calls that all processes have begun by now; their samples are up to a second older. */
  closeStage(begun: number): void {
    const step = this.#currentStep
    if (step !== undefined) step.begun = begun - this.#begunBefore
    this.#begunBefore = begun
    this.setStage(null)
  }

  /**
   * Closes a second. `at`: since the beginning of the run; `target`: the target's CPU time and memory so far; `spanMs`: time in which it
   * and the processes measured, default: since the last second was closed.
   */
  tick(at: Ms, target: TargetFigures | null, spanMs: Ms = at - this.#lastAt): Sample {
    const processes = [...this.#processes.values()]
    const sum = (of: (sample: ProcessSample) => number) => processes.reduce((total, sample) => total + of(sample), 0)
    const { late_p999_ms, late_max_ms, loop_max_ms } = this.#late
    const elapsed = Math.max(1, spanMs)
    const cpuMs = sum(({ cpu_ms }) => cpu_ms)
    const figures = this.#second.figures()
    const begun = this.begun
    const percent = (ms: Ms) => Math.max(0, Math.round((1000 * ms) / elapsed) / 10)
    const sample: Sample = {
      at_ms: Math.round(at),
      live: this.live,
      waiting: sum(({ waiting }) => waiting),
      begun: begun - this.#begun,
      ended: figures.calls,
      failed: figures.failed,
      setup_p50_ms: figures.setup_ms.p50,
      setup_p99_ms: figures.setup_ms.p99,
      reply_p50_ms: figures.reply_ms.p50,
      reply_p95_ms: figures.reply_ms.p95,
      jitter_max_ms: figures.jitter_max_ms.max ?? 0,
      late_p999_ms,
      loop_max_ms: Math.round(loop_max_ms * 10) / 10,
      // The CPU time of the start belongs to no second.
      fleet_cpu_percent: this.#lastAt === 0 ? 0 : percent(cpuMs - this.#fleetCpuMs),
      fleet_rss_bytes: sum(({ rss_bytes }) => rss_bytes),
      target_cpu_percent: target === null || this.#target === null ? null : percent(target.cpuMs - this.#target.cpuMs),
      target_rss_bytes: target?.rssBytes ?? null,
      failures: figures.failures,
    }
    if (this.#lastAt > 0) this.#callCpuMs += cpuMs - this.#fleetCpuMs
    this.#liveSeconds += (sample.live * elapsed) / 1000
    this.#target = target
    this.#fleetCpuMs = cpuMs
    this.#begun = begun
    this.#lastAt = at
    this.#second = new CallTotals()
    this.#noteGenerator(sample, late_max_ms)
    this.#late = IN_TIME
    this.#secondLate = []
    this.samples.push(sample)
    return sample
  }

  /** Whether a step's calls so far miss a goal. */
  stepBroke(index: number): boolean {
    const result = this.#stepResult(this.#steps[index]!)
    return result.figures.calls > 0 && result.missed.length > 0
  }

  summary(facts: { readonly target: string | null; readonly startedAt: string; readonly seconds: number }): Summary {
    const { quantity } = stepValues(this.#scenario)
    const steps = this.#steps.filter(step => step.seconds > 0).map(step => this.#stepResult(step))
    const point = this.#steps.length > 1 ? breakingPoint(steps) : null
    const calls = this.#totals.figures()
    const begun = this.#begunPercent(steps.length > 0 ? this.#steps.slice(0, steps.length) : this.#steps)
    return {
      loadtest: this.#scenario.name,
      target: facts.target,
      started_at: facts.startedAt,
      seconds: Math.round(facts.seconds * 10) / 10,
      quantity,
      calls,
      begun_percent: begun,
      steps,
      breaking_point: point,
      breaking_point_text: point === null ? null : describeBreakingPoint(point, quantity),
      // A run of several steps looks for the point where goals are missed, so its result is that point.
      missed_goals: point === null ? missedGoals({ figures: calls, begunPercent: begun }, this.#scenario.goals) : [],
      generator: this.#generator(calls),
    }
  }

  get #currentStep(): Step | undefined {
    return this.#stage?.step == null ? undefined : this.#steps[this.#stage.step]
  }

  #noteGenerator({ late_p999_ms, loop_max_ms, fleet_rss_bytes, live }: Sample, lateMax: Ms): void {
    if (late_p999_ms > this.#scenario.generator.late_ms) this.#lateSeconds++
    for (const counts of this.#secondLate) this.#runLate.merge(counts)
    this.#worst = { p999: Math.max(this.#worst.p999, late_p999_ms), max: Math.max(this.#worst.max, lateMax) }
    this.#loop.add(loop_max_ms)
    this.#peakRss = Math.max(this.#peakRss, fleet_rss_bytes)
    const step = this.#currentStep
    if (step === undefined) return
    step.seconds++
    step.begun = Math.max(0, this.begun - this.#begunBefore)
    step.mostLive = Math.max(step.mostLive, live)
    for (const counts of this.#secondLate) step.late.merge(counts)
  }

  #stepResult(step: Step): StepResult & { readonly figures: CallFigures } {
    const figures = step.totals.figures()
    const lateP999Ms = step.late.quantile(0.999)
    return {
      value: step.value,
      figures,
      missed: missedGoals({ figures, begunPercent: this.#begunPercent([step]) }, this.#scenario.goals),
      generatorLate: lateP999Ms > this.#scenario.generator.late_ms,
      generatorLateP999Ms: hundredths(lateP999Ms),
    }
  }

  #begunPercent(steps: readonly Step[]): number {
    const expected = steps.reduce((sum, step) => sum + (step.expected || step.value), 0)
    const begun = steps.reduce((sum, step) => sum + (step.expected > 0 ? step.begun : step.mostLive), 0)
    return Math.round(1000 * Math.min(1, begun / expected)) / 10
  }

  #generator({ calls }: CallFigures): GeneratorFigures {
    const { processes, cores, nice, late_ms } = this.#scenario.generator
    const runP999Ms = this.#runLate.quantile(0.999)
    return {
      processes,
      cores,
      nice,
      late_p999_ms: hundredths(this.#worst.p999),
      late_max_ms: hundredths(this.#worst.max),
      run_late_p999_ms: hundredths(runP999Ms),
      loop_ms: quantilesOf(this.#loop),
      late: runP999Ms > late_ms,
      late_seconds: this.#lateSeconds,
      cpu_seconds: Math.round(this.#fleetCpuMs / 100) / 10,
      cpu_ms_per_call: calls === 0 ? null : Math.round((10 * this.#callCpuMs) / calls) / 10,
      cpu_percent_per_live_call:
        this.#liveSeconds === 0 ? null : Math.round((10 * this.#callCpuMs) / this.#liveSeconds) / 100,
      peak_rss_bytes: this.#peakRss,
    }
  }
}

function hundredths(value: number): number {
  return Math.round(value * 100) / 100
}
