import type { ParleyClient } from '@parley/client'
import { ExampleServer, exampleDraft, withOrigin } from '@parley/examples'
import { type DraftContent, readDraft } from '@parley/flow'
import { ParleyError } from '@parley/kernel'
import { type Services, serviceNamed } from '../services.ts'
import { readSeedRecord, writeSeedRecord } from './seed-record.ts'
import { type Seed, type SeededAgent, seedAgent } from './seeded-agent.ts'

const SEEDS = [
  { example: 'clinic', agentId: 'clinic', language: 'en', trunkId: 'demo', number: '+12025550142' },
  { example: 'pizza', agentId: 'pizzeria', language: 'es', trunkId: 'demo-es', number: '+34910000142' },
] as const

/**
 * The server that the examples' actions go to: on the port it had before, so that what was published still reaches it,
 * or on any other where that one is taken.
 */
export async function openExampleServer(home: string): Promise<ExampleServer> {
  const record = await readSeedRecord(home)
  const server = await ExampleServer.open(record.port === null ? {} : { port: record.port }).catch(error => {
    if (record.port === null || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    return ExampleServer.open()
  })
  await writeSeedRecord(home, { ...record, port: Number(new URL(server.origin).port) })
  return server
}

/**
 * Seeds what is missing, and publishes again what nobody edited and would be made otherwise today. Answers those whose
 * number reaches somebody, the clinic first. `tell`: a line for each that is left out.
 */
export async function seedExamples(
  home: string,
  client: ParleyClient,
  services: Services,
  origin: string,
  tell: (line: string) => void,
): Promise<SeededAgent[]> {
  const agents: SeededAgent[] = []
  for (const { example, ...seed } of SEEDS) {
    const draft = await onReadyServices(
      readDraft(withOrigin(exampleDraft(example).draft, origin)),
      seed.language,
      services,
    )
    if (draft === null) {
      tell(`The example "${example}" is left out: nothing here hears or speaks its language (${seed.language}).`)
      continue
    }
    const seeded = await ensureSeeded(home, client, { ...seed, draft })
    if (seeded !== null) agents.push(seeded)
  }
  return agents
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
  if (llm === undefined) throw new ParleyError('model_not_ready', 'no language model is ready')
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
