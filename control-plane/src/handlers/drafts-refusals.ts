import { type Diagnostic, type DraftEdit, type Json, Refusal } from '@parley/contract'
import type { EditsApplied } from '@parley/flow'
import { type DraftRevision, readAgent } from '@parley/store'
import type { Context, Platform } from '../context.ts'
import { agentArchived, noAgent } from './agents-refusals.ts'
import { invalid } from './invalid-request.ts'

export function noDraft(agentId: string): Refusal {
  return new Refusal('not_found', `agent "${agentId}" has no open draft`)
}

/** `current`: where the agent's draft stands now; null: none is open. */
export function staleDraft(current: DraftRevision | null): Refusal<'conflict'> {
  const now =
    current === null ? 'the draft is gone' : `the draft stands at revision ${current.revision} of ${current.draft_id}`
  return new Refusal('conflict', `${now}: read it again`, {
    reason: 'stale_revision',
    details: { current: current === null ? null : { draft_id: current.draft_id, revision: current.revision } },
  })
}

/** Why a compare-and-set found no draft: what the refusal names was read after it. */
export async function staleDraftRefusal({ db, scope }: Context, agentId: string): Promise<Refusal> {
  const agent = await readAgent(db, scope, agentId)
  if (agent === null) return noAgent(agentId)
  if (agent.archived_at !== null) return agentArchived(agentId)
  const { draft_id, revision } = agent
  return staleDraft(draft_id === null || revision === null ? null : { draft_id, revision })
}

/** Which edit does not apply, and that none was kept. */
export function editsRefused({ reason, issues }: Extract<EditsApplied, { ok: false }>): Refusal {
  const [{ path, message }] = issues
  if (reason === 'edit_not_applicable') return invalid(path, message, reason)
  return new Refusal('conflict', `no edit was kept: ${message}`, { reason, details: { issues: [{ path, message }] } })
}

/** A webhook goes over https, but to the hosts that the operator allowed by name. */
export function refuseAddresses(edits: readonly DraftEdit[], platform: Platform): void {
  for (const [index, edit] of edits.entries())
    if (edit.type === 'notification.put')
      refuseAddress(edit.notification.url, `/edits/${index}/notification/url`, platform)
}

/** Throws `address_not_allowed` for what agents may not reach; `path` is where the request says it. */
export function refuseAddress(address: string, path: string, platform: Platform): void {
  const url = new URL(address)
  if (url.protocol === 'https:' || (url.protocol === 'http:' && platform.allowsPlainHttp(url))) return
  throw invalid(path, `${url.protocol}//${url.host} may not be reached: use https`, 'address_not_allowed')
}

/** As `details` carry them: members that are undefined are left out. */
export function diagnosticsJson(diagnostics: readonly Diagnostic[]): Json {
  return JSON.parse(JSON.stringify(diagnostics))
}
