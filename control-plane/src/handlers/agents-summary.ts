import type { agentSummary, Scope } from '@parley/contract'
import type { AgentRow } from '@parley/store'
import type { z } from 'zod'

export type AgentSummary = z.input<typeof agentSummary>

/** An agent as the API shows it. There are no runs yet, so none was the last one. */
export function summaryOf(row: AgentRow, scope: Scope): AgentSummary {
  return {
    ref: { tenant_id: scope.tenant_id, kind: 'agent', id: row.agent_id },
    name: row.name,
    head: headOf(row),
    draft: draftOf(row),
    created_at: row.created_at,
    updated_at: row.updated_at,
    last_run: null,
  }
}

function headOf({ agent_id, head_version, digest, channels, languages, published_at }: AgentRow): AgentSummary['head'] {
  if (head_version === null) return null
  if (digest === null || channels === null || languages === null || published_at === null)
    throw new TypeError(`version ${head_version} of agent "${agent_id}", which is live, is not there`)
  return { version: head_version, digest, channels, languages, published_at }
}

function draftOf({ draft_id, revision, base_version, published_revision }: AgentRow): AgentSummary['draft'] {
  return draft_id === null || revision === null ? null : { draft_id, revision, base_version, published_revision }
}
