import { type Diagnostic, type DraftEdit, type Json, Refusal } from '@parley/contract'
import type { EditsApplied } from '@parley/flow'
import { type DraftRevision, readAgent } from '@parley/store'
import type { Context, Platform } from '../context.ts'
import { agentArchived, noAgent } from './agents-refusals.ts'
import { invalid } from './invalid-request.ts'

export function noDraft(agentId: string): Refusal {
  return new Refusal('not_found', `agent "${agentId}" has no open draft`)
}

/** `current`: the revision of the open draft; null: none is open. */
export function staleDraft(current: DraftRevision | null): Refusal<'conflict'> {
  const now = current === null ? 'no draft is open' : `the draft ${current.draft_id} has revision ${current.revision}`
  return new Refusal('conflict', `${now}: read it again and repeat the request`, {
    reason: 'stale_revision',
    details: { current: current === null ? null : { draft_id: current.draft_id, revision: current.revision } },
  })
}

/** The refusal after a failed compare-and-set; it shows the revision as it is now. */
export async function staleDraftRefusal({ db, scope }: Context, agentId: string): Promise<Refusal> {
  const agent = await readAgent(db, scope, agentId)
  if (agent === null) return noAgent(agentId)
  if (agent.archived_at !== null) return agentArchived(agentId)
  const { draft_id, revision } = agent
  return staleDraft(draft_id === null || revision === null ? null : { draft_id, revision })
}

/** The refusal of edits, with the path of the one that does not apply; no edit was stored. */
export function editsRefused({ reason, issues }: Extract<EditsApplied, { ok: false }>): Refusal {
  const [{ path, message }] = issues
  if (reason === 'edit_not_applicable') return invalid(path, message, reason)
  return new Refusal('conflict', `no edit was stored: ${message}`, { reason, details: { issues: [{ path, message }] } })
}

/** Refuses webhook addresses without https, unless the operator has allowed the host. */
export function refuseAddresses(edits: readonly DraftEdit[], platform: Platform): void {
  for (const [index, edit] of edits.entries())
    if (edit.type === 'notification.put')
      refuseAddress(edit.notification.url, `/edits/${index}/notification/url`, platform)
}

/** Throws `address_not_allowed` for an address that agents may not reach; `path` is its JSON pointer in the request. */
export function refuseAddress(address: string, path: string, platform: Platform): void {
  const url = new URL(address)
  if (url.protocol === 'https:' || (url.protocol === 'http:' && platform.allowsPlainHttp(url))) return
  throw invalid(path, `${url.protocol}//${url.host} is not allowed: use https`, 'address_not_allowed')
}

/** The diagnostics as JSON for `details`, without undefined members. */
export function diagnosticsJson(diagnostics: readonly Diagnostic[]): Json {
  return JSON.parse(JSON.stringify(diagnostics))
}
