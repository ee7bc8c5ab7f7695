import type {
  ConversationNode,
  EndNode,
  FunctionNode,
  PressDigitNode,
  SubagentNode,
  TransferNode,
} from '../plan/node.ts'
import { pressDigits, startFunction, transferFailed, transferTo } from './effects.ts'
import { type FlowContext, LEAVE, type Step, WAIT } from './flow-context.ts'
import type { PlacedNode } from './graph.ts'
import type { NodeTurnSettings } from './protocol.ts'
import { converse, speak } from './speech.ts'
import { DESTINATION_SCHEMA, DIGITS_SCHEMA } from './tools.ts'

/** Goes into a node and begins what it does. */
export function enter(context: FlowContext, step: Step & { next: 'enter' }): Step {
  const { state } = context
  const from = state.position?.node ?? null
  state.previous = from
  state.position = { node: step.to.address, calls: step.calls }
  state.detours = step.detours
  state.speechDuring = null
  if (step.cause === 'global') state.globalEntries[step.to.address] = state.turn
  context.emit({
    type: 'node',
    node_id: step.to.address,
    from_node_id: from,
    edge_id: step.edgeId,
    cause: step.cause,
    settings: turnSettings(context, step.to),
  })
  return step.again ? resume(context, step.to) : begin(context, step.to)
}

function begin(context: FlowContext, here: PlacedNode): Step {
  const { node } = here
  switch (node.type) {
    case 'conversation':
    case 'subagent':
      return beginConversing(context, here, node)
    case 'function':
      return beginFunction(context, here, node)
    case 'branch':
      return LEAVE
    case 'extract_dynamic_variables': {
      const request_id = context.requestId()
      context.emit({
        type: 'extract',
        request_id,
        node_id: here.address,
        variables: node.variables,
        model: node.model_choice,
      })
      context.state.phase = { at: 'inferring', request_id, purpose: 'variables' }
      return WAIT
    }
    case 'press_digit':
      return beginPressing(context, here, node)
    case 'transfer_call':
      return beginTransfer(context, here, node)
    case 'end':
      return beginEnd(context, here, node)
    case 'component':
      return beginComponent(context, here, node.component_id)
    default:
      return LEAVE
  }
}

/** A place that a global node interrupted. Its actions are not done again. */
function resume(context: FlowContext, here: PlacedNode): Step {
  const converses = here.node.type === 'conversation' || here.node.type === 'subagent'
  if (converses) {
    collectDigits(context, here)
    return converse(context, here, 'return', [])
  }
  if (here.node.type !== 'press_digit') return LEAVE
  context.state.phase = { at: 'conversing', speech: null }
  return WAIT
}

function beginConversing(context: FlowContext, here: PlacedNode, node: ConversationNode | SubagentNode): Step {
  collectDigits(context, here)
  if (!context.state.awaitsOpening) return firstWords(context, here, node)
  context.state.phase = { at: 'opening' }
  context.emit({
    type: 'await_opening',
    node_id: here.address,
    after_ms: context.graph.plan.flow.begin_after_user_silence_ms,
  })
  return WAIT
}

/** What a node says first: static text once, word for word. */
export function firstWords(context: FlowContext, here: PlacedNode, node: ConversationNode | SubagentNode): Step {
  if (node.instruction.type === 'prompt') return converse(context, here, 'enter', [])
  const request_id = speak(context, here, node.instruction, 'enter')
  context.state.phase = { at: 'conversing', speech: { request_id, choices: [], tools: [] } }
  return WAIT
}

function collectDigits(context: FlowContext, here: PlacedNode): void {
  const { allowUserDtmf, userDtmfOptions } = context.graph.plan.settings
  if (!allowUserDtmf || context.mode.channel !== 'phone') return
  context.emit({
    type: 'collect_digits',
    node_id: here.address,
    digit_limit: userDtmfOptions.digitLimit,
    termination_key: userDtmfOptions.terminationKey,
    timeout_ms: userDtmfOptions.timeoutMs,
  })
}

