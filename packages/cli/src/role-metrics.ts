import { watchProcess } from '@parley/control-plane'
import type { CallRecordEnd } from '@parley/engine'
import type { WorkerMetrics } from '@parley/jobs'
import type { RecordingSpool } from '@parley/runs'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'

/** What an engine can be asked for its figures. */
interface EngineFigures {
  readonly live: number
  readonly isDraining: boolean
  /** ISO time or Unix ms at which the certificate ends; null: unknown. */
  readonly certificateEndsAt: number | null
}

/** What a spool of recordings can be asked for. */
type SpoolFigures = Pick<RecordingSpool, 'bytes' | 'mostBytes' | 'refused'>

/** The figures of the roles of this process besides the API. Labels are of bounded number and name no tenant. */
export class RoleMetrics {
  readonly registry = new Registry()
  readonly #ended = new Counter({
    name: 'parley_calls_ended_total',
    help: 'Calls that ended, by the state of their run and its outcome (none: rejected)',
    labelNames: ['state', 'outcome'],
    registers: [this.registry],
  })
  readonly #connected = new Histogram({
    name: 'parley_call_connected_seconds',
    help: 'How long calls were connected',
    buckets: [1, 5, 15, 30, 60, 120, 300, 600, 1800, 3600],
    registers: [this.registry],
  })

  callEnded({ state, outcome, connectedMs }: CallRecordEnd): void {
    this.#ended.inc({ state, outcome: outcome ?? 'none' })
    if (connectedMs !== null) this.#connected.observe(connectedMs / 1000)
  }

  /** From now on the process is shown too: where no API does so. */
  watchProcess(): void {
    watchProcess(this.registry)
  }

  /** From now on an engine's figures are shown too. */
  watchEngine(figures: () => EngineFigures): void {
    const registers = [this.registry]
    gauge('parley_calls_live', 'Calls now', registers, () => figures().live)
    gauge('parley_engine_draining', '1: takes no new calls', registers, () => (figures().isDraining ? 1 : 0))
    gauge('parley_certificate_days_left', 'Days until the SIP certificate ends', registers, () => {
      const { certificateEndsAt } = figures()
      return certificateEndsAt === null ? Number.NaN : (certificateEndsAt - Date.now()) / 86_400_000
    })
  }

  /** From now on it is shown too what of the recordings waits for the blobs. */
  watchSpool(spool: () => SpoolFigures): void {
    const registers = [this.registry]
    const ofSpool = 'parley_recording_spool'
    gauge(`${ofSpool}_bytes`, 'Bytes of recordings that are not among the blobs', registers, () => spool().bytes)
    gauge(`${ofSpool}_limit_bytes`, 'From so many on no recording begins', registers, () => spool().mostBytes)
    new Counter({
      name: 'parley_recordings_refused_total',
      help: 'Recordings that did not begin, and their calls: the spool is full, its disk is, or takes nothing',
      labelNames: ['reason'],
      registers,
      collect() {
        this.reset()
        for (const [reason, count] of Object.entries(spool().refused)) this.inc({ reason }, count)
      },
    })
  }

  /** From now on a worker's counts are shown too. */
  watchWorker(read: () => WorkerMetrics): void {
    for (const name of Object.keys(read()) as (keyof WorkerMetrics)[])
      new Counter({
        name: `parley_jobs_${name}_total`,
        help: `What the worker counts as ${name.replaceAll('_', ' ')}`,
        registers: [this.registry],
        collect() {
          this.reset()
          this.inc(read()[name])
        },
      })
  }
}

function gauge(name: string, help: string, registers: Registry[], read: () => number): void {
  new Gauge({
    name,
    help,
    registers,
    collect() {
      this.set(read())
    },
  })
}
