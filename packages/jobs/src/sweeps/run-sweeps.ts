import type { EnvironmentQueue } from '@parley/runs'
import type { Bus, Database, DueWork } from '@parley/store'
import type { JobCounters } from '../metrics.ts'

/** In one round; more of them are the next round's, which follows at once. */
const AT_MOST = 200
const ENGINE_SILENT_MS = 30_000
/** As long as answers are promised to be kept. */
const KEEP_ANSWERS_MS = 7 * 24 * 3_600_000

export interface RunSweepsOptions {
  readonly database: Database
  readonly bus: Bus
  readonly counters: JobCounters
}

/** Admitted runs that nobody took in time expire. */
export async function expireRuns({ database, bus, counters }: RunSweepsOptions): Promise<boolean> {
  const expired = await database.runs.expire(AT_MOST)
  for (const { run_id } of expired) bus.publish('runs', run_id)
  counters.add('runs_expired', expired.length)
  return expired.length === AT_MOST
}

/** Updates that no engine answered in time become `indeterminate`; who owns the run is told, for its timeline. */
export async function expireUpdates({ database, bus, counters }: RunSweepsOptions): Promise<boolean> {
  const settled = await database.runs.expireUpdates(AT_MOST)
  for (const run_id of new Set(settled.map(update => update.run_id))) {
    bus.publish('run_orders', run_id)
    bus.publish('runs', run_id)
  }
  counters.add('updates_expired', settled.length)
  return settled.length === AT_MOST
}

/**
 * Makes sweeps over environments in which such work is due: each gets a round in the queue. Their job may have been lost,
 * or the work may be of a process that died.
 */
export function wakeDueEnvironments(
  database: Database,
  queue: EnvironmentQueue,
  work: DueWork,
): () => Promise<boolean> {
  let after: string | null = null
  return async () => {
    const due = await database.jobs.environmentsDue(work, after, AT_MOST)
    for (const scope of due) queue.wake(work, scope)
    const isPartOfThem = due.length === AT_MOST
    after = isPartOfThem ? due.at(-1)!.tenant_id : null
    return isPartOfThem
  }
}

/** Engines that are not heard any more; their runs are the reaper's. */
export async function forgetEngines({ database, counters }: RunSweepsOptions): Promise<boolean> {
  counters.add('engines_forgotten', (await database.runs.engines.forgetSilent(ENGINE_SILENT_MS)).length)
  return false
}

export async function forgetIdempotency({ database, counters }: RunSweepsOptions): Promise<boolean> {
  const gone = await database.forgetIdempotency(KEEP_ANSWERS_MS, 1000)
  counters.add('idempotency_forgotten', gone)
  return gone === 1000
}
