import type { EnvironmentQueue } from '@parley/runs'
import type { Bus, Database, DueWork } from '@parley/store'
import type { JobCounters } from '../metrics.ts'

/** Rows of one round; when there are more, the next round follows at once. */
const AT_MOST = 200
const ENGINE_SILENT_MS = 30_000
/** The API promises that an idempotency key is remembered for this long. */
const KEEP_ANSWERS_MS = 7 * 24 * 3_600_000

export interface RunSweepsOptions {
  readonly database: Database
  readonly bus: Bus
  readonly counters: JobCounters
}

/** Expires admitted runs that no process claimed in time. */
export async function expireRuns({ database, bus, counters }: RunSweepsOptions): Promise<boolean> {
  const expired = await database.runs.expire(AT_MOST)
  for (const { run_id } of expired) bus.publish('runs', run_id)
  counters.add('runs_expired', expired.length)
  return expired.length === AT_MOST
}

/** Settles updates that no engine answered in time as `indeterminate`, and notifies the run's owner, which writes its timeline. */
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
 * Returns a sweep that adds a round to the queue for each environment in which such work is due. Its job may have been lost, or
 * the work may be leased to a process that died.
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
    const hasMore = due.length === AT_MOST
    after = hasMore ? due.at(-1)!.tenant_id : null
    return hasMore
  }
}

/** Removes engines without a heartbeat; the reaper takes their runs. */
export async function forgetEngines({ database, counters }: RunSweepsOptions): Promise<boolean> {
  counters.add('engines_forgotten', (await database.runs.engines.forgetSilent(ENGINE_SILENT_MS)).length)
  return false
}

export async function forgetIdempotency({ database, counters }: RunSweepsOptions): Promise<boolean> {
  const gone = await database.forgetIdempotency(KEEP_ANSWERS_MS, 1000)
  counters.add('idempotency_forgotten', gone)
  return gone === 1000
}

/** Deletes numbers that were forgotten longer ago than any call is remembered. */
export async function pruneForgottenNumbers({ database }: Pick<RunSweepsOptions, 'database'>): Promise<boolean> {
  return (await database.jobs.pruneForgottenNumbers(AT_MOST)) === AT_MOST
}
