import type { Action } from '../plan/action.ts'
import {
  actionFailed,
  digitsOf,
  keepAnswer,
  pressDigits,
  runFunction,
  sendAction,
  setVariables,
  transferFailed,
  transferTo,
} from './effects.ts'
import { endOfFlow, transferFromNode } from './enter.ts'
import { type FlowContext, LEAVE, type Step, TURN, WAIT } from './flow-context.ts'
import type { PlacedNode } from './graph.ts'
import type { FlowInput } from './protocol.ts'
import { converse, speak } from './speech.ts'
import { fittingValues, isObject } from './tools.ts'
import { afterResult, otherwise } from './turn.ts'
import { byEquation, follow, take, turnChoices } from './ways-on.ts'

type Input<Type extends FlowInput['type']> = Extract<FlowInput, { type: Type }>

/** Tool calls between two turns of the caller: a model that calls for ever must not. */
const MAX_TOOL_CALLS = 32

export function spoken(context: FlowContext, here: PlacedNode, input: Input<'spoken'>): Step {
  const { state } = context
  if (state.speechDuring === input.request_id) state.speechDuring = null
  const { phase } = state
  if (phase.at === 'finishing' && phase.request_id === input.request_id) {
    if (phase.next === 'leave') return LEAVE
    return phase.next === 'end' ? endOfFlow(context) : context.end('agent_hung_up', 'agent')
  }
  if (phase.at !== 'conversing' || phase.speech?.request_id !== input.request_id) return WAIT
  state.phase = { at: 'conversing', speech: null }
  // Who interrupts will say something; who called a tool will hear of its result.
  if (input.interrupted || hasPendingTool(context, input.request_id)) return WAIT
  return afterSpeech(context, here)
}

function hasPendingTool(context: FlowContext, promptId: string): boolean {
  return Object.values(context.state.pending).some(pending => pending.prompt_id === promptId)
}

function afterSpeech(context: FlowContext, here: PlacedNode): Step {
  const { node } = here
  const skip = node.type === 'conversation' || node.type === 'subagent' ? node.skip_response_edge : null
  if (skip !== null) {
    const step = byEquation(context, here) ?? follow(context, here, skip)
    if (step !== undefined) return step
  }
  if (context.state.resultOwed) return converse(context, here, 'tool_result', turnChoices(context, here))
  return context.mode.hasCaller ? WAIT : TURN
}

export function chosen(context: FlowContext, here: PlacedNode, input: Input<'chosen'>): Step {
  const { phase } = context.state
  if (phase.at === 'deciding' && phase.request_id === input.request_id) {
    const choice = phase.choices.find(candidate => candidate.choice_id === input.choice_id)
    const step = choice === undefined ? undefined : take(context, here, choice)
    return step ?? otherwise(context, here, phase.fallback)
  }
  if (phase.at !== 'conversing' || phase.speech?.request_id !== input.request_id) return WAIT
  const choice = phase.speech.choices.find(candidate => candidate.choice_id === input.choice_id)
  return (choice === undefined ? undefined : take(context, here, choice)) ?? WAIT
}

export function inferred(context: FlowContext, here: PlacedNode, input: Input<'inferred'>): Step {
  const { phase } = context.state
  if (phase.at !== 'inferring' || phase.request_id !== input.request_id) return WAIT
  const { node } = here
  if (phase.purpose === 'variables' && node.type === 'extract_dynamic_variables') {
    setVariables(context, 'extract', fittingValues(node.variables, input.value))
    return LEAVE
  }
  if (phase.purpose === 'digits' && node.type === 'press_digit') return pressDigits(context, here, node, input.value)
  if (phase.purpose === 'transfer_destination' && node.type === 'transfer_call')
    return transferFromNode(context, here, node, input.value)
  if (node.type !== 'function') return WAIT
  return isObject(input.value) ? runFunction(context, here, node, input.value) : actionFailed(context)
}

/** A result is kept wherever the conversation is by now; only its own node is left for it. */
export function actionResult(context: FlowContext, here: PlacedNode, input: Input<'action_result'>): Step {
  const { state } = context
  if (!Object.hasOwn(state.pending, input.request_id)) return WAIT
  const { action_id, prompt_id } = state.pending[input.request_id]!
  delete state.pending[input.request_id]
  state.actionOutcome = input.outcome
  const action = context.graph.action(action_id)
  if (action !== undefined && input.outcome === 'succeeded') keepAnswer(context, action, input.body)
  if (prompt_id === null)
    return state.phase.at === 'acting' && state.phase.request_id === input.request_id ? LEAVE : WAIT
  return toolDone(context, here, prompt_id, action?.kind !== 'http' || action.speak_after_execution)
}

/** While the agent says something newer, the result waits for its end. */
function toolDone(context: FlowContext, here: PlacedNode, promptId: string, speaks: boolean): Step {
  const { phase } = context.state
  const speech = phase.at === 'conversing' ? phase.speech : null
  if (phase.at === 'conversing' && (speech === null || speech.request_id === promptId)) {
    // The other calls of the same answer come first.
    if (hasPendingTool(context, promptId)) return WAIT
    return afterResult(context, here, speaks)
  }
  context.state.resultOwed ||= speaks
  return WAIT
}

export function toolCall(context: FlowContext, here: PlacedNode, input: Input<'tool_call'>): Step {
  const { state } = context
  const { phase } = state
  if (phase.at !== 'conversing' || phase.speech?.request_id !== input.request_id) return WAIT
  const action = context.graph.action(input.action_id)
  if (action === undefined || !phase.speech.tools.includes(action.action_id)) return WAIT
  if (++state.toolCallsInTurn > MAX_TOOL_CALLS) return context.end('error', 'system', 'tool_call_limit')
  return useTool(context, here, action, input)
}

function useTool(context: FlowContext, here: PlacedNode, action: Action, input: Input<'tool_call'>): Step {
  const given = isObject(input.arguments) ? input.arguments : {}
  switch (action.kind) {
    case 'http':
      sendAction(context, here, action, given, input.request_id)
      return WAIT
    case 'end_call':
      if (!action.speak_during_execution || action.instruction === null) return context.end('agent_hung_up', 'agent')
      context.state.phase = {
        at: 'finishing',
        request_id: speak(context, here, action.instruction, 'enter'),
        next: 'hang_up',
      }
      return WAIT
    case 'transfer_call': {
      const target = action.transfer_destination
      const wanted = target.type === 'predefined' ? context.render(target.number) : given.destination
      if (transferTo(context, here, wanted, action.custom_sip_headers, true)) return WAIT
      return afterResult(context, here, true)
    }
    case 'press_digit':
      // The far end's answer to the digits is its next turn.
      return digitsOf(given.digits) === '' ? WAIT : pressDigits(context, here, action, given.digits)
    case 'extract_dynamic_variables':
      setVariables(context, 'extract', fittingValues(action.variables, given))
      return afterResult(context, here, true)
    default:
      return WAIT
  }
}

export function digitsPressed(context: FlowContext, input: Input<'digits_pressed'>): Step {
  const { phase } = context.state
  if (phase.at === 'pressing' && phase.request_id === input.request_id)
    context.state.phase = { at: 'conversing', speech: null }
  return WAIT
}

export function transferResult(context: FlowContext, here: PlacedNode, input: Input<'transfer_result'>): Step {
  const { phase } = context.state
  if (phase.at !== 'transferring' || phase.request_id !== input.request_id) return WAIT
  if (input.outcome === 'taken') return context.end('transferred', 'agent')
  context.state.actionOutcome = 'failed'
  return phase.byTool ? afterResult(context, here, true) : transferFailed(context, here)
}
