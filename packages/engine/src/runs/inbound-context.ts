import type { CallFacts } from '@parley/conversation'
import type { HttpAction, Plan } from '@parley/flow'
import type { Ms, Time } from '@parley/kernel'
import type { OwnedRun } from '@parley/runs'
import type { VoiceAgent } from '../voice/voice-agent.ts'

/** A caller is not left ringing for longer. */
const LONGEST_MS: Ms = 10_000
const LOOK_MS: Ms = 100
const MOST_VARIABLES = 100
/** Of a value, in code points: as in all requests. */
const MOST_CHARACTERS = 4096

/** What an agent's own server says of a caller. */
type InboundContext =
  | { readonly kind: 'none' }
  | { readonly kind: 'rejected' }
  | { readonly kind: 'variables'; readonly variables: Readonly<Record<string, string>> }

/**
 * Asks the agent's server about a caller while the call rings. Failure, timeout and an answer that cannot be read are
 * `none`: the call goes on without. Ends soon after `isOver`: nobody wants to know any more. Never rejects.
 */
export async function askInboundContext(
  agent: VoiceAgent,
  call: CallFacts,
  run: OwnedRun,
  isOver: () => boolean,
  time: Time,
): Promise<InboundContext> {
  const binding = agent.plan.inbound_context
  const action = binding === null ? undefined : actionOf(agent.plan, binding.action_id)
  if (binding === null || action === undefined) return { kind: 'none' }
  const { signal, stop } = untilTheEnd(isOver, time, Math.min(LONGEST_MS, action.timeout_ms))
  try {
    const asked = agent.actions(run.ledger).run(
      {
        // What the server is sent is the specification's own, not the action's arguments.
        action: { ...action, args_at_root: true, timeout_ms: Math.min(LONGEST_MS, action.timeout_ms) },
        arguments: { event: 'call_inbound', call_inbound: callerOf(call) },
        node_id: null,
        ordinal: 0,
        call,
        render: text => text,
        onPhase: ({ phase, effect_id }) => run.note({ ...actionFact(action), effect_id, phase, duration_ms: null }),
      },
      signal,
    )
    const done = await Promise.race([asked, aborted(signal)])
    if (done === null) return { kind: 'none' }
    const { effect_id, outcome, durationMs, body } = done
    if (effect_id !== '') run.note({ ...actionFact(action), effect_id, phase: outcome, duration_ms: durationMs })
    return outcome === 'succeeded' ? readContext(body, binding.variables) : { kind: 'none' }
  } catch {
    return { kind: 'none' }
  } finally {
    stop()
  }
}

/** Names besides those that are bound are dropped; what is no string is. */
export function readContext(body: unknown, names: readonly string[]): InboundContext {
  const context = objectOf(objectOf(body)?.call_inbound)
  if (context === null) return { kind: 'none' }
  if (context.reject === true) return { kind: 'rejected' }
  const given = objectOf(context.dynamic_variables)
  if (given === null) return { kind: 'none' }
  const variables: Record<string, string> = {}
  for (const name of names.slice(0, MOST_VARIABLES)) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined
    if (typeof value === 'string') variables[name] = shortened(value).toWellFormed()
  }
  return { kind: 'variables', variables }
}

function shortened(value: string): string {
  return value.length <= MOST_CHARACTERS
    ? value
    : [...value.slice(0, 2 * MOST_CHARACTERS)].slice(0, MOST_CHARACTERS).join('')
}

function actionOf(plan: Plan, actionId: string): HttpAction | undefined {
  const action = plan.actions.find(({ action_id }) => action_id === actionId)
  return action?.kind === 'http' ? action : undefined
}

function actionFact({ action_id }: HttpAction) {
  return { kind: 'action', action_id, node_id: null } as const
}

function callerOf({ agent_id, agent_version, from_number, to_number }: CallFacts) {
  return { agent_id, agent_version, from_number: from_number ?? 'anonymous', to_number }
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null
}

/** Aborted when `isOver`, or `withinMs` are over. */
function untilTheEnd(
  isOver: () => boolean,
  time: Time,
  withinMs: Ms,
): { readonly signal: AbortSignal; readonly stop: () => void } {
  const controller = new AbortController()
  const limit = time.now() + withinMs
  const look = () => {
    if (isOver() || time.now() >= limit) return controller.abort()
    timer = time.at(time.now() + LOOK_MS, look)
  }
  let timer = time.at(time.now() + LOOK_MS, look)
  return { signal: controller.signal, stop: () => timer.cancel() }
}

function aborted(signal: AbortSignal): Promise<null> {
  return new Promise(resolve => signal.addEventListener('abort', () => resolve(null), { once: true }))
}
