import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LoadtestError } from '../errors.ts'
import type { CallRow } from '../fleet/call-row.ts'
import type { FleetReply, FleetTarget } from '../fleet/fleet-messages.ts'
import { type LoadStage, loadStages } from '../fleet/load-stages.ts'
import type { Sample } from '../fleet/results.ts'
import { RunRecord } from '../fleet/run-record.ts'
import type { Scenario } from '../fleet/scenario.ts'
import type { Summary } from '../fleet/summary.ts'
import { FleetMember } from './fleet-member.ts'
import { processFigures } from './process-figures.ts'

interface FleetRunOptions {
  readonly scenario: Scenario
  readonly target: FleetTarget
  /** Processes of the target on this machine, whose CPU and memory are measured with those of their descendants. */
  readonly targetPids: readonly number[]
  /** Folder of the phones' certificates, whose authority is in `tls/ca.pem`; default: one for this run. */
  readonly home?: string | undefined
  /** The phones are open, at these URIs. */
  readonly onOpen?: (uris: readonly string[]) => void
  readonly onCall?: (row: CallRow) => void
  readonly onSample?: (sample: Sample, record: RunRecord) => void
  /** Aborted: the run ends now, and its summary counts what there was. */
  readonly signal?: AbortSignal
}

interface FleetRunResult {
  readonly summary: Summary
  readonly samples: readonly Sample[]
}

const POLL_MS = 100

/** Runs a scenario with its processes. Throws "generator_failed", "not_permitted". */
export async function runFleet(options: FleetRunOptions): Promise<FleetRunResult> {
  const home = options.home ?? (await mkdtemp(join(tmpdir(), 'parley-fleet-')))
  const run = new FleetRun(options, home)
  try {
    return await run.run()
  } finally {
    await run.close()
    if (options.home === undefined) await rm(home, { recursive: true, force: true })
  }
}

class FleetRun {
  readonly #options: FleetRunOptions
  readonly #home: string
  readonly #record: RunRecord
  readonly #members: FleetMember[] = []
  readonly #startedAt = new Date().toISOString()
  #began = 0
  #sampling: NodeJS.Timeout | undefined
  #failure: string | null = null
  /** When the processes were asked for samples, and how long after the time before. */
  #askedAt = 0
  #spanMs = 0
  #target: ReturnType<typeof processFigures> = null

  constructor(options: FleetRunOptions, home: string) {
    this.#options = options
    this.#home = home
    this.#record = new RunRecord(options.scenario)
  }

  async run(): Promise<FleetRunResult> {
    const { scenario, target } = this.#options
    await this.#open()
    this.#began = performance.now()
    this.#askedAt = this.#began
    this.#askForSamples()
    this.#sampling = setInterval(() => this.#sample(), 1000)
    for (const stage of loadStages(scenario)) if (!(await this.#hold(stage))) break
    for (const member of this.#members) member.send({ type: 'stop' })
    this.#record.setStage(null)
    await this.#drain()
    await this.close()
    const seconds = (performance.now() - this.#began) / 1000
    if (this.#failure !== null) throw new LoadtestError('generator_failed', this.#failure)
    const summary = this.#record.summary({ target: target.uri, startedAt: this.#startedAt, seconds })
    return { summary, samples: this.#record.samples }
  }

  /** Ends the processes. Rows of calls that are hung up by it are counted. */
  async close(): Promise<void> {
    clearInterval(this.#sampling)
    const members = this.#members.splice(0)
    if (members.length === 0) return
    this.#closeSecond()
    this.#askForSamples(members)
    await Promise.all(members.map(member => member.close()))
    this.#closeSecond()
  }

  async #open(): Promise<void> {
    const { scenario, target, onOpen } = this.#options
    const of = scenario.generator.processes
    const uris: string[] = []
    for (let index = 0; index < of; index++) {
      const part = { scenario, target, index, of, home: this.#home }
      const opened = await FleetMember.open(part, reply => this.#onReply(reply))
      this.#members.push(opened.member)
      uris.push(...opened.uris)
    }
    onOpen?.(uris)
  }

  /** Holds a stage; resolves with false when no further one follows: the step broke, or the run is over. */
  async #hold(stage: LoadStage): Promise<boolean> {
    this.#record.setStage(stage)
    for (const member of this.#members) member.send({ type: 'stage', stage })
    const until = performance.now() + stage.durationMs
    const { total } = this.#options.scenario.load
    const isComplete = () => total !== undefined && this.#record.begun >= total
    while (performance.now() < until && !this.#isOver && !isComplete())
      await sleep(Math.min(POLL_MS, until - performance.now()))
    if (this.#isOver) return false
    const counts = await Promise.all(this.#members.map(member => member.countBegun()))
    this.#record.closeStage(counts.reduce((sum, count) => sum + count, 0))
    if (isComplete()) return false
    return stage.step === null || !this.#record.stepBroke(stage.step)
  }

  async #drain(): Promise<void> {
    const until = performance.now() + this.#options.scenario.load.drain_s * 1000
    // The processes are asked for their calls once a second.
    await sleep(1100)
    while (performance.now() < until && this.#record.live > 0 && !this.#isOver) await sleep(POLL_MS)
  }

  get #isOver(): boolean {
    return this.#failure !== null || this.#options.signal?.aborted === true
  }

  #onReply(reply: FleetReply): void {
    if (reply.type === 'failed') this.#failure ??= reply.message
    if (reply.type === 'sample') this.#record.addProcessSample(reply.sample)
    if (reply.type !== 'row') return
    this.#record.addRow(reply.row)
    this.#options.onCall?.(reply.row)
  }

  #sample(): void {
    this.#closeSecond()
    this.#askForSamples()
  }

  /** Both sides are measured at the same time; the answers have a second to come, so that each second has one of each process. */
  #askForSamples(members: readonly FleetMember[] = this.#members): void {
    const { targetPids } = this.#options
    const now = performance.now()
    this.#spanMs = now - this.#askedAt
    this.#askedAt = now
    this.#target = targetPids.length === 0 ? null : processFigures(targetPids)
    for (const member of members) member.send({ type: 'sample' })
  }

  #closeSecond(): void {
    const sample = this.#record.tick(performance.now() - this.#began, this.#target, this.#spanMs)
    this.#options.onSample?.(sample, this.#record)
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, Math.max(0, ms)))
}
