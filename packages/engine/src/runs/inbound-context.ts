import type { CallFacts } from '@parley/conversation'
import { type HttpAction, isHttpAction, type Plan } from '@parley/flow'
import type { Ms, Time } from '@parley/kernel'
import type { OwnedRun } from '@parley/runs'
import type { VoiceAgent } from '../voice/voice-agent.ts'

/** Longest time that a caller rings while the agent's server is asked. */
const MAX_WAIT_MS: Ms = 10_000
const POLL_MS: Ms = 100
const MAX_VARIABLES = 100
/** Of a variable's value, in code points: the limit of all requests. */
const MAX_CHARACTERS = 4096

/** What the agent's server answered about a caller. */
type InboundContext =
  | { readonly kind: 'none' }
  | { readonly kind: 'rejected' }
  | { readonly kind: 'variables'; readonly variables: Readonly<Record<string, string>> }

/**
 * Requests context about a caller from the agent's server while the call rings. After a failure, a timeout or an unreadable
 * answer the result is `none`, and the call goes on without context. Resolves soon after `isOver` turns true. Never rejects.
 */
export async function requestInboundContext(
  agent: VoiceAgent,
  call: CallFacts,
  run: OwnedRun,
  isOver: () => boolean,
  time: Time,
): Promise<InboundContext> {
  const binding = agent.plan.inbound_context
  const action = binding === null ? undefined : actionOf(agent.plan, binding.action_id)
  if (binding === null || action === undefined) return { kind: 'none' }
  const { signal, stop } = abortWhen(isOver, time, Math.min(MAX_WAIT_MS, action.timeout_ms))
  try {
    const request = agent.actions(run.ledger).run(
      {
        // The API specification defines the body; it is not wrapped like an action's arguments.
        action: { ...action, args_at_root: true, timeout_ms: Math.min(MAX_WAIT_MS, action.timeout_ms) },
        arguments: { event: 'call_inbound', call_inbound: callerOf(call) },
        node_id: null,
        ordinal: 0,
        call,
        variables: {},
        render: text => text,
        onPhase: ({ phase, effect_id }) => run.note({ ...actionFact(action), effect_id, phase, duration_ms: null }),
      },
      signal,
    )
    const response = await Promise.race([request, aborted(signal)])
    if (response === null) return { kind: 'none' }
    const { effect_id, outcome, durationMs, body } = response
    if (effect_id !== '') run.note({ ...actionFact(action), effect_id, phase: outcome, duration_ms: durationMs })
    return outcome === 'succeeded' ? readContext(body, binding.variables) : { kind: 'none' }
  } catch {
    return { kind: 'none' }
  } finally {
    stop()
  }
}

/** `names`: the variables that the agent binds. Other names, and values that are no strings, are dropped. */
export function readContext(body: unknown, names: readonly string[]): InboundContext {
  const context = objectOf(objectOf(body)?.call_inbound)
  if (context === null) return { kind: 'none' }
  if (context.reject === true) return { kind: 'rejected' }
  const given = objectOf(context.dynamic_variables)
  if (given === null) return { kind: 'none' }
  const variables: Record<string, string> = {}
  for (const name of names.slice(0, MAX_VARIABLES)) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined
    if (typeof value === 'string') variables[name] = shortened(value).toWellFormed()
  }
  return { kind: 'variables', variables }
}

function shortened(value: string): string {
  return value.length <= MAX_CHARACTERS
    ? value
    : [...value.slice(0, 2 * MAX_CHARACTERS)].slice(0, MAX_CHARACTERS).join('')
}

function actionOf(plan: Plan, actionId: string): HttpAction | undefined {
  const action = plan.actions.find(({ action_id }) => action_id === actionId)
  return action !== undefined && isHttpAction(action) ? action : undefined
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

/** A signal that is aborted when `isOver` turns true, or after `withinMs`. */
function abortWhen(
  isOver: () => boolean,
  time: Time,
  withinMs: Ms,
): { readonly signal: AbortSignal; readonly stop: () => void } {
  const controller = new AbortController()
  const limit = time.now() + withinMs
  const poll = () => {
    if (isOver() || time.now() >= limit) return controller.abort()
    timer = time.at(time.now() + POLL_MS, poll)
  }
  let timer = time.at(time.now() + POLL_MS, poll)
  return { signal: controller.signal, stop: () => timer.cancel() }
}

function aborted(signal: AbortSignal): Promise<null> {
  return new Promise(resolve => signal.addEventListener('abort', () => resolve(null), { once: true }))
}
