import { existsSync } from 'node:fs'
import { loadavg } from 'node:os'
import type { Benchmark, BenchmarkOptions } from '../benchmark.ts'
import { CORES, type Load, MeasuredSubject } from './measured-subject.ts'
import { measureMemory } from './memory-figures.ts'
import type { Layer } from './messages.ts'
import { PeerProgram } from './peer-program.ts'
import { areOnTime, measureRefreshes } from './refreshes.ts'
import { inParallel, isClean, type LoadFigures, runSipp } from './sipp-load.ts'

const PER_SECOND = 400
const SECONDS = 8
/** Calls before a measurement, so that V8 has compiled the hot code. */
const WARM_UP_CALLS = 1_200
const RATES = [800, 1_000, 1_250, 1_500, 1_750, 2_000, 2_500]
/** A rate that was not clean is tried again, because other work on the machine can only harm. */
const ATTEMPTS = 3
const MAX_PROCESSES = 8
const DIALOGS = 5_000
const CONNECTIONS = 900
const TIMED_DIALOGS = 10_000
const TIMED_HOURS = 2

/**
 * Processor time of a SIP call, delay of its answer, calls a second without a repeated request, memory of idle dialogs and
 * connections, and refreshes on time: `npm run bench -- sip [--rate 400] [--seconds 8] [--rates 800,1000] [--processes 1]
 * [--peer PATH] [--only loads,rates,memory,refreshes]`. SIPp calls over UDP and TCP, our own caller over TLS; each on the
 * other core. `--processes`: user agents that share the calls of `rates`, each with a SIPp and a core of its own.
 */
export const benchmark: Benchmark = {
  name: 'sip',
  options: ['rate', 'seconds', 'rates', 'processes', 'peer', 'only'],
  run,
}

interface Settings {
  readonly perSecond: number
  readonly seconds: number
  readonly rates: readonly number[]
  readonly processes: number
  readonly peer: string | undefined
  readonly parts: ReadonlySet<string>
}

const PARTS = ['loads', 'rates', 'memory', 'refreshes']

function settingsOf({ option }: BenchmarkOptions): Settings {
  const perSecond = Number(option('rate') ?? PER_SECOND)
  const seconds = Number(option('seconds') ?? SECONDS)
  const rates = option('rates')?.split(',').map(Number) ?? RATES
  const processes = Number(option('processes') ?? 1)
  const parts = option('only')?.split(',') ?? PARTS
  if (![perSecond, ...rates].every(rate => Number.isInteger(rate) && rate >= 1 && rate <= 20_000))
    throw new Error('--rate and --rates take whole numbers from 1 to 20000')
  if (!(seconds >= 1 && seconds <= 600)) throw new Error('--seconds takes 1 to 600')
  if (!(Number.isInteger(processes) && processes >= 1 && processes <= MAX_PROCESSES))
    throw new Error(`--processes takes 1 to ${MAX_PROCESSES}`)
  if (!parts.every(part => PARTS.includes(part))) throw new Error(`--only takes ${PARTS.join(', ')}`)
  return { perSecond, seconds, rates, processes, peer: option('peer'), parts: new Set(parts) }
}

async function run(options: BenchmarkOptions): Promise<object> {
  const settings = settingsOf(options)
  const { parts } = settings
  const loads = parts.has('loads')
  const ua = loads ? await measureLayer('ua', ['udp', 'tcp', 'tls'], settings, options) : null
  const engine = loads ? await measureLayer('engine', ['udp'], settings, options) : null
  if (loads) await comparePeer(settings, options)
  const cleanCps = parts.has('rates') ? await measureRates(settings, options) : null
  const bytesPerDialog = parts.has('memory') ? await memory(options) : null
  if (parts.has('refreshes')) refreshes(options)
  return {
    bench: 'sip',
    ua_ms_per_call: ua?.msPerCall ?? null,
    engine_ms_per_call: engine?.msPerCall ?? null,
    clean_cps: cleanCps,
    invite_p95_ms: ua?.inviteMs.p95 ?? null,
    bytes_per_dialog: bytesPerDialog,
  }
}

/** The figures over UDP. */
async function measureLayer(
  layer: Layer,
  transports: readonly Load['transport'][],
  { perSecond, seconds }: Settings,
  { line, progress }: BenchmarkOptions,
): Promise<LoadFigures & { readonly msPerCall: number }> {
  const subject = await MeasuredSubject.open(layer)
  try {
    let first: (LoadFigures & { readonly msPerCall: number }) | undefined
    for (const transport of transports) {
      progress(`${layer}, ${perSecond} calls a second over ${transport}`)
      await subject.run({ transport, calls: WARM_UP_CALLS, perSecond })
      const load = { transport, calls: Math.round(perSecond * seconds), perSecond }
      const figures = await subject.run(load)
      line({ bench: 'sip', layer, transport, clean: isClean(figures, load), ...fieldsOf(figures), load: machineLoad() })
      first ??= figures
    }
    if (first === undefined) throw new Error('no transport was measured')
    return first
  } finally {
    await subject.close()
  }
}

