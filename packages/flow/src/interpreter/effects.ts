import type { Action, HttpAction } from '../plan/action.ts'
import type { FunctionNode } from '../plan/node.ts'
import { type FlowContext, LEAVE, type Step, WAIT } from './flow-context.ts'
import type { PlacedNode } from './graph.ts'
import { isResponsePath, valueAt } from './response-path.ts'
import { worksHere } from './speech.ts'
import { completeArguments, hasOpenParameters, openParameters } from './tools.ts'
import { assign } from './variables.ts'
import { follow } from './ways-on.ts'

const MAX_DIGITS = 64
const MAX_DESTINATION = 256

/** Runs a function node's action, once the model has filled in what is open. */
export function startFunction(context: FlowContext, here: PlacedNode, node: FunctionNode): Step {
  const action = functionAction(context, node)
  if (action === undefined) return actionFailed(context)
  if (!hasOpenParameters(action)) return runFunction(context, here, node, {})
  const request_id = context.requestId()
  context.emit({
    type: 'infer',
    request_id,
    node_id: here.address,
    purpose: 'arguments',
    prompt: context.render(action.description),
    schema: openParameters(action),
    model: node.model_choice,
  })
  context.state.phase = { at: 'inferring', request_id, purpose: 'arguments' }
  return WAIT
}

function functionAction(context: FlowContext, node: FunctionNode): HttpAction | undefined {
  const action = context.graph.action(node.tool_id)
  return action?.kind === 'http' && worksHere(context, action) ? action : undefined
}

export function actionFailed(context: FlowContext): Step {
  context.state.actionOutcome = 'failed'
  return LEAVE
}

export function runFunction(context: FlowContext, here: PlacedNode, node: FunctionNode, inferred: unknown): Step {
  const action = functionAction(context, node)
  if (action === undefined) return actionFailed(context)
  const request_id = sendAction(context, here, action, inferred, null)
  if (node.wait_for_result) {
    context.state.phase = { at: 'acting', request_id }
    return WAIT
  }
  const speech = context.state.speechDuring
  if (speech === null) return LEAVE
  context.state.phase = { at: 'finishing', request_id: speech, next: 'leave' }
  return WAIT
}

/** `promptId`: whose tool call it is; null for a function node. */
export function sendAction(
  context: FlowContext,
  here: PlacedNode,
  action: HttpAction,
  inferred: unknown,
  promptId: string | null,
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
    arguments: completeArguments(action, inferred, context.lookup),
    invocation: promptId === null ? 'flow_node' : 'model_tool',
  })
  return request_id
}

/** Variables out of the answer of an action. */
export function keepAnswer(context: FlowContext, action: Action, body: unknown): void {
  if (action.kind !== 'http') return
  const values: Record<string, unknown> = {}
  for (const [name, path] of Object.entries(action.response_variables))
    values[name] = isResponsePath(path) ? valueAt(body, path) : undefined
  setVariables(context, 'action', values)
}

export function setVariables(
  context: FlowContext,
  source: 'extract' | 'action' | 'update',
  values: Readonly<Record<string, unknown>>,
): void {
  const { set, ignored } = assign(context.state, source === 'update' ? 'update' : 'conversation', values)
  if (set.length > 0 || ignored.length > 0) context.emit({ type: 'variables', source, set, ignored })
}

/** Presses what there is to press; then the far end has its turn. */
export function pressDigits(context: FlowContext, here: PlacedNode, node: { delay_ms: number }, wanted: unknown): Step {
  const digits = digitsOf(wanted)
  if (digits === '') {
    context.state.phase = { at: 'conversing', speech: null }
    return WAIT
  }
  const request_id = context.requestId()
  context.emit({ type: 'press_digits', request_id, node_id: here.address, digits, delay_ms: node.delay_ms })
  context.state.phase = { at: 'pressing', request_id }
  return WAIT
}

export function digitsOf(wanted: unknown): string {
  return typeof wanted === 'string' ? wanted.replace(/[^0-9*#w]/g, '').slice(0, MAX_DIGITS) : ''
}

/** Asks for the transfer. False: without a destination, or off the phone, it has failed already. */
export function transferTo(
  context: FlowContext,
  here: PlacedNode,
  wanted: unknown,
  headers: Readonly<Record<string, string>>,
  byTool: boolean,
): boolean {
  const destination = typeof wanted === 'string' ? wanted.trim() : ''
  if (destination === '' || destination.length > MAX_DESTINATION || context.mode.channel !== 'phone') return false
  const request_id = context.requestId()
  const custom_sip_headers = Object.fromEntries(
    // A header's value is one line, whatever a variable holds.
    Object.entries(headers).map(([name, value]) => [name, context.render(value).replace(/[^\x20-\x7e]/g, ' ')]),
  )
  context.emit({ type: 'transfer', request_id, node_id: here.address, destination, custom_sip_headers })
  context.state.phase = { at: 'transferring', request_id, byTool }
  return true
}

export function transferFailed(context: FlowContext, here: PlacedNode): Step {
  const edge = here.node.type === 'transfer_call' ? here.node.edge : null
  return (edge === null ? undefined : follow(context, here, edge, 'failure')) ?? LEAVE
}
