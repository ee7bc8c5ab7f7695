import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { RunStatement } from '../leases.ts'
import type { Queries } from '../protocol.ts'
import { scoped } from '../scoped.ts'

/** A run, and whose it is. */
export interface RunOfTenant {
  readonly run_id: string
  readonly scope: Scope
}

/** What is kept of runs, and for how long: across tenants, for workers. Times are on the database's clock. */
export interface ContentsAcrossTenants {
  /**
   * Recordings to be joined, those that wait longest first: closed by their recorder, or of a run that ended `graceMs`
   * ago without that, while nobody says to have more of it. `takeJoin` takes one.
   */
  recordingsToJoin(atMost: number, graceMs: number): Promise<RunOfTenant[]>
  /**
   * Recordings past their environment's retention become `expired`, about `atMost` at a time. Answers whose blobs are to
   * be deleted, until `forgetBlobs` says that they are gone.
   */
  expireRecordings(atMost: number): Promise<RunOfTenant[]>
  /**
   * Takes transcripts, digits, analysis and variables out of at most `atMost` runs past their environment's retention;
   * answers how many.
   */
  expireTranscripts(atMost: number): Promise<number>
}

export function contentsOn(run: RunStatement): ContentsAcrossTenants {
  return {
    async recordingsToJoin(atMost, graceMs) {
      const { rows } = await run(
        'recordings_to_join',
        'select * from parley.recordings_to_join($1::integer, $2::integer)',
        [graceMs, atMost],
      )
      return scoped<RunOfTenant>(rows)
    },
    async expireRecordings(atMost) {
      const { rows } = await run('expire_recordings', 'select * from parley.expire_recordings($1)', [atMost])
      return scoped<RunOfTenant>(rows)
    },
    async expireTranscripts(atMost) {
      const { rows } = await run('expire_transcripts', 'select parley.expire_transcripts($1) as expired', [atMost])
      return (rows[0] as { expired: number }).expired
    },
  }
}

/** The blobs of an expired recording are deleted. */
export async function forgetBlobs(tx: Queries, scope: Scope, runId: string): Promise<void> {
  await sql`
    update parley.run_recordings set blobs_expired = false
    where tenant_id = ${scope.tenant_id}::uuid and run_id = ${runId}::uuid and state = 'expired'`.execute(tx)
}
