import { text } from '@parley/nodes'
import { z } from 'zod'
import { operation, printableKey } from '../operation.ts'
import { agentId, channel, language, newAgentId, uuid, version } from '../values/names.ts'
import { listQuery } from '../values/page.ts'
import { agentSummary } from './agent-summary.ts'

const CURSOR_LENGTH = 4096

export const byAgentId = z.strictObject({ agent_id: agentId })

/** A row that could not be read, and stands in no list therefore. */
const listIssue = z.strictObject({
  target: z.strictObject({ owner_id: text(1), environment: text(1), tenant_id: uuid.nullable() }),
  message: text(0),
})

export const listAgents = operation({
  id: 'agents.list',
  method: 'GET',
  path: '/api/v1/agents',
  summary: 'List agents with their head publication, open draft and last run',
  role: 'viewer',
  idempotency: 'none',
  params: null,
  query: listQuery(
    {
      /** Part of name or id, whatever the case; blank matches all. */
      q: text(0, 256).optional(),
      /** Only agents whose head serves it. */
      channel: channel.optional(),
      sort: z.enum(['updated_desc', 'name_asc']).default('updated_desc'),
    },
    CURSOR_LENGTH,
  ),
  body: null,
  output: z.strictObject({
    agents: z.array(agentSummary),
    issues: z.array(listIssue),
    next_cursor: text(0, CURSOR_LENGTH).nullable(),
  }),
  statuses: [200],
  refusals: {},
})

export const createAgent = operation({
  id: 'agents.create',
  method: 'POST',
  path: '/api/v1/agents',
  summary: 'Create an agent, with its first draft, from a template: phone_outbound, cloud_task, cloud_chat or blank',
  role: 'tenant:write',
  idempotency: 'required_header',
  idempotencyKey: printableKey,
  params: null,
  query: null,
  body: z.strictObject({
    template: z.enum(['phone_outbound', 'cloud_task', 'cloud_chat', 'blank']),
    name: text(1, 256),
    /** Default: made by the server. */
    agent_id: newAgentId.optional(),
    language: language.default('en'),
  }),
  output: agentSummary,
  statuses: [201, 200],
  refusals: { conflict: ['agent_exists'] },
})

export const getAgent = operation({
  id: 'agents.get',
  method: 'GET',
  path: '/api/v1/agents/{agent_id}',
  summary: 'Read an agent with its head publication, open draft and last run',
  role: 'tenant:read',
  idempotency: 'none',
  params: byAgentId,
  query: null,
  body: null,
  output: agentSummary,
  statuses: [200],
  refusals: {},
})

export const deleteAgent = operation({
  id: 'agents.delete',
  method: 'DELETE',
  path: '/api/v1/agents/{agent_id}',
  summary: 'Archive an agent: it leaves the catalogue and takes no new drafts, publications or runs; history stays',
  role: 'tenant:write',
  idempotency: 'natural',
  params: byAgentId,
  query: null,
  body: null,
  output: agentSummary,
  statuses: [200],
  refusals: {},
})

export const cloneAgent = operation({
  id: 'agents.clone',
  method: 'POST',
  path: '/api/v1/agents/{agent_id}/clone',
  summary: "Copy an agent's head, a chosen version, or its never-published draft into a new agent's first draft",
  role: 'tenant:write',
  idempotency: 'required_header',
  idempotencyKey: printableKey,
  params: byAgentId,
  query: null,
  body: z.strictObject({
    /** Default: the source's name with ` (copy)` behind it. */
    name: text(1, 256).optional(),
    agent_id: newAgentId.optional(),
    /** Default: the head; without one the never-published draft. */
    version: version.optional(),
  }),
  output: agentSummary,
  statuses: [201, 200],
  refusals: { conflict: ['nothing_to_clone', 'agent_exists'] },
})
