import { languageOf } from '@parley/engine'
import type { Plan } from '@parley/flow'
import type { Ms, Time } from '@parley/kernel'
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
 * waits neither for a library to load nor for its greeting to be rendered. Resolves after 10 s
 * at the latest; never rejects.
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
  for (const plan of await answeringPlans(database)) await speakOpening(plan, services, signal).catch(() => {})
}

/** The plans of the agents that answer numbers. */
async function answeringPlans(database: PrepareAgentsParts['database']): Promise<Plan[]> {
  const plans = new Map<string, Plan>()
  for (const { scope, trunk_id } of await database.telephony.inboundTrunks()) {
    const db = database.within(scope)
    const { rows } = await listNumbers(db, scope, { trunk_id, cursor: null, limit: NUMBERS_PER_TRUNK })
    for (const { phone_number } of rows) {
      const reached = await numberReached(db, scope, trunk_id, phone_number)
      if (reached.kind !== 'answered' || !reached.channels.includes('phone')) continue
      const { agent_id, version, plan } = reached
      plans.set(`${scope.tenant_id} ${agent_id} ${version}`, plan)
      if (plans.size >= MAX_AGENTS) return [...plans.values()]
    }
  }
  return [...plans.values()]
}

async function speakOpening(plan: Plan, services: PrepareAgentsParts['services'], signal: AbortSignal): Promise<void> {
  const { voice, voiceId } = services.voiceOf(plan)
  if (!services.isOnThisMachine(voice.id) || signal.aborted) return
  const request = {
    text: openingOf(plan) ?? 'Hello.',
    language: languageOf({ plan, voice }),
    ...(voiceId !== null && { voice: voiceId }),
  }
  // The audio is dropped: the voice has loaded its library, and keeps the rendering if it caches.
  for await (const _chunk of voice.synthesize(request, signal));
}
