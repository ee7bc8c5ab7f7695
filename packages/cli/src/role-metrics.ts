import { watchProcess } from '@parley/control-plane'
import type { CallEvent, CallRecordEnd, RunEngine } from '@parley/engine'
import type { RecordingSpool } from '@parley/runs'
import { isRegisteredStatus } from '@parley/sip'
import type { Database, RunKind } from '@parley/store'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'

/** Values of an engine that become metrics. */
interface EngineFigures {
  readonly live: number
  readonly isDraining: boolean
  /** p99 of the lateness of sent audio packets in the last five seconds. */
  readonly mediaLatenessMs: number
  /** How late received audio is read, mean of the last two seconds. */
  readonly audioReadLatenessMs: number
  /** Expiry of the SIP certificate, Unix ms; null: unknown. */
  readonly certificateEndsAt: number | null
  /** SIP connections refused and evicted, and datagrams dropped, since the start. */
  readonly refused: number
  readonly evicted: number
  readonly datagramsDropped: number
}

/** Values of a recording spool that become metrics. */
type SpoolFigures = Pick<RecordingSpool, 'bytes' | 'maxBytes' | 'refused'>

/** Runs of a kind that are counted; a longer queue is as alarming. */
const MAX_WAITING = 1000
const RUN_KINDS: readonly RunKind[] = ['phone', 'web', 'chat', 'task', 'background']

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

  readonly #sourcesRefused = new Counter({
    name: 'parley_media_sources_refused_total',
    help: 'Other sources of the media of calls that were not answered, because they were private, link-local or our own addresses',
    registers: [this.registry],
  })

  readonly #trunkCalls = new Counter({
    name: 'parley_trunk_calls_total',
    help: 'Ended calls that reached a trunk, by direction and whether they were answered; their ratio is the ASR',
    labelNames: ['direction', 'result'],
    registers: [this.registry],
  })
  readonly #trunkFailures = new Counter({
    name: 'parley_trunk_call_failures_total',
    help: 'Calls that reached a trunk and were not answered, by direction and final SIP status (none: there was none; 4xx: one that no RFC defines)',
    labelNames: ['direction', 'status'],
    registers: [this.registry],
  })
  readonly #postDialDelay = new Histogram({
    name: 'parley_trunk_post_dial_delay_seconds',
    help: 'Time from the INVITE of an outbound call to ringing or the answer',
    buckets: [0.1, 0.25, 0.5, 1, 2, 4, 6, 8, 12, 20, 30],
    registers: [this.registry],
  })

  readonly #turns = new Histogram({
    name: 'parley_turn_seconds',
    help: 'Latency of turns, from the end of the caller to the first sample of the answer (part e2e), and its parts',
    labelNames: ['part'],
    buckets: [0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10],
    registers: [this.registry],
  })
  readonly #silences = new Histogram({
    name: 'parley_silence_seconds',
    help: 'Silences that exceeded the bound of their agent, by what the caller waited for',
    labelNames: ['stage'],
    buckets: [0.5, 1, 1.5, 2, 3, 5, 8, 13, 20, 30],
    registers: [this.registry],
  })

  /** Counts turns and silences of calls as they happen. */
  callEvent(event: CallEvent): void {
    if (event.type !== 'timeline') return
    const { item } = event
    if (item.kind === 'silence') this.#silences.observe({ stage: item.stage }, item.duration_ms / 1000)
    if (item.kind !== 'turn') return
    for (const [part, ms] of Object.entries(item.latency)) if (ms !== null) this.#turns.observe({ part }, ms / 1000)
  }

  callEnded(end: CallRecordEnd): void {
    const { state, outcome, connectedMs, report } = end
    if (end.reachedTrunk) this.#trunkCall(end)
    const media = report?.end.media?.statistics
    this.#mediaConflicts.inc(media?.mediaConflicts ?? 0)
    this.#sourcesRefused.inc(media?.sourcesRefused ?? 0)
    this.#ended.inc({ state, outcome: outcome ?? 'none' })
    if (connectedMs !== null) this.#connected.observe(connectedMs / 1000)
  }

  #trunkCall({ direction, connectedMs, sipStatus, postDialDelayMs }: CallRecordEnd): void {
    const isAnswered = connectedMs !== null
    this.#trunkCalls.inc({ direction, result: isAnswered ? 'answered' : 'not_answered' })
    if (!isAnswered) this.#trunkFailures.inc({ direction, status: statusLabel(sipStatus) })
    if (postDialDelayMs !== null) this.#postDialDelay.observe(postDialDelayMs / 1000)
  }

  /** Adds metrics of the trunks of an engine. */
  watchTrunks(figures: () => RunEngine['trunkFigures']): void {
    const registers = [this.registry]
    new Gauge({
      name: 'parley_trunks_pinged',
      help: 'Trunks to which this engine sends OPTIONS, by what their servers answered last',
      labelNames: ['state'],
      registers,
      collect() {
        for (const [state, count] of Object.entries(figures().pings.trunks)) this.set({ state }, count)
      },
    })
    new Counter({
      name: 'parley_trunk_pings_total',
      help: 'OPTIONS to servers of trunks, by whether there was an answer',
      labelNames: ['result'],
      registers,
      collect() {
        const { answered, unanswered } = figures().pings
        this.reset()
        this.inc({ result: 'answered' }, answered)
        this.inc({ result: 'unanswered' }, unanswered)
      },
    })
    new Gauge({
      name: 'parley_trunk_registrations',
      help: 'Registrations of trunks that this engine keeps, by state',
      labelNames: ['state'],
      registers,
      collect() {
        for (const [state, count] of Object.entries(figures().registrations)) this.set({ state }, count)
      },
    })
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
    const lateness = 'p99 of the lateness of sent audio packets in the last 5 s; 0 with fewer than ten calls'
    gauge('parley_media_lateness_seconds', lateness, registers, () => figures().mediaLatenessMs / 1000)
    const reading = 'How late the received audio of calls is read, mean of the last two seconds'
    gauge('parley_audio_read_lateness_seconds', reading, registers, () => figures().audioReadLatenessMs / 1000)
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

  /** Adds the runs that wait for a process. Asks the database at each reading; while it is away the metrics have no values. */
  watchQueue(runs: Pick<Database['runs'], 'waiting'>): void {
    const registers = [this.registry]
    let reading: Promise<readonly WaitingKind[]> | null = null
    // Both metrics are read at once, with one look at the database.
    const read = () => {
      reading ??= Promise.all(RUN_KINDS.map(kind => waitingOf(runs, kind)))
        .catch(() => [])
        .finally(() => {
          reading = null
        })
      return reading
    }
    new Gauge({
      name: 'parley_runs_waiting',
      help: `Runs that wait for a process, by kind; ${MAX_WAITING} at most are counted`,
      labelNames: ['kind'],
      registers,
      async collect() {
        this.reset()
        for (const { kind, count } of await read()) this.set({ kind }, count)
      },
    })
    new Gauge({
      name: 'parley_runs_waiting_oldest_seconds',
      help: 'How long the oldest waiting run has waited, by kind',
      labelNames: ['kind'],
      registers,
      async collect() {
        this.reset()
        for (const { kind, oldestSeconds } of await read()) this.set({ kind }, oldestSeconds)
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

interface WaitingKind {
  readonly kind: RunKind
  readonly count: number
  /** 0: none waits. */
  readonly oldestSeconds: number
}

async function waitingOf(runs: Pick<Database['runs'], 'waiting'>, kind: RunKind): Promise<WaitingKind> {
  const found = await runs.waiting(kind, MAX_WAITING)
  const since = found[0]?.admitted_at
  const oldestSeconds = since === undefined ? 0 : Math.max(0, (Date.now() - Date.parse(since)) / 1000)
  return { kind, count: found.length, oldestSeconds }
}

/** A far end may answer any status: those without a phrase of their own are counted by class. */
function statusLabel(status: number | null): string {
  if (status === null) return 'none'
  return isRegisteredStatus(status) ? String(status) : `${Math.floor(status / 100)}xx`
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
