import type { Scope } from '@parley/contract'
import { languageOf, serviceFormat } from '@parley/engine'
import type { Plan } from '@parley/flow'
import { type AudioFormat, type Ms, NARROWBAND, type Time } from '@parley/kernel'
import { formatFor, isCodecName } from '@parley/media'
import { type Database, diallingAgents, listNumbers, numberReached, type TrunkDetails } from '@parley/store'
import { openingOf, type Services } from './services.ts'

/** Most agents that a start prepares; further ones are prepared by their first call. */
const MAX_AGENTS = 50
const NUMBERS_PER_TRUNK = 50
const WITHIN_MS: Ms = 10_000

interface PrepareAgentsParts {
  readonly database: Pick<Database, 'within' | 'telephony'>
  readonly services: Pick<Services, 'isOnThisMachine' | 'voiceOf' | 'warmModel'>
  readonly time: Time
  readonly onProblem: (what: string, error: unknown) => void
}

/**
 * Prepares the agents that answer numbers, and those that called people in the last day: connects to their models, and speaks their
 * openings where the voice runs on this machine. The first call after a start then waits neither for a library to load nor for its
 * greeting to be rendered, in the formats of its trunks' codecs. Resolves after 10 s at the latest; never rejects.
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
  for (const agent of await callingAgents(database)) {
    services.warmModel(agent.plan)
    await speakOpening(agent, services, signal).catch(() => {})
  }
}

interface CallingAgent {
  readonly plan: Plan
  /** Of the calls that its trunks may bring; 8 kHz first. */
  readonly formats: AudioFormat[]
}

/** The agents that answer numbers, then those that dial over trunks which take calls as well. */
async function callingAgents(database: PrepareAgentsParts['database']): Promise<CallingAgent[]> {
  const agents = new Map<string, CallingAgent>()
  const add = (key: string, plan: Plan, format: AudioFormat) => {
    const agent = agents.get(key) ?? { plan, formats: [NARROWBAND] }
    agents.set(key, agent)
    if (!agent.formats.includes(format)) agent.formats.push(format)
    return agents.size < MAX_AGENTS
  }
  const trunks = await database.telephony.inboundTrunks()
  for (const { scope, trunk_id, details } of trunks) {
    const db = database.within(scope)
    const { rows } = await listNumbers(db, scope, { trunk_id, cursor: null, limit: NUMBERS_PER_TRUNK })
    for (const { phone_number } of rows) {
      const reached = await numberReached(db, scope, trunk_id, phone_number)
      if (reached.kind !== 'answered' || !reached.channels.includes('phone')) continue
      const { agent_id, version, plan } = reached
      if (!add(keyOf(scope, agent_id, version), plan, widestOf(details))) return [...agents.values()]
    }
  }
  for (const { scope, details } of trunks)
    for (const { agent_id, version, plan } of await diallingAgents(database.within(scope), scope, MAX_AGENTS))
      if (!add(keyOf(scope, agent_id, version), plan, widestOf(details))) return [...agents.values()]
  return [...agents.values()]
}

function keyOf({ tenant_id }: Scope, agentId: string, version: number): string {
  return `${tenant_id} ${agentId} ${version}`
}

function widestOf({ codecs = [] }: TrunkDetails): AudioFormat {
  return formatFor(codecs.filter(isCodecName))
}

async function speakOpening(
  { plan, formats }: CallingAgent,
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
