import { text } from '@parley/nodes'
import { z } from 'zod'
import { diagnostic } from '../drafts/diagnostic.ts'
import { draftResult } from '../drafts/draft.ts'
import { MIB, operation } from '../operation.ts'
import { revision, uuid, version } from '../values/names.ts'
import { byAgentId } from './agents.ts'
import { exportConfig, exportedAgent, importConfig, modelBindings } from './import-body.ts'

const IMPORT_BYTES = 8 * MIB

const importAgent = operation({
  id: 'agents.import',
  method: 'POST',
  path: '/api/v1/agents/import',
  summary: 'Import a conversation-flow export as the draft of a new or an existing agent; an import is never published',
  role: 'member',
  idempotency: 'required_header',
  params: null,
  query: null,
  body: z.strictObject({
    /** `id`: a new agent id in lower case, or the id of an existing agent whose draft is replaced. */
    reference: z.strictObject({ tenant_id: uuid, kind: z.literal('agent'), id: text(1, 512) }),
    ...exportedAgent,
    config: importConfig,
    model_bindings: modelBindings,
    /** Permission to replace this draft although it has unpublished changes. */
    replace_draft: z.strictObject({ draft_id: uuid, expected_revision: revision }).optional(),
  }),
  output: z.strictObject({
    outcome: z.enum(['create_agent', 'open_draft', 'replace_draft', 'unchanged']),
    draft: draftResult,
    warnings: z.array(diagnostic),
  }),
  statuses: [201, 200],
  refusals: {
    invalid_request: ['webhook_mismatch', 'secret_not_found', 'address_not_allowed'],
    not_found: [],
    conflict: ['draft_has_changes', 'stale_revision', 'agent_archived'],
    capability_unavailable: ['unsupported_capability'],
    publication_invalid: ['model_binding_required'],
  },
  bodyBytes: IMPORT_BYTES,
  rate: 'costly',
})

const inspectImport = operation({
  id: 'agents.import_inspect',
  method: 'POST',
  path: '/api/v1/agents/import/inspect',
  summary: 'Inspect an export before import: languages, node types, models to bind, and features that would be lost',
  role: 'member',
  idempotency: 'none',
  params: null,
  query: null,
  body: z.strictObject({
    ...exportedAgent,
    agent_version: version.optional(),
    config: importConfig.optional(),
    model_bindings: modelBindings.optional(),
  }),
  output: z.strictObject({
    agent_name: text(0),
    agent_version: version.nullable(),
    flow_id: text(0).nullable(),
    flow_version: z.int().min(0).nullable(),
    /** Language codes as written in the export. */
    languages: z.array(text(0)),
    /** Number of nodes by type. */
    node_types: z.record(text(0), z.int().min(1)),
    model_bindings: z.array(
      z.strictObject({ path: text(0, 1024), source_model: text(0).nullable(), bound: z.boolean() }),
    ),
    diagnostics: z.array(diagnostic),
  }),
  statuses: [200],
  refusals: {},
  hints: { readOnly: true },
  bodyBytes: IMPORT_BYTES,
  rate: 'costly',
})

const exportAgent = operation({
  id: 'agents.export',
  method: 'GET',
  path: '/api/v1/agents/{agent_id}/export',
  summary: 'Export a version or the open draft in the format of agents.import',
  role: 'viewer',
  idempotency: 'none',
  params: byAgentId,
  query: z
    .strictObject({
      /** Default: the head. */
      version: version.optional(),
      /** True: export the open draft instead of a version. */
      draft: z.boolean().default(false),
      /** True: the export has the webhook with its URL. The URL may contain credentials, so that it is left out by default. */
      include_webhook: z.boolean().default(false),
    })
    .refine(query => !(query.draft && query.version !== undefined), {
      message: 'version and draft exclude each other: leave one out',
      path: ['draft'],
    }),
  body: null,
  output: z.strictObject({
    ...exportedAgent,
    config: exportConfig,
    model_bindings: modelBindings,
    warnings: z.array(diagnostic),
  }),
  statuses: [200],
  refusals: { conflict: ['agent_not_published'] },
})

export const exchangeOperations = [importAgent, inspectImport, exportAgent] as const
