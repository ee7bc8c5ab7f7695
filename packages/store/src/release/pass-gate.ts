import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries, Sealer } from '../protocol.ts'
import { moveHead } from '../publications.ts'
import { signCertificate } from './certificates.ts'
import { type GateRow, settleGate } from './gates.ts'

/**
 * Makes the candidate of a gate whose tests passed the live version, and signs its certificate. False: its predecessor is not live
 * any more, and nothing was changed. The agent must be locked. Throws `signing_key_missing`, `seal_broken`.
 */
export async function passGate(tx: Queries, scope: Scope, sealer: Sealer, gate: GateRow): Promise<boolean> {
  const { gate_id, agent_id, candidate, predecessor, settings, test_run_id, suites, evidence } = gate
  if (test_run_id === null || suites === null || evidence === null)
    throw new TypeError(`the gate ${gate_id} has no evidence`)
  if (!(await moveHead(tx, scope, agent_id, candidate, predecessor))) return false
  const { digests, now } = await digestsOf(tx, scope, agent_id, [candidate, predecessor])
  const certificate = await signCertificate(tx, sealer, {
    type: 'parley-release-certificate',
    format: 1,
    owner_id: scope.owner_id,
    environment: scope.environment,
    publication: { agent_id, version: candidate, digest: digests.get(candidate)! },
    predecessor: predecessor === null ? null : { version: predecessor, digest: digests.get(predecessor)! },
    gate: settings,
    suites: [...suites],
    test_run_id,
    evidence,
    issued_at: now,
  })
  await settleGate(tx, scope, gate_id, 'passed', certificate)
  return true
}

async function digestsOf(tx: Queries, scope: Scope, agentId: string, versions: readonly (number | null)[]) {
  const { rows } = await sql<{ version: number; digest: string; now: string }>`
    select version, digest, parley.now_ms() as now from parley.publications
    where tenant_id = ${scope.tenant_id}::uuid and agent_id = ${agentId}
      and version = any(${versions.filter(version => version !== null)}::integer[])`.execute(tx)
  return { digests: new Map(rows.map(({ version, digest }) => [version, digest])), now: rows[0]!.now }
}
