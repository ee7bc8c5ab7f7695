import { ParleyApiError, type ParleyClient } from '@parley/client'
import { exampleDraft, withOrigin } from '@parley/examples'
import { type DraftContent, readDraft } from '@parley/flow'
import { CliError } from '../errors.ts'
import { type Services, serviceNamed } from '../services.ts'
import { webhookSecretOf } from './home-example-server.ts'
import { seedLine } from './seed-line.ts'
import { readSeedRecord, writeSeedRecord } from './seed-record.ts'
import { ensureSuite } from './seed-suite.ts'
import { type Seed, type SeededAgent, seedAgent } from './seeded-agent.ts'
import { ensureSecret } from './seeded-secret.ts'

const SEEDS = [
  { example: 'clinic', agentId: 'clinic', language: 'en', trunkId: 'demo', number: '+12025550142' },
  { example: 'pizza', agentId: 'pizzeria', language: 'es', trunkId: 'demo-es', number: '+34910000142' },
] as const

interface SeedOptions {
  /**
   * Whether the agents send webhooks to the example server. The process of the API must be allowed to reach it over plain HTTP
   * (`Settings.egressAllow` has its address). Default false.
   */
  readonly webhooks?: boolean
}

/**
 * Creates the example agents, each with its test suite, an inbound number, and the trunk of the built-in phone for outbound calls. Agents
 * that exist already are kept; one that no user has edited is updated to this version of the examples and published again. Returns the
 * agents that can be called by a number, the clinic first. `printLine` gets a line for everything that is left out.
 */
export async function seedExamples(
  home: string,
  client: ParleyClient,
  services: Services,
  origin: string,
  printLine: (line: string) => void,
  options: SeedOptions = {},
): Promise<SeededAgent[]> {
  const telephony = await seedLine(home, client, printLine)
  const notification = options.webhooks === true ? await seedNotification(home, client, origin, printLine) : null
  const agents: SeededAgent[] = []
  for (const { example, ...seed } of SEEDS) {
    const written = readDraft(withOrigin(exampleDraft(example).draft, origin))
    const draft = await onReadyServices({ ...written, telephony, notification }, seed.language, services)
    if (draft === null) {
      printLine(
        `The example "${example}" is left out: no recogniser or voice for its language (${seed.language}) is ready.`,
      )
      continue
    }
    const seeded = await nullIfRefused(ensureSeeded(home, client, { ...seed, draft }), why =>
      printLine(`The example "${example}" is not complete: ${why}`),
    )
    if (seeded === null) continue
    agents.push(seeded)
    await nullIfRefused(ensureSuite(home, client, example, seed.agentId), why =>
      printLine(`The tests of the example "${example}" are left out: ${why}`),
    )
  }
  return agents
}

/** Null if the API refuses: changes by users can conflict with seeding, and must not keep the process from starting. */
async function nullIfRefused<Made>(request: Promise<Made>, onRefused: (why: string) => void): Promise<Made | null> {
  try {
    return await request
  } catch (error) {
    if (!(error instanceof ParleyApiError) || error.status >= 500) throw error
    onRefused(error.message)
    return null
  }
}

const WEBHOOK_SECRET = 'demo-webhook'

async function seedNotification(
  home: string,
  client: ParleyClient,
  origin: string,
  printLine: (line: string) => void,
): Promise<DraftContent['notification']> {
  const createSecret = async () => {
    const value = await webhookSecretOf(home)
    return ensureSecret(home, client, { id: WEBHOOK_SECRET, kind: 'webhook_signing', value })
  }
  const secret = await nullIfRefused(createSecret(), why => printLine(`The examples send no webhooks: ${why}`))
  if (secret === null) return null
  return { url: `${origin}/webhooks`, secret, events: ['run.started', 'run.transfer', 'run.ended', 'run.analyzed'] }
}

async function ensureSeeded(home: string, client: ParleyClient, seed: Seed): Promise<SeededAgent | null> {
  const record = await readSeedRecord(home)
  return seedAgent(client, seed, record, async (agentId, seeded) => {
    const latest = await readSeedRecord(home)
    await writeSeedRecord(home, { ...latest, agents: { ...latest.agents, [agentId]: seeded } })
  })
}

/** The draft with the first ready service of each kind; null if no recogniser or no voice is ready for the language. */
async function onReadyServices(
  draft: DraftContent,
  language: string,
  services: Services,
): Promise<DraftContent | null> {
  const [stt, tts, llm] = [
    (await services.ready('stt', language))[0],
    (await services.ready('tts', language))[0],
    (await services.ready('llm', language))[0],
  ]
  if (stt === undefined || tts === undefined) return null
  if (llm === undefined)
    throw new CliError(
      'model_not_ready',
      'no language model is ready: "npx parley providers check" tests those with a key',
    )
  const model = serviceNamed(llm)
  const isBuiltIn = model.provider === 'parley'
  return {
    ...draft,
    providers: {
      stt: serviceNamed(stt),
      tts: serviceNamed(tts),
      llm: {
        provider: isBuiltIn ? 'simulated_hosted' : 'hosted',
        model: { provider: model.provider, model_id: model.model, tier: isBuiltIn ? 'platform-served' : 'frontier' },
      },
    },
  }
}
