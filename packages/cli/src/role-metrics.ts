import { watchProcess } from '@parley/control-plane'
import type { CallRecordEnd } from '@parley/engine'
import type { RecordingSpool } from '@parley/runs'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'

/** Values of an engine that become metrics. */
interface EngineFigures {
  readonly live: number
  readonly isDraining: boolean
  /** Expiry of the SIP certificate, Unix ms; null: unknown. */
  readonly certificateEndsAt: number | null
  /** SIP connections refused and evicted, and datagrams dropped, since the start. */
  readonly refused: number
  readonly evicted: number
  readonly datagramsDropped: number
}

/** Values of a recording spool that become metrics. */
type SpoolFigures = Pick<RecordingSpool, 'bytes' | 'maxBytes' | 'refused'>

/** The metrics of the engine and worker of this process. Labels have a bounded number of values and never name a tenant. */
export class RoleMetrics {
  readonly registry = new Registry()
  readonly #ended = new Counter({
    name: 'parley_calls_ended_total',
    help: 'Ended calls, by the state and the outcome of their run (none: rejected)',
    labelNames: ['state', 'outcome'],
    registers: [this.registry],
  })
  readonly #connected = new Histogram({
    name: 'parley_call_connected_seconds',
    help: 'Duration of connected calls',
    buckets: [1, 5, 15, 30, 60, 120, 300, 600, 1800, 3600],
    registers: [this.registry],
  })

  readonly #mediaConflicts = new Counter({
    name: 'parley_media_conflicts_total',
    help: 'Sources of plain RTP that took their place back from a successor at the same address within 2 s',
    registers: [this.registry],
  })

  callEnded({ state, outcome, connectedMs, report }: CallRecordEnd): void {
    this.#mediaConflicts.inc(report?.end.media?.statistics.mediaConflicts ?? 0)
    this.#ended.inc({ state, outcome: outcome ?? 'none' })
    if (connectedMs !== null) this.#connected.observe(connectedMs / 1000)
  }

  /** Adds metrics of the process, for a process without the API. */
  watchProcess(): void {
    watchProcess(this.registry)
  }

  /** Adds metrics of an engine. */
  watchEngine(figures: () => EngineFigures): void {
    const registers = [this.registry]
    gauge('parley_calls_live', 'Live calls', registers, () => figures().live)
    gauge('parley_engine_draining', '1: accepts no new calls', registers, () => (figures().isDraining ? 1 : 0))
    gauge('parley_certificate_days_left', 'Days until the SIP certificate expires', registers, () => {
      const { certificateEndsAt } = figures()
      return certificateEndsAt === null ? Number.NaN : (certificateEndsAt - Date.now()) / 86_400_000
    })
    const sip = 'parley_sip'
    counter(
      `${sip}_connections_refused_total`,
      'SIP connections refused by the limits',
      registers,
      () => figures().refused,
    )
    counter(
      `${sip}_connections_evicted_total`,
      'SIP connections without an answer, and unfinished TLS handshakes, closed to make room for others',
      registers,
      () => figures().evicted,
    )
    counter(
      `${sip}_datagrams_dropped_total`,
      'SIP datagrams dropped unread because their source sent too many',
      registers,
      () => figures().datagramsDropped,
    )
  }

  /** Adds metrics of the recordings that are not uploaded yet. */
  watchSpool(spool: () => SpoolFigures): void {
    const registers = [this.registry]
    const ofSpool = 'parley_recording_spool'
    gauge(`${ofSpool}_bytes`, 'Bytes of recordings that are not uploaded yet', registers, () => spool().bytes)
    gauge(
      `${ofSpool}_limit_bytes`,
      'Size limit of the spool; above it no recording starts',
      registers,
      () => spool().maxBytes,
    )
    new Counter({
      name: 'parley_recordings_refused_total',
      help: 'Recordings that could not start, by reason: spool full, disk full, or spool not writable',
      labelNames: ['reason'],
      registers,
      collect() {
        this.reset()
        for (const [reason, count] of Object.entries(spool().refused)) this.inc({ reason }, count)
      },
    })
  }

  /** Adds the counters of a worker. */
  watchWorker(read: () => Readonly<Record<string, number>>): void {
    for (const name of Object.keys(read())) {
      const help = `Counter of the worker: ${name.replaceAll('_', ' ')}`
      counter(`parley_jobs_${name}_total`, help, [this.registry], () => read()[name] ?? 0)
    }
  }
}

function counter(name: string, help: string, registers: Registry[], read: () => number): void {
  new Counter({
    name,
    help,
    registers,
    collect() {
      this.reset()
      this.inc(read())
    },
  })
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
