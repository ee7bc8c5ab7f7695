import { Refusal } from '@parley/contract'
import { type AgentRow, readAgent } from '@parley/store'
import type { Context } from '../context.ts'

export function noAgent(agentId: string): Refusal {
  return new Refusal('not_found', `there is no agent "${agentId}"`)
}

export function noVersion(agentId: string, version: number): Refusal {
  return new Refusal('not_found', `agent "${agentId}" has no version ${version}`)
}

export function agentArchived(agentId: string): Refusal<'conflict'> {
  return new Refusal('conflict', `agent "${agentId}" is archived: clone one of its versions into a new agent`, {
    reason: 'agent_archived',
  })
}

export function agentExists(agentId: string): Refusal<'conflict'> {
  return new Refusal(
    'conflict',
    `an agent with the id "${agentId}" exists or existed, and ids are not reused: choose another id`,
    {
      reason: 'agent_exists',
    },
  )
}

export function agentNotPublished(agentId: string): Refusal<'conflict'> {
  return new Refusal('conflict', `agent "${agentId}" has no published version: publish the draft first`, {
    reason: 'agent_not_published',
  })
}

/** The agent, archived or not; throws `not_found`. */
export async function existingAgent({ db, scope }: Context, agentId: string): Promise<AgentRow> {
  const agent = await readAgent(db, scope, agentId)
  if (agent === null) throw noAgent(agentId)
  return agent
}

/** The agent; throws `not_found` also when it is archived. */
export async function activeAgent(context: Context, agentId: string): Promise<AgentRow> {
  const agent = await existingAgent(context, agentId)
  if (agent.archived_at !== null) throw noAgent(agentId)
  return agent
}

/** The agent; throws `agent_archived` when it is archived. */
export async function unarchivedAgent(context: Context, agentId: string): Promise<AgentRow> {
  const agent = await existingAgent(context, agentId)
  if (agent.archived_at !== null) throw agentArchived(agentId)
  return agent
}
