import { agentSummary, Refusal, type Scope } from '@parley/contract'
import { fromTemplate } from '@parley/flow'
import {
  type AgentRow,
  archiveAgent,
  cancelTestRuns,
  type DraftJson,
  insertAgent,
  insertDraft,
  listAgents,
  readOpenDraft,
  readPublishedDraft,
} from '@parley/store'
import { z } from 'zod'
import type { Context, Handlers } from '../context.ts'
import { largeAnswer } from '../reading/large-answer.ts'
import { runDraftWork } from '../reading/run-draft-work.ts'
import { firstProviders } from './agents-first-providers.ts'
import { newAgentId } from './agents-id.ts'
import { activeAgent, agentExists, existingAgent, noVersion } from './agents-refusals.ts'
import { type AgentSummary, summaryOf } from './agents-summary.ts'

const MAX_NAME = 256

interface ListIssue {
  readonly target: Scope
  readonly message: string
}

export const agentHandlers = {
  'agents.list': async ({ query: { cursor, ...filter } }, { db, scope }) => {
    const { rows, next_cursor } = await listAgents(db, scope, { ...filter, cursor: cursor ?? null })
    const { agents, issues } = readable(rows, scope)
    return { status: 200, body: largeAnswer('agents.list', { issues, next_cursor }, JSON.stringify({ agents })) }
  },

  'agents.create': async ({ body: { template, name, agent_id, language } }, context) => {
    const providers = firstProviders(await context.platform.catalogue(context.scope, context.db), language)
    const draft = fromTemplate(template, { name, language, providers })
    return { status: 201, body: await newAgent(context, agent_id, name, { json: JSON.stringify(draft) }) }
  },

  'agents.get': async ({ params: { agent_id } }, context) => {
    return { status: 200, body: summaryOf(await activeAgent(context, agent_id), context.scope) }
  },

  'agents.delete': async ({ params: { agent_id } }, context) => {
    context.auditResource({ kind: 'agent', id: agent_id })
    const numbers = await archiveAgent(context.db, context.scope, agent_id)
    const agent = await existingAgent(context, agent_id)
    if (numbers !== null) {
      await cancelTestRuns(context.db, context.scope, { agent_id })
      context.notifyAfterCommit('publications', agent_id)
    }
    for (const number of numbers ?? []) context.notifyAfterCommit('telephony', number)
    return { status: 200, body: summaryOf(agent, context.scope) }
  },

  'agents.clone': async ({ params, body: { name, agent_id, version } }, context) => {
    const source = await existingAgent(context, params.agent_id)
    const { json: draft, of } = await draftToClone(context, source, version)
    const copy = name ?? [...`${source.name} (copy)`].slice(0, MAX_NAME).join('')
    const json = await runDraftWork(context, 'renamed', { draft, name: copy }, of)
    return { status: 201, body: await newAgent(context, agent_id, copy, { json }) }
  },
} satisfies Partial<Handlers>

const summaries = z.array(agentSummary)

/** Summaries of the readable agents, and an issue for each agent whose stored data is broken. */
function readable(rows: readonly AgentRow[], scope: Scope): { agents: AgentSummary[]; issues: ListIssue[] } {
  try {
    // At once: this is cheaper than one by one, and few lists have a broken agent.
    return { agents: summaries.parse(rows.map(row => summaryOf(row, scope))), issues: [] }
  } catch {
    return readableOneByOne(rows, scope)
  }
}

function readableOneByOne(rows: readonly AgentRow[], scope: Scope) {
  const agents: AgentSummary[] = []
  const issues: ListIssue[] = []
  for (const row of rows) {
    try {
      agents.push(agentSummary.parse(summaryOf(row, scope)))
    } catch {
      issues.push({
        target: { ...scope },
        message: `agent "${row.agent_id}" cannot be shown: its stored data does not match the schema`,
      })
    }
  }
  return { agents, issues }
}

/** Creates an agent with its first draft; generates an id when none was requested. */
async function newAgent(
  context: Context,
  requestedId: string | undefined,
  name: string,
  draft: DraftJson,
): Promise<AgentSummary> {
  const { db, scope, platform } = context
  const agentId = requestedId ?? newAgentId(platform.randomBytes)
  context.auditResource({ kind: 'agent', id: agentId })
  if (!(await insertAgent(db, scope, agentId, name))) throw agentExists(agentId)
  await insertDraft(db, scope, agentId, draft)
  return summaryOf(await existingAgent(context, agentId), scope)
}

interface DraftToClone extends DraftJson {
  /** Identifies the draft: agent and version, or draft and revision. */
  readonly of: readonly [string, number]
}

async function draftToClone({ db, scope }: Context, source: AgentRow, version?: number): Promise<DraftToClone> {
  const { agent_id, head_version } = source
  const sourceVersion = version ?? head_version
  if (sourceVersion !== null) {
    const publication = await readPublishedDraft(db, scope, agent_id, sourceVersion)
    if (publication === null) throw noVersion(agent_id, sourceVersion)
    return { json: publication.draft, of: [agent_id, sourceVersion] }
  }
  const draft = await readOpenDraft(db, scope, agent_id)
  if (draft === null || draft.published_revision !== null)
    throw new Refusal(
      'conflict',
      `agent "${agent_id}" has neither a published version nor an unpublished draft, so there is nothing to copy: name another agent`,
      {
        reason: 'nothing_to_clone',
      },
    )
  return { json: draft.json, of: [draft.draft_id, draft.revision] }
}
