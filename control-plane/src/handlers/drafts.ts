import { type draftResult, editSchema, type Json, Refusal } from '@parley/contract'
import {
  type DraftHead,
  deleteDraft,
  insertDraft,
  insertTombstone,
  lockAgent,
  readOpenDraft,
  readPublishedDraft,
  renameUnpublished,
  tombstoneOf,
  writeDraft,
} from '@parley/store'
import type { z } from 'zod'
import type { Context, Handlers } from '../context.ts'
import { largeAnswer } from '../reading/large-answer.ts'
import { runDraftWork } from '../reading/run-draft-work.ts'
import { agentArchived, agentNotPublished, existingAgent, noAgent, noVersion } from './agents-refusals.ts'
import { draftEnvironmentOf } from './draft-environment.ts'
import { editsRefused, noDraft, refuseAddresses, staleDraft, staleDraftRefusal } from './drafts-refusals.ts'

type DraftResult = z.input<typeof draftResult>

export const draftHandlers = {
  'drafts.get': async ({ params: { agent_id } }, context) => {
    const { db, scope } = context
    const open = await readOpenDraft(db, scope, agent_id)
    if (open === null) throw noDraft(agent_id)
    const content = await runDraftWork(context, 'content', { draft: open.json })
    return { status: 200, body: largeAnswer('drafts.get', draftHeadBody(open, agent_id, scope.tenant_id), content) }
  },

  'drafts.edit_schema': async ({ params: { type } }) => ({
    status: 200,
    body: { type, schema: editSchema(type) as { [keyword: string]: Json } },
  }),

  'drafts.edit': async ({ params: { agent_id }, body }, context) => {
    const { db, scope } = context
    const at = { draft_id: body.draft_id, revision: body.expected_revision }
    context.auditResource({ kind: 'agent', id: agent_id })
    refuseAddresses(body.edits, context.platform)
    const open = await readOpenDraft(db, scope, agent_id)
    if (open === null || !isAt(open, at)) throw await staleDraftRefusal(context, agent_id)
    const edited = await runDraftWork(context, 'edited', { draft: open.json, edits: body.edits }, at)
    if (!edited.ok) throw editsRefused(edited)
    // The agent is locked before the draft, in the same order as when publishing.
    if (edited.newName !== null) await renameUnpublished(db, scope, agent_id, edited.newName)
    const written = await writeDraft(db, scope, agent_id, at, edited)
    if (written === null) throw await staleDraftRefusal(context, agent_id)
    return { status: 200, body: draftHeadBody(written, agent_id, scope.tenant_id) }
  },

  'drafts.discard': async ({ params: { agent_id }, query }, context) => {
    const { db, scope } = context
    const at = { draft_id: query.draft_id, revision: query.expected_revision }
    context.auditResource({ kind: 'agent', id: agent_id })
    const deleted = await deleteDraft(db, scope, agent_id, at)
    if (deleted === null) return { status: 200, body: await discardedBefore(context, agent_id, at) }
    const answer = draftHeadBody(deleted, agent_id, scope.tenant_id)
    await insertTombstone(db, scope, 'draft', at.draft_id, answer)
    return { status: 200, body: answer }
  },

  'drafts.open': async ({ params: { agent_id }, body }, context) => {
    const { db, scope } = context
    context.auditResource({ kind: 'agent', id: agent_id })
    const agent = await lockAgent(db, scope, agent_id)
    if (agent === null) throw noAgent(agent_id)
    if (agent.archived_at !== null) throw agentArchived(agent_id)
    const version = body.version ?? agent.head_version
    if (version === null) throw agentNotPublished(agent_id)
    const publication = await readPublishedDraft(db, scope, agent_id, version)
    if (publication === null) throw noVersion(agent_id, version)
    const { draft } = publication
    const content = await runDraftWork(context, 'content', { draft }, version)
    const opened = await insertDraft(db, scope, agent_id, { json: draft }, { version })
    if (opened === null)
      throw new Refusal('conflict', `a draft of agent "${agent_id}" is open already: edit it, or discard it first`, {
        reason: 'draft_exists',
      })
    return { status: 201, body: largeAnswer('drafts.open', draftHeadBody(opened, agent_id, scope.tenant_id), content) }
  },

  'drafts.validate': async ({ params: { agent_id }, body: { draft_id, expected_revision } }, context) => {
    const open = await readOpenDraft(context.db, context.scope, agent_id)
    if (open === null) throw noDraft(agent_id)
    if (draft_id !== undefined && expected_revision !== undefined)
      if (!isAt(open, { draft_id, revision: expected_revision })) throw staleDraft(open)
    const draftEnvironment = await draftEnvironmentOf(context, open)
    const diagnostics = await runDraftWork(context, 'diagnostics', { draft: open.json, draftEnvironment })
    return { status: 200, body: { revision: open.revision, diagnostics } }
  },
} satisfies Partial<Handlers>

function isAt(open: DraftHead, at: { readonly draft_id: string; readonly revision: number }): boolean {
  return open.draft_id === at.draft_id && open.revision === at.revision
}

/** The answer to an earlier identical discard; throws the refusal if there was none. */
async function discardedBefore(
  context: Context,
  agentId: string,
  at: { readonly draft_id: string; readonly revision: number },
): Promise<DraftResult> {
  const { db, scope } = context
  const agent = await existingAgent(context, agentId)
  const tombstone = (await tombstoneOf(db, scope, 'draft', at.draft_id)) as DraftResult | null
  const wasDiscarded = tombstone !== null && tombstone.agent.id === agentId
  if (wasDiscarded && tombstone.revision === at.revision) return tombstone
  if (agent.archived_at !== null) throw agentArchived(agentId)
  const { draft_id, revision } = agent
  if (draft_id !== null && revision !== null) throw staleDraft({ draft_id, revision })
  throw wasDiscarded ? staleDraft(null) : noDraft(agentId)
}

export function draftHeadBody(head: DraftHead, agentId: string, tenantId: string): DraftResult {
  const { draft_id, revision, base_version, published_revision, updated_at } = head
  const agent = { tenant_id: tenantId, kind: 'agent' as const, id: agentId }
  return { agent, draft_id, revision, base_version, published_revision, updated_at }
}
