import { z } from 'zod'
import { agentSummary } from '../agents/agent-summary.ts'
import { byAgentId } from '../agents/agents.ts'
import { diagnostic } from '../drafts/diagnostic.ts'
import { draftContent, plan } from '../drafts/draft.ts'
import { operation } from '../operation.ts'
import { channel, language, revision, uuid, version } from '../values/names.ts'
import { listQuery, page } from '../values/page.ts'
import { principalRef, publicationRef } from '../values/references.ts'
import { timestamp } from '../values/time.ts'
import { certificate, gate, gateOverride } from './release-gate.ts'

/** A numbered, immutable version of an agent. */
export const publication = z
  .strictObject({
    ref: publicationRef,
    plan_schema_version: z.int().min(1),
    channels: z.array(channel).min(1),
    languages: z.array(language).min(1),
    source_kind: z.enum(['studio', 'agent_import', 'api']),
    published_at: timestamp,
    published_by: principalRef,
    is_head: z.boolean(),
    /** A test publication: never the head; only test runs and runs without a phone call can use it. */
    test: z.boolean(),
  })
  .meta({ id: 'Publication' })

const path = '/api/v1/agents/{agent_id}/publications'

const listPublications = operation({
  id: 'publications.list',
  method: 'GET',
  path,
  summary: 'List the published versions of an agent, latest first',
  role: 'viewer',
  idempotency: 'none',
  params: byAgentId,
  query: listQuery({}),
  body: null,
  output: page(publication),
  statuses: [200],
  refusals: {},
})

const publishDraft = operation({
  id: 'publications.publish',
  method: 'POST',
  path,
  summary:
    'Publish the open draft as a new version. It becomes the live version unless it is a test publication, or its release gate first runs its tests',
  role: 'member',
  idempotency: 'required_header',
  params: byAgentId,
  query: null,
  body: z.strictObject({
    draft_id: uuid,
    expected_revision: revision,
    test: z.boolean().default(false),
    /** Makes the version live without the evidence of its gate; for admins. */
    override: gateOverride.optional(),
  }),
  output: z.strictObject({ publication, gate, warnings: z.array(diagnostic) }),
  statuses: [201, 200],
  refusals: {
    conflict: ['stale_revision', 'agent_archived'],
    publication_invalid: ['invalid_draft'],
    capability_unavailable: ['gate_suite_missing'],
  },
})

const getPublication = operation({
  id: 'publications.get',
  method: 'GET',
  path: `${path}/{version}`,
  summary: 'Read a published version: the plan that is executed and the draft it was made from',
  role: 'viewer',
  idempotency: 'none',
  params: byAgentId.extend({ version }),
  query: null,
  body: null,
  output: z.strictObject({
    publication,
    gate,
    /** Null: the version has not passed a gate. */
    certificate: certificate.nullable(),
    plan,
    draft: draftContent,
    warnings: z.array(diagnostic),
  }),
  statuses: [200],
  refusals: {},
})

const setHead = operation({
  id: 'publications.set_head',
  method: 'PUT',
  path: '/api/v1/agents/{agent_id}/head',
  summary: 'Make a published version the live one (compare-and-set on the version that is live now)',
  role: 'member',
  idempotency: 'natural',
  params: byAgentId,
  query: null,
  body: z.strictObject({
    version,
    /** Null: the agent has no head yet. */
    expected_version: version.nullable(),
    /** Makes the version live without the evidence of its gate; for admins. */
    override: gateOverride.optional(),
  }),
  output: agentSummary,
  statuses: [200],
  refusals: {
    conflict: ['stale_revision', 'test_publication', 'agent_archived', 'gate_pending', 'gate_failed'],
    capability_unavailable: ['gate_suite_missing'],
  },
})

export const publicationOperations = [listPublications, publishDraft, getPublication, setHead] as const
