import { languageOf, serviceFormat } from '@parley/engine'
import type { Plan } from '@parley/flow'
import { type AudioFormat, type Ms, NARROWBAND, type Time } from '@parley/kernel'
import { formatFor, isCodecName } from '@parley/media'
import { type Database, listNumbers, numberReached } from '@parley/store'
import { openingOf, type Services } from './services.ts'

/** Most agents that a start prepares; further ones are prepared by their first call. */
const MAX_AGENTS = 50
const NUMBERS_PER_TRUNK = 50
const WITHIN_MS: Ms = 10_000

interface PrepareAgentsParts {
  readonly database: Pick<Database, 'within' | 'telephony'>
  readonly services: Pick<Services, 'isOnThisMachine' | 'voiceOf'>
  readonly time: Time
  readonly onProblem: (what: string, error: unknown) => void
}

/**
 * Speaks the openings of the agents that answer numbers where the voice runs on this machine: the first call after a start then
 * waits neither for a library to load nor for its greeting to be rendered, in the formats of its trunks' codecs. Resolves
 * after 10 s at the latest; never rejects.
 */
export async function prepareAgents(parts: PrepareAgentsParts): Promise<void> {
  const { time, onProblem } = parts
  const stopping = new AbortController()
  const late = Promise.withResolvers<void>()
  const timer = time.at(time.now() + WITHIN_MS, () => {
    stopping.abort()
    late.resolve()
  })
  const prepared = prepareAll(parts, stopping.signal).catch(error =>
    onProblem('agents are not prepared for their first call', error),
  )
  await Promise.race([prepared, late.promise])
  timer.cancel()
}

async function prepareAll({ database, services }: PrepareAgentsParts, signal: AbortSignal): Promise<void> {
  // A call reports a service that is not ready. Other texts of an agent are rendered at its first call: all texts of all agents
  // would delay that call.
  for (const agent of await answeringAgents(database)) await speakOpening(agent, services, signal).catch(() => {})
}

interface AnsweringAgent {
  readonly plan: Plan
  /** Of the calls that its trunks may bring; 8 kHz first. */
  readonly formats: AudioFormat[]
}

/** The agents that answer numbers. */
async function answeringAgents(database: PrepareAgentsParts['database']): Promise<AnsweringAgent[]> {
  const agents = new Map<string, AnsweringAgent>()
  for (const { scope, trunk_id, details } of await database.telephony.inboundTrunks()) {
    const widest = formatFor(details.codecs?.filter(isCodecName) ?? [])
    const db = database.within(scope)
    const { rows } = await listNumbers(db, scope, { trunk_id, cursor: null, limit: NUMBERS_PER_TRUNK })
    for (const { phone_number } of rows) {
      const reached = await numberReached(db, scope, trunk_id, phone_number)
      if (reached.kind !== 'answered' || !reached.channels.includes('phone')) continue
      const { agent_id, version, plan } = reached
      const key = `${scope.tenant_id} ${agent_id} ${version}`
      const agent = agents.get(key) ?? { plan, formats: [NARROWBAND] }
      agents.set(key, agent)
      if (!agent.formats.includes(widest)) agent.formats.push(widest)
      if (agents.size >= MAX_AGENTS) return [...agents.values()]
    }
  }
  return [...agents.values()]
}

async function speakOpening(
  { plan, formats }: AnsweringAgent,
  services: PrepareAgentsParts['services'],
  signal: AbortSignal,
): Promise<void> {
  const { voice, voiceId } = services.voiceOf(plan)
  if (!services.isOnThisMachine(voice.id) || signal.aborted) return
  const request = {
    text: openingOf(plan) ?? 'Hello.',
    language: languageOf({ plan, voice }),
    ...(voiceId !== null && { voice: voiceId }),
  }
  // The audio is dropped: the voice has loaded its library, and keeps the rendering if it caches.
  for (const format of new Set(formats.map(call => serviceFormat(voice, call))))
    for await (const _chunk of voice.synthesize({ ...request, format }, signal));
}
