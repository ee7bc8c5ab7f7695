import type { agentSummary, Scope } from '@parley/contract'
import type { AgentRow } from '@parley/store'
import type { z } from 'zod'

export type AgentSummary = z.input<typeof agentSummary>

/** An agent as the API shows it. */
export function summaryOf(row: AgentRow, scope: Scope): AgentSummary {
  return {
    ref: { tenant_id: scope.tenant_id, kind: 'agent', id: row.agent_id },
    name: row.name,
    head: headOf(row),
    draft: draftOf(row),
    created_at: row.created_at,
    updated_at: row.updated_at,
    last_run: lastRunOf(row),
  }
}

function headOf({ agent_id, head_version, digest, channels, languages, published_at }: AgentRow): AgentSummary['head'] {
  if (head_version === null) return null
  if (digest === null || channels === null || languages === null || published_at === null)
    throw new TypeError(`agent "${agent_id}" has version ${head_version} as its head, which is not stored`)
  return { version: head_version, digest, channels, languages, published_at }
}

function lastRunOf({ run_id, run_created_at, run_state, run_disposition }: AgentRow): AgentSummary['last_run'] {
  if (run_id === null || run_created_at === null || run_state === null) return null
  return { run_id, created_at: run_created_at, state: run_state, disposition: run_disposition }
}

function draftOf({ draft_id, revision, base_version, published_revision }: AgentRow): AgentSummary['draft'] {
  return draft_id === null || revision === null ? null : { draft_id, revision, base_version, published_revision }
}