function beginFunction(context: FlowContext, here: PlacedNode, node: FunctionNode): Step {
  if (node.speak_during_execution && node.instruction !== null)
    context.state.speechDuring = speak(context, here, node.instruction, 'during_execution')
  return startFunction(context, here, node)
}

function beginPressing(context: FlowContext, here: PlacedNode, node: PressDigitNode): Step {
  if (context.mode.channel !== 'phone') return LEAVE
  if (node.instruction.type === 'prompt') return inferDigits(context, here, node)
  return pressDigits(context, here, node, context.render(node.instruction.text))
}

export function inferDigits(context: FlowContext, here: PlacedNode, node: PressDigitNode): Step {
  const request_id = context.requestId()
  context.emit({
    type: 'infer',
    request_id,
    node_id: here.address,
    purpose: 'digits',
    prompt: context.render(node.instruction.text),
    schema: DIGITS_SCHEMA,
    model: node.model_choice,
  })
  context.state.phase = { at: 'inferring', request_id, purpose: 'digits' }
  return WAIT
}

function beginTransfer(context: FlowContext, here: PlacedNode, node: TransferNode): Step {
  const destination = node.transfer_destination
  if (destination.type === 'predefined')
    return transferFromNode(context, here, node, context.render(destination.number))
  const request_id = context.requestId()
  context.emit({
    type: 'infer',
    request_id,
    node_id: here.address,
    purpose: 'transfer_destination',
    prompt: context.render(destination.prompt),
    schema: DESTINATION_SCHEMA,
    model: node.model_choice,
  })
  context.state.phase = { at: 'inferring', request_id, purpose: 'transfer_destination' }
  return WAIT
}

export function transferFromNode(context: FlowContext, here: PlacedNode, node: TransferNode, wanted: unknown): Step {
  const asked = transferTo(context, here, wanted, node.custom_sip_headers, false)
  return asked ? WAIT : transferFailed(context, here)
}

function beginEnd(context: FlowContext, here: PlacedNode, node: EndNode): Step {
  if (!node.speak_during_execution || node.instruction === null) return endOfFlow(context)
  const request_id = speak(context, here, node.instruction, 'enter')
  context.state.phase = { at: 'finishing', request_id, next: 'end' }
  return WAIT
}

/** The end of a component is the way back to the node that called it; the end of the main flow ends the conversation. */
export function endOfFlow(context: FlowContext): Step {
  const calls = context.calls()
  const caller = calls.at(-1)
  const to = caller === undefined ? undefined : context.graph.node(caller)
  if (to === undefined) return context.end('completed', 'agent')
  const detours = context.state.detours.filter(detour => detour.depth < calls.length)
  return { next: 'enter', to, calls: calls.slice(0, -1), edgeId: null, cause: 'return', detours, again: true }
}

function beginComponent(context: FlowContext, here: PlacedNode, componentId: string): Step {
  const to = context.graph.start(componentId)
  if (to === undefined) return LEAVE
  const calls = [...context.calls(), here.address]
  return { next: 'enter', to, calls, edgeId: null, cause: 'start', detours: context.state.detours, again: false }
}

function turnSettings(context: FlowContext, { node }: PlacedNode): NodeTurnSettings {
  const agent = context.graph.plan.settings
  const own = node.type === 'conversation' || node.type === 'subagent' ? node : undefined
  return {
    interruption_sensitivity: own?.interruption_sensitivity ?? agent.interruptionSensitivity,
    responsiveness: own?.responsiveness ?? agent.responsiveness,
    voice_speed: own?.voice_speed ?? agent.voiceSpeed,
    reminder_trigger_ms: own?.reminder_trigger_ms ?? agent.reminderTriggerMs,
    reminder_max_count: own?.reminder_max_count ?? agent.reminderMaxCount,
    allow_dtmf_interruption: own?.allow_dtmf_interruption ?? agent.allowDtmfInterruption,
  }
}
