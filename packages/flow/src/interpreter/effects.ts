import {
  actionKindOf,
  completeArguments,
  type EffectAction,
  edgeIn,
  isObject,
  type NodeStep,
  nodeTypeOf,
} from '@parley/nodes'
import { countUse, MAX_REFUSALS } from './action-limits.ts'
import { type FlowContext, LEAVE, type Step, WAIT } from './flow-context.ts'
import { ownActionId, type PlacedNode } from './graph.ts'
import { isResponsePath, valueAt } from './response-path.ts'
import { worksHere } from './speech.ts'
import { follow } from './transitions.ts'
import { assign } from './variables.ts'

type RunAction = Extract<NodeStep, { next: 'run_action' }>

/** Runs a node's action, after the model has inferred its open arguments. */
export function startNodeAction(context: FlowContext, here: PlacedNode, step: RunAction): Step {
  const { waits } = step
  const actionId = step.actionId ?? ownActionId(here)
  const action = runnableAction(context, actionId)
  if (action === undefined) return actionFailed(context, here)
  const schema = actionKindOf(action).parameters(action)
  if (Object.keys(schema.properties ?? {}).length === 0)
    return runNodeAction(context, here, { action_id: actionId, waits }, {})
  const request_id = context.requestId()
  context.emit({
    type: 'infer',
    request_id,
    node_id: here.address,
    action_id: null,
    purpose: 'arguments',
    prompt: context.render(action.description),
    schema,
    model: step.model,
  })
  context.state.phase = { at: 'filling_in', request_id, action_id: actionId, waits }
  return WAIT
}

function runnableAction(context: FlowContext, id: string): EffectAction | undefined {
  const action = context.graph.effectAction(id)
  return action !== undefined && worksHere(context, action) ? action : undefined
}

/** The node's action could not run: the node is left with the outcome "failed". */
export function actionFailed(context: FlowContext, here: PlacedNode): Step {
  context.state.actionOutcome = 'failed'
  const step = nodeTypeOf(here.node).afterAction?.(here.node, 'failed')
  const edge = step?.next === 'fail' ? edgeIn(here.node, step.slot) : null
  return (edge === null ? undefined : follow(context, here, edge, 'failure')) ?? LEAVE
}

/** Runs a node's action with the inferred arguments. `waits`: the node is left when the result arrives. */
export function runNodeAction(
  context: FlowContext,
  here: PlacedNode,
  { action_id, waits }: { readonly action_id: string; readonly waits: boolean },
  inferred: unknown,
): Step {
  const action = runnableAction(context, action_id)
  if (action === undefined) return actionFailed(context, here)
  const args = isObject(inferred) ? inferred : {}
  const reason = countUse(context, action_id, args)
  if (reason !== null) {
    context.emit({ type: 'action_refused', prompt_id: null, action_id, arguments: args, reason })
    return context.state.refusedInTurn >= MAX_REFUSALS
      ? context.end('error', 'system', 'tool_call_limit')
      : actionFailed(context, here)
  }
  const request_id = sendAction(context, here, action, inferred, { promptId: null, waits })
  if (waits) {
    context.state.phase = { at: 'acting', request_id }
    return WAIT
  }
  const speech = context.state.speechDuring
  if (speech === null) return LEAVE
  context.state.phase = { at: 'finishing', request_id: speech, next: 'leave' }
  return WAIT
}

/** Emits `run_action`. `promptId`: the prompt that called the action as a tool; null: the node runs it. */
export function sendAction(
  context: FlowContext,
  here: PlacedNode,
  action: EffectAction,
  inferred: unknown,
  { promptId, waits }: { readonly promptId: string | null; readonly waits: boolean },
): string {
  const { state } = context
  const request_id = context.requestId()
  const use = `${here.address} ${action.action_id}`
  const ordinal = Object.hasOwn(state.ordinals, use) ? state.ordinals[use]! : 0
  state.ordinals[use] = ordinal + 1
  state.pending[request_id] = { action_id: action.action_id, prompt_id: promptId }
  context.emit({
    type: 'run_action',
    request_id,
    node_id: here.address,
    action_id: action.action_id,
    ordinal,
    arguments: completeArguments(action, inferred, template => context.render(template)),
    invocation: promptId === null ? 'flow_node' : 'model_tool',
    waits,
  })
  return request_id
}

/** Sets the response variables of an action from the body of its answer. */
export function setAnswerVariables(context: FlowContext, action: EffectAction, body: unknown): void {
  const values: Record<string, unknown> = {}
  for (const [name, path] of Object.entries(action.response_variables))
    values[name] = isResponsePath(path) ? valueAt(body, path) : undefined
  setVariables(context, 'action', values)
}

/** Sets variables and emits which names were set and which were ignored. */
export function setVariables(
  context: FlowContext,
  source: 'extract' | 'action' | 'update',
  values: Readonly<Record<string, unknown>>,
): void {
  const { set, ignored } = assign(context.state, source === 'update' ? 'update' : 'conversation', values)
  if (set.length > 0 || ignored.length > 0) context.emit({ type: 'variables', source, set, ignored })
}
