import { createHash, randomBytes } from 'node:crypto'
import { ParleyApiError, type ParleyClient } from '@parley/client'
import type { DraftContent, Plan } from '@parley/flow'
import { editsFor } from './draft-edits.ts'
import { nullIfNotFound } from './null-if-not-found.ts'
import type { SeedRecord } from './seed-record.ts'

/** An example agent as seeding creates it. */
export interface Seed {
  readonly agentId: string
  readonly language: 'en' | 'es'
  readonly draft: DraftContent
  readonly trunkId: string
  /** E.164. */
  readonly number: string
}

/** The published agent that answers the number of a seed. */
export interface SeededAgent {
  readonly agentId: string
  readonly version: number
  readonly plan: Plan
  readonly number: string
  /** SIP URI that a phone calls. */
  readonly sip: string
}

type RecordSeeded = (agentId: string, seeded: SeedRecord['agents'][string]) => Promise<void>

/**
 * Creates one example through the API: a blank agent, its edits, a publication, a trunk and a number. It continues where an
 * interrupted start stopped. A draft that a user has edited stays, so does the assignment of the number, and an archived
 * agent stays archived. Null if the number reaches no published agent.
 */
export async function seedAgent(
  client: ParleyClient,
  seed: Seed,
  record: SeedRecord,
  recordSeeded: RecordSeeded,
): Promise<SeededAgent | null> {
  if (!(await ensureAgent(client, seed))) return null
  await ensureDraft(client, seed, record.agents[seed.agentId], recordSeeded)
  await ensureTrunk(client, seed)
  const number = await ensureNumber(client, seed)
  return published(client, number)
}

/** False if the agent was archived: an id is never used again. */
async function ensureAgent(client: ParleyClient, { agentId, language, draft }: Seed): Promise<boolean> {
  const known = await nullIfNotFound(client.agents.get({ params: { agent_id: agentId } }))
  if (known !== null) return true
  try {
    await client.agents.create({ body: { template: 'blank', name: draft.name, agent_id: agentId, language } })
    return true
  } catch (error) {
    if (error instanceof ParleyApiError && error.reason === 'agent_exists') return false
    throw error
  }
}

async function ensureDraft(
  client: ParleyClient,
  seed: Seed,
  before: SeedRecord['agents'][string] | undefined,
  recordSeeded: RecordSeeded,
): Promise<void> {
  const params = { agent_id: seed.agentId }
  const { draft, head } = await client.agents.get({ params })
  if (draft === null) return
  const requests = editsFor(seed.draft)
  const digest = digestOf(requests)
  const isUnchanged = before?.draft_id === draft.draft_id && before.revision === draft.revision
  // Nothing was published yet: an earlier start was interrupted during its edits.
  const isUnfinished = before === undefined && head === null
  if (!isUnchanged && !isUnfinished) return
  let { revision } = draft
  if (before?.digest !== digest || isUnfinished) {
    for (const edits of requests) {
      const body = { draft_id: draft.draft_id, expected_revision: revision, edits }
      revision = (await client.drafts.edit({ params, body })).revision
    }
    await recordSeeded(seed.agentId, { draft_id: draft.draft_id, revision, digest })
  }
  if (draft.published_revision === revision) return
  await client.publications.publish({ params, body: { draft_id: draft.draft_id, expected_revision: revision } })
}

async function ensureTrunk(client: ParleyClient, { trunkId }: Seed): Promise<void> {
  if ((await nullIfNotFound(client.trunks.get({ params: { trunk_id: trunkId } }))) !== null) return
  const secret_id = `${trunkId}-password`
  const value = randomBytes(24).toString('base64url')
  const { version } = await client.secrets.put({ params: { secret_id }, body: { kind: 'sip_auth', value } })
  await client.trunks.create({
    body: {
      trunk_id: trunkId,
      name: 'Inbound calls from SIP phones',
      provider: 'generic_sip',
      termination_uri: 'phone.localhost',
      auth_username: 'parley',
      auth_secret: { id: secret_id, version },
      inbound: true,
    },
  })
}

type PhoneNumber = Awaited<ReturnType<ParleyClient['numbers']['list']>>['items'][number]

async function ensureNumber(client: ParleyClient, { trunkId, number, agentId, draft }: Seed): Promise<PhoneNumber> {
  const found = await numberOn(client, trunkId, number)
  // Unchanged since its import: an earlier start was interrupted before it assigned the number.
  const isUnfinished = found?.assignment === null && found.updated_at === found.created_at
  if (found !== undefined && !isUnfinished) return found
  const imported =
    found ??
    (await client.numbers.import({
      body: { phone_number: number, trunk_id: trunkId, name: [...draft.name].slice(0, 256).join('') },
    }))
  return client.numbers.assign({ params: { number_id: imported.number_id }, body: { agent_id: agentId } })
}

async function numberOn(client: ParleyClient, trunk_id: string, number: string): Promise<PhoneNumber | undefined> {
  for await (const candidate of client.numbers.list.all({ query: { trunk_id, limit: 200 } }))
    if (candidate.phone_number === number) return candidate
  return undefined
}

async function published(client: ParleyClient, number: PhoneNumber): Promise<SeededAgent | null> {
  const { assignment, trunk_id } = number
  if (assignment === null) return null
  const agent = await nullIfNotFound(client.agents.get({ params: { agent_id: assignment.agent_id } }))
  const version = assignment.version ?? agent?.head?.version
  const trunk = await nullIfNotFound(client.trunks.get({ params: { trunk_id } }))
  if (version === undefined || trunk?.inbound_sip_uri == null) return null
  const { plan } = await client.publications.get({ params: { agent_id: assignment.agent_id, version } })
  return { agentId: assignment.agent_id, version, plan, number: number.phone_number, sip: trunk.inbound_sip_uri }
}

function digestOf(requests: ReturnType<typeof editsFor>): string {
  return createHash('sha256').update(JSON.stringify(requests)).digest('hex')
}
