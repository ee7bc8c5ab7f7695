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

type PreparingServices = Pick<Services, 'isOnThisMachine' | 'voiceOf' | 'warm'>

interface PrepareAgentsParts {
  readonly database: Pick<Database, 'within' | 'telephony'>
  readonly environmentServices: { of(scope: Scope): Promise<PreparingServices> }
  readonly time: Time
  readonly onProblem: (what: string, error: unknown) => void
}

/**
 * Prepares the agents that answer numbers, and those that called people in the last day, of any environment: reaches their recognisers,
 * voices and models, and speaks their openings where the voice runs on this machine. The first call after a start then waits neither for a
 * library to load nor for its greeting to be rendered, in the formats of its trunks' codecs. Resolves after 10 s at the latest; never rejects.
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

async function prepareAll({ database, environmentServices }: PrepareAgentsParts, signal: AbortSignal): Promise<void> {
  /** By environment and services: agents share connections. */
  const warmed = new Map<string, Promise<void>>()
  // A call reports a service that is not ready. Other texts of an agent are rendered at its first call: all texts of all agents
  // would delay that call.
  for (const agent of await callingAgents(database)) {
    const services = await environmentServices.of(agent.scope)
    const key = `${agent.scope.tenant_id} ${JSON.stringify(agent.plan.providers)}`
    if (!warmed.has(key)) warmed.set(key, services.warm(agent.plan))
    await speakOpening(agent, services, signal).catch(() => {})
  }
  await Promise.all(warmed.values())
}

interface CallingAgent {
  readonly scope: Scope
  readonly plan: Plan
  /** Of the calls that its trunks may bring; 8 kHz first. */
  readonly formats: AudioFormat[]
}

/** The agents that answer numbers, then those that dialled. */
async function callingAgents(database: PrepareAgentsParts['database']): Promise<CallingAgent[]> {
  const agents = new Map<string, CallingAgent>()
  const add = (scope: Scope, details: TrunkDetails, { agent_id, version, plan }: PublishedAgent) => {
    const key = `${scope.tenant_id} ${agent_id} ${version}`
    const agent = agents.get(key) ?? { scope, plan, formats: [NARROWBAND] }
    agents.set(key, agent)
    const format = widestOf(details)
    if (!agent.formats.includes(format)) agent.formats.push(format)
    return agents.size < MAX_AGENTS
  }
  for (const { scope, trunk_id, details } of await database.telephony.inboundTrunks()) {
    const db = database.within(scope)
    const { rows } = await listNumbers(db, scope, { trunk_id, cursor: null, limit: NUMBERS_PER_TRUNK })
    for (const { phone_number } of rows) {
      const reached = await numberReached(db, scope, trunk_id, phone_number)
      if (reached.kind !== 'answered' || !reached.channels.includes('phone')) continue
      if (!add(scope, details, reached)) return [...agents.values()]
    }
  }
  for (const { scope, details } of await database.telephony.diallingTrunks())
    for (const agent of await diallingAgents(database.within(scope), scope, MAX_AGENTS))
      if (!add(scope, details, agent)) return [...agents.values()]
  return [...agents.values()]
}

interface PublishedAgent {
  readonly agent_id: string
  readonly version: number
  readonly plan: Plan
}

function widestOf({ codecs = [] }: TrunkDetails): AudioFormat {
  return formatFor(codecs.filter(isCodecName))
}

async function speakOpening(
  { plan, formats }: CallingAgent,
  services: PreparingServices,
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
