import type { Scope } from '@parley/contract'
import type { TestDatabase } from '@parley/store/testing'

/** Gives a run a log of its inputs, which nothing here opens. */
export async function insertInputs(
  db: TestDatabase,
  { tenant_id }: Pick<Scope, 'tenant_id'>,
  runId: string,
  redacted = false,
): Promise<void> {
  const insert = `insert into parley.run_inputs (tenant_id, run_id, sealed, redacted) values ($1, $2, '\\x01', $3)`
  await db.owner.query(insert, [tenant_id, runId, redacted])
}
