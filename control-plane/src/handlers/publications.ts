import { Refusal } from '@parley/contract'
import {
  insertPublication,
  listPublications,
  lockAgent,
  type NewPublication,
  type OpenDraft,
  type PublishedRevision,
  publicationOfRevision,
  readCertificate,
  readOpenDraft,
  readPublicationDetails,
  readPublicationRow,
} from '@parley/store'
import type { Context, Handlers, Principal } from '../context.ts'
import { RefusalAfterCommit } from '../pipeline/refusal-after-commit.ts'
import { largeAnswer } from '../reading/large-answer.ts'
import { runDraftWork } from '../reading/run-draft-work.ts'
import { agentArchived, existingAgent, noAgent, noVersion, unarchivedAgent } from './agents-refusals.ts'
import { summaryOf } from './agents-summary.ts'
import { draftEnvironmentOf } from './draft-environment.ts'
import { diagnosticsJson, staleDraft, staleDraftRefusal } from './drafts-refusals.ts'
import { publicationBody } from './publications-body.ts'
import { gateBody, release } from './release-gate.ts'

export const publicationHandlers = {
  'publications.list': async ({ params: { agent_id }, query: { cursor, limit } }, context) => {
    const { db, scope } = context
    const { rows, next_cursor } = await listPublications(db, scope, agent_id, { cursor: cursor ?? null, limit })
    // No rows: the agent has no versions, or there is no such agent.
    if (rows.length === 0) await existingAgent(context, agent_id)
    return { status: 200, body: { items: rows.map(publicationBody), next_cursor } }
  },

  'publications.publish': async ({ params: { agent_id }, body }, context) => {
    const { db, scope } = context
    const at = { draft_id: body.draft_id, revision: body.expected_revision }
    context.auditResource({ kind: 'agent', id: agent_id })
    // A concurrent publication of the same agent waits here and then finds the version made by this one.
    const agent = await lockAgent(db, scope, agent_id)
    if (agent === null) throw noAgent(agent_id)
    if (agent.archived_at !== null) throw agentArchived(agent_id)
    const open = await readOpenDraft(db, scope, agent_id)
    if (open === null || open.draft_id !== at.draft_id || open.revision !== at.revision) throw staleDraft(open)
    const existing = await publicationOfRevision(db, scope, agent_id, at, body.test)
    const live = agent.head_version
    if (existing !== null) {
      const isOverridden = body.override !== undefined && !body.test && existing.version !== live
      if (!isOverridden) return { status: 200, body: await published(existing, context) }
      await release({ agentId: agent_id, candidate: existing.version, predecessor: live }, body.override, context)
      context.notifyAfterCommit('publications', agent_id)
      return { status: 200, body: await published({ ...existing, is_head: true }, context) }
    }
    const version = await insertPublication(db, scope, agent_id, at, await preparePublication(open, body.test, context))
    if (version === null) throw await staleDraftRefusal(context, agent_id)
    if (!body.test) await release({ agentId: agent_id, candidate: version, predecessor: live }, body.override, context)
    const made = await publicationOfRevision(db, scope, agent_id, at, body.test)
    context.notifyAfterCommit('publications', agent_id)
    return { status: 201, body: await published(made!, context) }
  },

  'publications.get': async ({ params: { agent_id, version } }, context) => {
    const found = await readPublicationDetails(context.db, context.scope, agent_id, version)
    if (found === null) {
      await existingAgent(context, agent_id)
      throw noVersion(agent_id, version)
    }
    const { plan, draft, warnings } = found
    const small = {
      publication: publicationBody(found),
      gate: await gateBody(context, agent_id, version),
      certificate: await readCertificate(context.db, context.scope, agent_id, version),
      warnings,
    }
    const large = await runDraftWork(context, 'publication', { plan, draft })
    return { status: 200, body: largeAnswer('publications.get', small, large) }
  },

  'publications.set_head': async ({ params: { agent_id }, body: { version, expected_version, override } }, context) => {
    const { db, scope } = context
    context.auditResource({ kind: 'publication', id: `${agent_id}/${version}` })
    const agent = await lockAgent(db, scope, agent_id)
    const row = await readPublicationRow(db, scope, agent_id, version)
    if (
      agent === null ||
      agent.archived_at !== null ||
      row === null ||
      row.test ||
      agent.head_version !== expected_version
    )
      throw await staleHeadRefusal(context, agent_id, version)
    const to = { agentId: agent_id, candidate: version, predecessor: expected_version }
    const released = await release(to, override, context)
    if (released.state !== 'moved') throw gateRefusal(released.state, released.testRunId, version)
    context.notifyAfterCommit('publications', agent_id)
    return { status: 200, body: summaryOf(await existingAgent(context, agent_id), scope) }
  },
} satisfies Partial<Handlers>

