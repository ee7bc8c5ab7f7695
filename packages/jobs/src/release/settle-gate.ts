import type { Scope } from '@parley/contract'
import {
  lockAgent,
  lockUnsettledGate,
  nextGateToSettle,
  passGate,
  type Queries,
  type Sealer,
  settleGate,
  writeAudit,
} from '@parley/store'

/** What became of a gate. */
interface SettledGate {
  readonly agentId: string
  /** Whether its candidate is the live version now. */
  readonly isReleased: boolean
}

/**
 * Settles the oldest gate of the environment whose test run is over: moves the head if its tests passed and the predecessor is still
 * live. Null: there is none. Throws `signing_key_missing`, `seal_broken`.
 */
export async function settleNextGate(tx: Queries, scope: Scope, sealer: Sealer): Promise<SettledGate | null> {
  const next = await nextGateToSettle(tx, scope)
  if (next === null) return null
  const agent = await lockAgent(tx, scope, next.agent_id)
  const gate = await lockUnsettledGate(tx, scope, next.gate_id)
  const settled = (isReleased: boolean): SettledGate => ({ agentId: next.agent_id, isReleased })
  // Another process settled it meanwhile; the next call looks for the next one.
  if (gate === null || agent === null) return settled(false)
  const isStale = agent.head_version !== gate.predecessor || agent.archived_at !== null
  if (gate.test_state === 'completed' && gate.verdict === 'passed' && !isStale) {
    const isReleased = await passGate(tx, scope, sealer, gate)
    if (!isReleased) await settleGate(tx, scope, gate.gate_id, 'superseded', null)
    else await audit(tx, scope, `${gate.agent_id}/${gate.candidate}`)
    return settled(isReleased)
  }
  const hasFailed = gate.test_state === 'completed' && gate.verdict !== 'passed'
  await settleGate(tx, scope, gate.gate_id, hasFailed ? 'failed' : isStale ? 'superseded' : 'cancelled', null)
  return settled(false)
}

/** The head was moved by the platform: the audit log says so. */
async function audit(tx: Queries, scope: Scope, publication: string): Promise<void> {
  const { owner_id, environment } = scope
  await writeAudit(tx, scope, {
    principal: { owner_id, environment, kind: 'system', id: 'release_gate' },
    action: 'publications.set_head',
    resource: { kind: 'publication', id: publication },
    outcome: 'allowed',
    request_id: null,
  })
}
