import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries } from '../protocol.ts'
import { type RunStatement, scopedRows } from '../statements.ts'
import type { ContentsAcrossTenants, RunOfTenant } from './protocol.ts'

export function contentsOn(run: RunStatement): ContentsAcrossTenants {
  return {
    async recordingsToJoin(atMost, graceMs) {
      const { rows } = await run(
        'recordings_to_join',
        'select * from parley.recordings_to_join($1::integer, $2::integer)',
        [graceMs, atMost],
      )
      return scopedRows<RunOfTenant>(rows)
    },
    async expireRecordings(atMost) {
      const { rows } = await run('expire_recordings', 'select * from parley.expire_recordings($1)', [atMost])
      return scopedRows<RunOfTenant>(rows)
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
