import { type InputOf, newAgentId, type OperationNamed, Refusal, type Scope } from '@parley/contract'
import type { ImportRefusal } from '@parley/flow'
import {
  type DraftHead,
  type ImportMark,
  insertAgent,
  insertDraft,
  lockAgent,
  type Queries,
  readDraftHead,
  readOpenDraft,
  readPublishedDraft,
  referenceTargets,
  renameUnpublished,
  writeDraft,
} from '@parley/store'
import { type Context, type Handlers, readOffThread } from '../context.ts'
import type { DraftWorkInput } from '../reading/draft-work.ts'
import { type ImportReading, readImport, readInspection, type SecretVersions } from '../reading/import-reading.ts'
import { largeAnswer } from '../reading/large-answer.ts'
import { runDraftWork } from '../reading/run-draft-work.ts'
import { agentArchived, agentNotPublished, existingAgent, noVersion } from './agents-refusals.ts'
import { draftHeadBody } from './drafts.ts'
import { diagnosticsJson, noDraft, refuseAddress, staleDraft, staleDraftRefusal } from './drafts-refusals.ts'
import { invalid } from './invalid-request.ts'

type ImportBody = InputOf<OperationNamed<'agents.import'>>['body']

export const exchangeHandlers = {
  'agents.import': readOffThread(
    async ({ body }, context) => {
      const { scope } = context
      const agentId = body.reference.id
      context.auditResource({ kind: 'agent', id: agentId })
      if (body.reference.tenant_id !== scope.tenant_id)
        throw new Refusal('not_found', 'reference.tenant_id is not the environment of this key')
      const read = await readImportedDraft(body, context)
      const { outcome, head } = await storeImport(body, read, context)
      const draft = draftHeadBody(head, agentId, scope.tenant_id)
      return { status: outcome === 'unchanged' ? 200 : 201, body: { outcome, draft, warnings: [...read.warnings] } }
    },
    async (db, scope) => ({ secrets: await secretVersions(db, scope) }),
  ),

  'agents.import_inspect': readOffThread(
    async ({ body }, { reading }) => ({
      status: 200,
      body: reading?.kind === 'inspection' ? reading.read : readInspection(body),
    }),
    async () => ({ secrets: new Map() }),
  ),

  'agents.export': async ({ params: { agent_id }, query }, context) => {
    const { db, scope } = context
    const includeWebhook = query.include_webhook
    if (query.draft) {
      const open = await readOpenDraft(db, scope, agent_id)
      if (open === null) throw noDraft(agent_id)
      // A draft has no version of its own: the export names the version that the draft is based on.
      return exported({ draft: open.json, version: open.base_version, includeWebhook }, context)
    }
    const publication = await readPublishedDraft(db, scope, agent_id, query.version ?? 'head')
    if (publication !== null) return exported({ ...publication, includeWebhook }, context)
    await existingAgent(context, agent_id)
    throw query.version === undefined ? agentNotPublished(agent_id) : noVersion(agent_id, query.version)
  },
} satisfies Partial<Handlers>

async function exported(wanted: DraftWorkInput<'exported'>, context: Context) {
  const { draft, version, includeWebhook } = wanted
  const rest = await runDraftWork(context, 'exported', { draft, version, includeWebhook })
  return { status: 200 as const, body: largeAnswer('agents.export', {}, rest) }
}

type ReadImport = Extract<ImportReading, { readonly ok: true }>

/** The draft in the export, with each secret pinned to an existing version. */
async function readImportedDraft(body: ImportBody, { db, scope, platform, reading }: Context): Promise<ReadImport> {
  if (body.config.webhook !== undefined) refuseAddress(body.config.webhook.url, '/config/webhook/url', platform)
  const versions = await secretVersions(db, scope)
  const read = reading?.kind === 'import' ? reading.read : readImport(body, versions)
  if (!read.ok) throw importRefused(read.refusal)
  const { secret } = read
  if (secret !== null && !versions.get(secret.id)?.includes(secret.version)) {
    const message = `the secret "${secret.id}" has no version ${secret.version}`
    throw invalid('/config/webhook/secretRef', message, 'secret_not_found')
  }
  return read
}

async function secretVersions(db: Queries, scope: Scope): Promise<SecretVersions> {
  const { secrets } = await referenceTargets(db, scope, { telephony: null })
  return new Map(secrets.map(secret => [secret.secret_id, secret.versions]))
}

function importRefused(refusal: ImportRefusal): Refusal {
  const { code, message, reason } = refusal
  const details =
    'issues' in refusal.details
      ? { issues: refusal.details.issues.map(({ path, message }) => ({ path, message })) }
      : { diagnostics: diagnosticsJson(refusal.details.diagnostics) }
  return new Refusal(code, message, { ...(reason !== undefined && { reason }), details })
}

interface StoredImport {
  readonly outcome: 'create_agent' | 'open_draft' | 'replace_draft' | 'unchanged'
  readonly head: DraftHead
}

/** Stores the imported draft: as the draft of a new agent, a new draft, or the next revision of the open draft; an identical import is not stored again. */
async function storeImport(
  body: ImportBody,
  { name, draftJson, digest }: ReadImport,
  context: Context,
): Promise<StoredImport> {
  const { db, scope } = context
  const agentId = body.reference.id
  const mark = { import_digest: digest }
  const agent = (await lockAgent(db, scope, agentId)) ?? (await createAgent(agentId, name, context))
  if (agent !== null && agent.archived_at !== null) throw agentArchived(agentId)
  const open = await readDraftHead(db, scope, agentId)
  if (open !== null && open.import_digest === mark.import_digest && open.imported_revision === open.revision)
    return { outcome: 'unchanged', head: open }
  checkReplaceable(open, body)
  await renameUnpublished(db, scope, agentId, name)
  const head = await writeImportedDraft(open, { json: draftJson }, mark, agentId, context)
  if (head === null) throw await staleDraftRefusal(context, agentId)
  if (open !== null) return { outcome: 'replace_draft', head }
  return { outcome: agent === null ? 'create_agent' : 'open_draft', head }
}

function writeImportedDraft(
  open: DraftHead | null,
  content: { readonly json: string },
  imported: ImportMark,
  agentId: string,
  { db, scope }: Context,
): Promise<DraftHead | null> {
  if (open === null) return insertDraft(db, scope, agentId, content, { imported })
  return writeDraft(db, scope, agentId, open, content, imported)
}

/** Creates the agent and returns null; returns the existing agent when a concurrent request created it first. */
async function createAgent(agentId: string, name: string, { db, scope }: Context) {
  if (!newAgentId.safeParse(agentId).success)
    throw invalid(
      '/reference/id',
      'the id of a new agent is a lower-case letter or digit, then lower-case letters, digits, _ . : -; at most 256 characters',
    )
  return (await insertAgent(db, scope, agentId, name)) ? null : lockAgent(db, scope, agentId)
}

/** Refuses if `replace_draft` names another draft than the open one, or if it is absent and the open draft has unpublished changes. */
function checkReplaceable(open: DraftHead | null, { replace_draft: replaced }: ImportBody): void {
  if (replaced !== undefined) {
    if (open?.draft_id !== replaced.draft_id || open.revision !== replaced.expected_revision) throw staleDraft(open)
    return
  }
  if (open === null || open.revision === open.published_revision) return
  const { draft_id, revision } = open
  throw new Refusal('conflict', 'the open draft has unpublished changes: name it in replace_draft to overwrite them', {
    reason: 'draft_has_changes',
    details: { current: { draft_id, revision } },
  })
}
