import { ParleyApiError, type ParleyClient } from '@parley/client'
import { exampleDraft, withOrigin } from '@parley/examples'
import { type DraftContent, readDraft } from '@parley/flow'
import { CliError } from '../errors.ts'
import { type Services, serviceNamed } from '../services.ts'
import { webhookSecretOf } from './example-server-of.ts'
import { seedLine } from './seed-line.ts'
import { readSeedRecord, writeSeedRecord } from './seed-record.ts'
import { type Seed, type SeededAgent, seedAgent } from './seeded-agent.ts'
import { ensureSecret } from './seeded-secret.ts'

const SEEDS = [
  { example: 'clinic', agentId: 'clinic', language: 'en', trunkId: 'demo', number: '+12025550142' },
  { example: 'pizza', agentId: 'pizzeria', language: 'es', trunkId: 'demo-es', number: '+34910000142' },
] as const

interface SeedOptions {
  /**
   * Whether the agents tell the example server of their runs: only where the API's own process may reach it over plain
   * HTTP (`Settings.egressAllow` holds its address). Default false.
   */
  readonly webhooks?: boolean
}

/**
 * Seeds what is missing, and publishes again what nobody edited and would be made otherwise today: agents that answer a
 * number each and can call the built-in phone. Answers those whose number reaches somebody, the clinic first. `tell`: a
 * line for each thing that is left out.
 */
export async function seedExamples(
  home: string,
  client: ParleyClient,
  services: Services,
  origin: string,
  tell: (line: string) => void,
  options: SeedOptions = {},
): Promise<SeededAgent[]> {
  const telephony = await seedLine(home, client, tell)
  const notification = options.webhooks === true ? await seedNotification(home, client, origin, tell) : null
  const agents: SeededAgent[] = []
  for (const { example, ...seed } of SEEDS) {
    const written = readDraft(withOrigin(exampleDraft(example).draft, origin))
    const draft = await onReadyServices({ ...written, telephony, notification }, seed.language, services)
    if (draft === null) {
      tell(`The example "${example}" is left out: nothing here hears or speaks its language (${seed.language}).`)
      continue
    }
    const seeded = await orTold(ensureSeeded(home, client, { ...seed, draft }), why =>
      tell(`The example "${example}" is not complete: ${why}`),
    )
    if (seeded !== null) agents.push(seeded)
  }
  return agents
}

/** Null where the API refuses: what people made of the workspace is theirs, and keeps nothing from starting. */
async function orTold<Made>(making: Promise<Made>, tell: (why: string) => void): Promise<Made | null> {
  try {
    return await making
  } catch (error) {
    if (!(error instanceof ParleyApiError) || error.status >= 500) throw error
    tell(error.message)
    return null
  }
}

const WEBHOOK_SECRET = 'demo-webhook'

async function seedNotification(
  home: string,
  client: ParleyClient,
  origin: string,
  tell: (line: string) => void,
): Promise<DraftContent['notification']> {
  const making = async () => {
    const value = await webhookSecretOf(home)
    return ensureSecret(home, client, { id: WEBHOOK_SECRET, kind: 'webhook_signing', value })
  }
  const secret = await orTold(making(), why => tell(`The examples send no webhooks: ${why}`))
  if (secret === null) return null
  return { url: `${origin}/webhooks`, secret, events: ['run.started', 'run.transfer', 'run.ended', 'run.analyzed'] }
}

async function ensureSeeded(home: string, client: ParleyClient, seed: Seed): Promise<SeededAgent | null> {
  const record = await readSeedRecord(home)
  return seedAgent(client, seed, record, async (agentId, now) => {
    const latest = await readSeedRecord(home)
    await writeSeedRecord(home, { ...latest, agents: { ...latest.agents, [agentId]: now } })
  })
}

/** With what is first ready of each kind; null where a kind has nothing for the language. */
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
