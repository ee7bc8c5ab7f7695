import type { Benchmark, BenchmarkOptions } from '../benchmark.ts'
import { type AdmissionRow, measureAdmission } from './admission.ts'
import { QUEUES, QueueHarness, type QueueKind, queueMissing } from './queue-harness.ts'
import { measureQueue, type QueueRow } from './queue-to-invite.ts'
import { measurePipeline } from './reads.ts'

const PARTS = ['reads', 'admission', 'queue'] as const
type Part = (typeof PARTS)[number]

const ADMISSIONS = 3000
const CALLS = 100
const CALLS_PER_SECOND = 5

/**
 * Measures the API in three parts; `--only` selects one. `queue` and `admission` run with the queue on Postgres and on Redis
 * (`--queues postgres,redis`).
 *
 * - `reads`: requests through the whole pipeline, compared with a bare handler; see `measurePipeline`.
 *   `[--rounds 9] [--reads 2000] [--agents 100000]`
 * - `queue`: from the admission of an outbound call to the INVITE that the carrier sees, and how busy the event loop of each
 *   role is meanwhile. `[--calls 100] [--rate 5]` (a second)
 * - `admission`: creation of outbound runs by eight writers, compared with a bare insert of the same rows. `[--admissions 3000]`
 *
 * Planted faults: `--planted 20` (ms wasted in each request), `--wake-ups lost` (engines are not notified of admitted runs and
 * find them only by polling every 5 s).
 */
export const benchmark: Benchmark = {
  name: 'api',
  options: ['only', 'queues', 'rounds', 'reads', 'agents', 'calls', 'rate', 'admissions', 'planted', 'wake-ups'],
  run,
}

async function run(options: BenchmarkOptions): Promise<object> {
  const parts = partsOf(options.option('only'))
  const pipeline = parts.has('reads') ? await measurePipeline(options) : null
  const admissions: Partial<Record<QueueKind, AdmissionRow>> = {}
  const queues: Partial<Record<QueueKind, QueueRow>> = {}
  const wanted = parts.has('queue') || parts.has('admission') ? queuesOf(options.option('queues')) : []
  for (const queue of wanted) {
    const missing = queueMissing(queue)
    if (missing === null) await measureOn(queue, parts, options, { admissions, queues })
    else options.line({ bench: 'api', what: 'queue to INVITE', queue, skipped: missing })
  }
  const { postgres, redis } = queues
  return {
    bench: 'api',
    read_ratio: null,
    read_p99_ms: null,
    edit_p99_ms: null,
    list_p99_ratio: null,
    ...pipeline,
    admissions_per_s: admissions.postgres?.per_second ?? null,
    admission_p99_ms: admissions.postgres?.p99_ms ?? null,
    admission_ratio: admissions.postgres?.ratio ?? null,
    invite_p50_ms: postgres?.p50_ms ?? null,
    invite_p99_ms: postgres?.p99_ms ?? null,
    redis_invite_p50_ms: redis?.p50_ms ?? null,
    redis_invite_p99_ms: redis?.p99_ms ?? null,
  }
}

async function measureOn(
  queue: QueueKind,
  parts: ReadonlySet<Part>,
  { option, line, progress }: BenchmarkOptions,
  found: {
    readonly admissions: Partial<Record<QueueKind, AdmissionRow>>
    readonly queues: Partial<Record<QueueKind, QueueRow>>
  },
): Promise<void> {
  const calls = positive('calls', option('calls'), CALLS)
  const rate = positive('rate', option('rate'), CALLS_PER_SECOND)
  const admissions = positive('admissions', option('admissions'), ADMISSIONS)
  const wasteMs = Number(option('planted') ?? 0)
  const runQueue = option('wake-ups')
  if (runQueue !== undefined && runQueue !== 'lost') throw new Error('--wake-ups takes "lost"')
  progress(`starting API, worker and engine with the queue on ${queue}`)
  const losesWakeUps = runQueue === 'lost'
  const harness = await QueueHarness.open({ queue, faults: { wasteMs, losesWakeUps } })
  try {
    if (wasteMs > 0 || losesWakeUps) await harness.plant()
    if (parts.has('queue')) {
      progress(`${calls} calls, ${rate} per second`)
      const row = await measureQueue(harness, { calls, rate })
      found.queues[queue] = row
      line({ bench: 'api', ...row })
    }
    if (parts.has('admission')) {
      progress(`${admissions} admissions`)
      const row = await measureAdmission(harness, admissions)
      found.admissions[queue] = row
      line({ bench: 'api', ...row })
    }
  } finally {
    await harness.close()
  }
}

function partsOf(only: string | undefined): ReadonlySet<Part> {
  if (only === undefined) return new Set(PARTS)
  const part = PARTS.find(known => known === only)
  if (part === undefined) throw new Error(`--only takes one of ${PARTS.join(', ')}`)
  return new Set([part])
}

function queuesOf(given: string | undefined): readonly QueueKind[] {
  if (given === undefined) return QUEUES
  return given.split(',').map(name => {
    const queue = QUEUES.find(known => known === name)
    if (queue === undefined) throw new Error(`--queues takes ${QUEUES.join(',')}`)
    return queue
  })
}

function positive(name: string, given: string | undefined, otherwise: number): number {
  const value = Number(given ?? otherwise)
  if (!(value > 0 && value <= 100_000)) throw new Error(`--${name} takes a number from 1 to 100000`)
  return value
}
