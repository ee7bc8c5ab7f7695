import { jsonObject } from '@parley/nodes'
import { z } from 'zod'
import { byAgentId } from '../agents/agents.ts'
import { operation } from '../operation.ts'
import { revision, uuid, version } from '../values/names.ts'
import { diagnostic } from './diagnostic.ts'
import { draft, draftResult } from './draft.ts'
import { draftEdits, editType } from './draft-edit.ts'

const path = '/api/v1/agents/{agent_id}/draft'

/** The draft and the revision that a request expects. */
const atRevision = { draft_id: uuid, expected_revision: revision }

const getDraft = operation({
  id: 'drafts.get',
  method: 'GET',
  path,
  summary: 'Read the complete open draft of an agent',
  role: 'tenant:read',
  idempotency: 'none',
  params: byAgentId,
  query: null,
  body: null,
  output: draft,
  statuses: [200],
  refusals: {},
})

const editDraft = operation({
  id: 'drafts.edit',
  method: 'PATCH',
  path,
  summary:
    'Edit the open draft of an agent: its prompts, nodes, edges, actions and settings, by typed edits that are applied in order, all or none (compare-and-set on its revision). The tool drafts_edit_schema describes each type',
  role: 'member',
  idempotency: 'natural',
  params: byAgentId,
  query: null,
  body: z.strictObject({ ...atRevision, edits: draftEdits }),
  toolBody: z.strictObject({
    ...atRevision,
    edits: z
      .array(z.looseObject({ type: editType }))
      .min(1)
      .max(100),
  }),
  output: draftResult,
  statuses: [200],
  refusals: {
    invalid_request: ['edit_not_applicable', 'address_not_allowed'],
    conflict: ['stale_revision', 'agent_archived', 'limit_reached'],
  },
})

const readEditSchema = operation({
  id: 'drafts.edit_schema',
  method: 'GET',
  path: '/api/v1/draft-edits/{type}',
  summary: 'Read the JSON schema of one type of draft edit: its members and their bounds',
  role: 'viewer',
  idempotency: 'none',
  params: z.strictObject({ type: editType }),
  query: null,
  body: null,
  output: z.strictObject({ type: editType, schema: jsonObject }),
  statuses: [200],
  refusals: {},
})

const discardDraft = operation({
  id: 'drafts.discard',
  method: 'DELETE',
  path,
  summary: 'Discard the open draft (compare-and-set on its revision); published versions are not affected',
  role: 'tenant:write',
  idempotency: 'natural',
  params: byAgentId,
  query: z.strictObject(atRevision),
  body: null,
  output: draftResult,
  statuses: [200],
  refusals: { conflict: ['stale_revision', 'agent_archived'] },
})

const openDraft = operation({
  id: 'drafts.open',
  method: 'POST',
  path,
  summary: 'Open a draft from the head or another published version',
  role: 'member',
  idempotency: 'required_header',
  params: byAgentId,
  query: null,
  /** Default: the head. */
  body: z.strictObject({ version: version.optional() }),
  output: draft,
  statuses: [201, 200],
  refusals: { conflict: ['draft_exists', 'agent_not_published', 'agent_archived'] },
})

const validateDraft = operation({
  id: 'drafts.validate',
  method: 'POST',
  path: `${path}/validate`,
  summary: 'Validate the open draft: errors that prevent its publication, warnings, and edits that fix them',
  role: 'member',
  idempotency: 'none',
  params: byAgentId,
  query: null,
  /** Empty: the current revision. */
  body: z
    .strictObject({ draft_id: uuid.optional(), expected_revision: revision.optional() })
    .refine(body => (body.draft_id === undefined) === (body.expected_revision === undefined), {
      message: 'draft_id and expected_revision must be given together',
      path: ['expected_revision'],
    })
    .meta({ dependentRequired: { draft_id: ['expected_revision'], expected_revision: ['draft_id'] } }),
  output: z.strictObject({ revision, diagnostics: z.array(diagnostic) }),
  statuses: [200],
  refusals: { conflict: ['stale_revision'] },
  hints: { readOnly: true },
})

export const draftOperations = [getDraft, editDraft, readEditSchema, discardDraft, openDraft, validateDraft] as const
