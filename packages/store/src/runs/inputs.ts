import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries, Sealer } from '../protocol.ts'
import { heldRow } from './ownership.ts'
import type { RunOwnership } from './protocol.ts'

/** The context under which the log of a run's inputs is sealed: it cannot be opened under another. */
export function inputsSealContext({ tenant_id }: Pick<Scope, 'tenant_id'>, runId: string): string {
  return `run-inputs/${tenant_id}/${runId}`
}

/** The log of a run's inputs. `redacted`: it has placeholders in place of words. */
export interface RunInputs {
  readonly log: Uint8Array
  readonly redacted: boolean
}

/** Stores the log of a run's inputs. `lost`: another process owns the run, or it has ended. */
export async function storeInputs(
  tx: Queries,
  scope: Scope,
  owned: RunOwnership,
  { log, redacted }: RunInputs,
  sealer: Sealer,
): Promise<'stored' | 'lost'> {
  const sealed = sealer.seal(Buffer.from(log), inputsSealContext(scope, owned.run_id))
  const { numAffectedRows } = await sql`
    with held as ${heldRow(scope, owned)}
    insert into parley.run_inputs as i (tenant_id, run_id, sealed, redacted)
    select held.tenant_id, held.run_id, ${sealed}::bytea, ${redacted}::boolean from held
    on conflict (tenant_id, run_id) do update set sealed = excluded.sealed, redacted = excluded.redacted`.execute(tx)
  return numAffectedRows === 1n ? 'stored' : 'lost'
}

/** Null: the run has no log, or its transcript has expired. */
export async function readInputs(db: Queries, scope: Scope, runId: string, sealer: Sealer): Promise<Uint8Array | null> {
  const { rows } = await sql<{ sealed: Buffer }>`
    select i.sealed from parley.run_inputs i
    where i.tenant_id = ${scope.tenant_id}::uuid and i.run_id = ${runId}::uuid`.execute(db)
  return rows[0] === undefined ? null : sealer.open(rows[0].sealed, inputsSealContext(scope, runId))
}

/** What is known of the log without opening it; null: there is none. */
export async function readInputsHead(
  db: Queries,
  scope: Scope,
  runId: string,
): Promise<Pick<RunInputs, 'redacted'> | null> {
  const { rows } = await sql<Pick<RunInputs, 'redacted'>>`
    select i.redacted from parley.run_inputs i
    where i.tenant_id = ${scope.tenant_id}::uuid and i.run_id = ${runId}::uuid`.execute(db)
  return rows[0] ?? null
}