/** The version of the open draft's revision, published for tests if it is not published. The agent must be locked. */
export async function publishOpenDraft(agentId: string, open: OpenDraft, context: Context): Promise<number> {
  const { db, scope } = context
  const at = { draft_id: open.draft_id, revision: open.revision }
  for (const test of [false, true]) {
    const existing = await publicationOfRevision(db, scope, agentId, at, test)
    if (existing !== null) return existing.version
  }
  const version = await insertPublication(db, scope, agentId, at, await preparePublication(open, true, context))
  if (version === null) throw await staleDraftRefusal(context, agentId)
  context.notifyAfterCommit('publications', agentId)
  return version
}

/** The publication of the draft; throws the refusal with the diagnostics of an invalid draft. */
async function preparePublication(open: OpenDraft, test: boolean, context: Context): Promise<NewPublication> {
  const draftEnvironment = await draftEnvironmentOf(context, open)
  const { json: draft, draft_id, revision } = open
  // If a worker thread makes the plan, the transaction that inserts it checks that revision and environment are unchanged.
  const publishable = await runDraftWork(context, 'plan', { draft, draftEnvironment }, [
    draft_id,
    revision,
    draftEnvironment,
  ])
  if (!publishable.ok) {
    const errors = publishable.diagnostics.filter(found => found.severity === 'error').length
    throw new Refusal(
      'publication_invalid',
      `the draft has ${errors} error${errors === 1 ? '' : 's'}: correct them first, see details.diagnostics`,
      {
        reason: 'invalid_draft',
        details: { diagnostics: diagnosticsJson(publishable.diagnostics) },
      },
    )
  }
  const { plan, digest, warnings, channels, languages } = publishable
  const source_kind = sourceKind(open, context.principal)
  return { plan, digest, warnings, channels, languages, test, source_kind, published_by: context.principal.ref }
}

/** The source of a version: an import without later edits, else the kind of its publisher. */
function sourceKind({ revision, imported_revision }: OpenDraft, { ref }: Principal): NewPublication['source_kind'] {
  if (revision === imported_revision) return 'agent_import'
  return ref.kind === 'user' ? 'studio' : 'api'
}

async function published(row: PublishedRevision, context: Context) {
  const { agent_id, version, warnings } = row
  context.auditResource({ kind: 'publication', id: `${agent_id}/${version}` })
  return { publication: publicationBody(row), gate: await gateBody(context, agent_id, version), warnings }
}

/** A gate that has just been started stays, although the request is refused. */
function gateRefusal(state: 'pending' | 'failed', test_run_id: string, version: number): Error {
  const details = { test_run_id }
  if (state === 'failed')
    return new Refusal('conflict', `version ${version} failed its release gate, see the test run ${test_run_id}`, {
      reason: 'gate_failed',
      details,
    })
  return new RefusalAfterCommit(
    new Refusal(
      'conflict',
      `the release gate of version ${version} is being tested by the test run ${test_run_id}, which makes the version live when it passes`,
      { reason: 'gate_pending', details },
    ),
  )
}

async function staleHeadRefusal(context: Context, agentId: string, version: number): Promise<Refusal> {
  const agent = await unarchivedAgent(context, agentId)
  const row = await readPublicationRow(context.db, context.scope, agentId, version)
  if (row === null) return noVersion(agentId, version)
  if (row.test)
    return new Refusal(
      'conflict',
      `version ${version} was published for tests only: publish the draft without "test"`,
      {
        reason: 'test_publication',
      },
    )
  const now = agent.head_version === null ? 'the agent has no head' : `version ${agent.head_version} is the head`
  return new Refusal('conflict', `${now}: read the agent again and repeat the request`, {
    reason: 'stale_revision',
    details: { current: { version: agent.head_version } },
  })
}
