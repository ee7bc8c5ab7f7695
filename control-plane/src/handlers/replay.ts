import { Refusal } from '@parley/contract'
import { insertTestRun, lockAgent, readInputsHead, readOpenDraft, readPublicationRow } from '@parley/store'
import type { Context, Handlers } from '../context.ts'
import { agentArchived, noAgent, noVersion } from './agents-refusals.ts'
import { staleDraft } from './drafts-refusals.ts'
import { publishOpenDraft } from './publications.ts'
import { existingRun, hasEnded } from './runs-body.ts'
import { existingTestRun } from './test-runs.ts'

export const replayHandlers = {
  'runs.replay': async ({ params: { run_id }, body }, context) => {
    const { db, scope, principal } = context
    const run = await existingRun(context, run_id)
    if (!hasEnded(run))
      throw new Refusal('conflict', 'the run has not ended: replay it afterwards', { reason: 'in_progress' })
    const inputs = await readInputsHead(db, scope, run_id)
    if (inputs === null)
      throw new Refusal('conflict', 'the run has no log of its inputs, or it expired with the transcript', {
        reason: 'inputs_missing',
      })
    if (inputs.redacted)
      throw new Refusal('conflict', 'personal data was taken out of the run, so that it cannot be repeated', {
        reason: 'redacted',
      })
    const agent_id = body.agent_id ?? run.agent_id
    const isOwn = agent_id === run.agent_id
    const version = await versionOf({ ...body, agent_id, own: isOwn ? run.publication.version : null }, context)
    const publication = await readPublicationRow(db, scope, agent_id, version)
    if (publication === null) throw noVersion(agent_id, version)
    const testRunId = await insertTestRun(db, scope, {
      agent_id,
      version,
      purpose: 'manual',
      // The run stands where a suite does.
      suites: [{ suite_id: run_id, revision: 1, digest: publication.digest, agent_id, cases: [], source: null }],
      case_ids: null,
      trials: 1,
      baseline_test_run_id: null,
      judge_model: null,
      estimated_usd: 0,
      created_by: principal.ref,
      replay: { run_id, version: isOwn ? run.publication.version : null, after_change: body.after_change },
    })
    context.auditResource({ kind: 'evaluation', id: testRunId })
    return { status: 202, body: await existingTestRun(context, testRunId) }
  },
} satisfies Partial<Handlers>

interface Wanted {
  readonly agent_id: string
  readonly version?: number | undefined
  readonly draft?: true | undefined
  /** Version of the run; null: it is another agent's. */
  readonly own: number | null
}

/** The version that answers. The open draft is published for tests first, unless its revision is published already. */
async function versionOf({ agent_id, version, draft, own }: Wanted, context: Context): Promise<number> {
  const { db, scope } = context
  const agent = await lockAgent(db, scope, agent_id)
  if (agent === null) throw noAgent(agent_id)
  if (agent.archived_at !== null) throw agentArchived(agent_id)
  if (draft === true) {
    const open = await readOpenDraft(db, scope, agent_id)
    if (open === null) throw staleDraft(open)
    return publishOpenDraft(agent_id, open, context)
  }
  const wanted = version ?? own ?? agent.head_version
  if (wanted === null)
    throw new Refusal('conflict', `the agent ${agent_id} has no published version: publish it, or ask for its draft`, {
      reason: 'agent_not_published',
    })
  return wanted
}