/** The highest rate of the list up to which every rate was clean, over UDP; 0: not even the first one. */
async function measureRates(settings: Settings, { line, progress }: BenchmarkOptions): Promise<number> {
  const { rates, seconds, processes } = settings
  const subjects: MeasuredSubject[] = []
  const run = (perSecond: number, calls: number) =>
    inParallel(subjects, perSecond, calls, (subject, share) => subject.run({ transport: 'udp', ...share }))
  try {
    while (subjects.length < processes) subjects.push(await MeasuredSubject.open('ua', null, subjects.length % CORES))
    await run(PER_SECOND * processes, WARM_UP_CALLS * processes)
    let cleanCps = 0
    for (const perSecond of rates) {
      let clean = false
      for (let attempt = 1; attempt <= ATTEMPTS && !clean; attempt++) {
        progress(`${processes} ua, ${perSecond} calls a second over udp, attempt ${attempt}`)
        const asked = { calls: Math.round(perSecond * seconds), perSecond }
        const figures = await run(asked.perSecond, asked.calls)
        clean = isClean(figures, asked)
        const fields = { ...fieldsOf(figures), load: machineLoad() }
        line({ bench: 'sip', layer: 'ua', transport: 'udp', processes, asked: perSecond, clean, ...fields })
      }
      if (!clean) break
      cleanCps = perSecond
    }
    return cleanCps
  } finally {
    for (const subject of subjects) await subject.close()
  }
}

/** The average number of runnable threads in the last minute, those of the benchmark included. */
function machineLoad(): number {
  return Math.round(loadavg()[0]! * 10) / 10
}

async function comparePeer(settings: Settings, options: BenchmarkOptions): Promise<void> {
  const { peer } = settings
  if (peer === undefined) options.progress('no --peer is given: no other server is measured')
  else if (!existsSync(peer)) options.progress(`${peer} is not installed: no other server is measured`)
  else await measurePeer(peer, settings, options)
}

async function measurePeer(
  path: string,
  { perSecond, seconds }: Settings,
  { line, progress }: BenchmarkOptions,
): Promise<void> {
  progress(`${path}, ${perSecond} calls a second over udp`)
  const peer = await PeerProgram.start(path)
  try {
    const load = { transport: 'udp', calls: Math.round(perSecond * seconds), perSecond } as const
    const target = { port: peer.port, core: 1 }
    await runSipp({ ...load, ...target, calls: WARM_UP_CALLS })
    const before = peer.cpuMs()
    const figures = await runSipp({ ...load, ...target })
    const msPerCall = (peer.cpuMs() - before) / load.calls
    line({ bench: 'sip', peer: path, clean: isClean(figures, load), ...fieldsOf({ ...figures, msPerCall }) })
  } finally {
    await peer.stop()
  }
}

async function memory({ line, progress }: BenchmarkOptions): Promise<number> {
  progress(`${DIALOGS} idle dialogs, ${CONNECTIONS} idle connections`)
  const { dialogs, bytesPerDialog, connections, bytesPerConnection } = await measureMemory(DIALOGS, CONNECTIONS)
  line({
    bench: 'sip',
    dialogs,
    bytes_per_dialog: bytesPerDialog,
    connections,
    bytes_per_connection: bytesPerConnection,
  })
  return bytesPerDialog
}

function refreshes({ line, progress }: BenchmarkOptions): void {
  progress(`${TIMED_DIALOGS} dialogs with session timers, ${TIMED_HOURS} virtual hours`)
  const figures = measureRefreshes(TIMED_DIALOGS, TIMED_HOURS)
  const { dialogs, refreshes, late, ended, notRefreshed } = figures
  line({
    bench: 'sip',
    timed_dialogs: dialogs,
    refreshes,
    late,
    ended,
    not_refreshed: notRefreshed,
    on_time: areOnTime(figures),
  })
}

function fieldsOf({
  calls,
  failed,
  retransmissions,
  perSecond,
  inviteMs,
  msPerCall,
}: LoadFigures & { msPerCall: number }) {
  return { calls, failed, retransmissions, per_second: perSecond, invite_ms: inviteMs, ms_per_call: msPerCall }
}
