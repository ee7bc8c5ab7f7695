import { actionKindOf, isObject, LEAVE_NODE, type NodeAnswer, nodeTypeOf } from '@parley/nodes'
import { countUse, MAX_REFUSALS } from './action-limits.ts'
import { afterSpeech } from './conversing.ts'
import { actionFailed, runNodeAction, setAnswerVariables } from './effects.ts'
import { type FlowContext, LEAVE, type Step, WAIT } from './flow-context.ts'
import type { PlacedNode } from './graph.ts'
import { endOfFlow, postpone, request, takeNodeStep } from './node-steps.ts'
import type { ActionRefusal, FlowInput } from './protocol.ts'
import { converse } from './speech.ts'
import { argumentsOf, takeToolAnswer, takeToolCall } from './tool-steps.ts'
import { takeChoice, turnChoices } from './transitions.ts'
import { afterResult, otherwise } from './turn.ts'

type Input<Type extends FlowInput['type']> = Extract<FlowInput, { type: Type }>

/** A `say` or `prompt` was spoken to its end or interrupted. */
export function spoken(context: FlowContext, here: PlacedNode, input: Input<'spoken'>): Step {
  const { state } = context
  if (state.speechDuring === input.request_id) state.speechDuring = null
  const { phase } = state
  if (phase.at === 'finishing' && phase.request_id === input.request_id) {
    const later = input.interrupted && input.unheard ? postpone(context, here, phase) : undefined
    if (later !== undefined) return later
    if (phase.next === 'leave') return LEAVE
    return phase.next === 'end' ? endOfFlow(context) : context.end('agent_hung_up', 'agent')
  }
  if (phase.at === 'announcing' && phase.request_id === input.request_id)
    return request(context, here, phase.request, null)
  if (phase.at !== 'conversing' || phase.speech?.request_id !== input.request_id) return WAIT
  state.phase = { at: 'conversing', speech: null }
  // After an interruption the caller's turn comes next, after a tool call the tool's result.
  if (input.interrupted || hasPendingTool(context, input.request_id)) return WAIT
  return afterSpeech(context, here)
}

function hasPendingTool(context: FlowContext, promptId: string): boolean {
  return Object.values(context.state.pending).some(pending => pending.prompt_id === promptId)
}

/** The model took one of the choices of a `prompt` or `decide`, or none. */
export function chosen(context: FlowContext, here: PlacedNode, input: Input<'chosen'>): Step {
  const { phase } = context.state
  if (phase.at === 'deciding' && phase.request_id === input.request_id) {
    const choice = phase.choices.find(candidate => candidate.choice_id === input.choice_id)
    const step = choice === undefined ? undefined : takeChoice(context, here, choice)
    return step ?? otherwise(context, here, phase.fallback)
  }
  if (phase.at !== 'conversing' || phase.speech?.request_id !== input.request_id) return WAIT
  const choice = phase.speech.choices.find(candidate => candidate.choice_id === input.choice_id)
  return (choice === undefined ? undefined : takeChoice(context, here, choice)) ?? WAIT
}

/** The answer to a request of the node, or of an action that the model called. An answer that nothing waits for is ignored. */
export function answered(
  context: FlowContext,
  here: PlacedNode,
  input: NodeAnswer & { readonly request_id: string },
): Step {
  const { phase } = context.state
  if (phase.at === 'filling_in' && phase.request_id === input.request_id && input.type === 'inferred')
    return isObject(input.value) ? runNodeAction(context, here, phase, input.value) : actionFailed(context, here)
  if (phase.at !== 'requesting' || phase.request_id !== input.request_id || phase.answer !== input.type) return WAIT
  const { node } = here
  if (phase.tool === null)
    return takeNodeStep(context, here, nodeTypeOf(node).answer?.(node, input, context.view) ?? LEAVE_NODE)
  const action = context.graph.action(phase.tool)
  if (action === undefined) return WAIT
  return takeToolAnswer(context, here, actionKindOf(action).answer?.(action, input) ?? { next: 'listen' })
}

/** The result of an action sets its variables wherever the conversation is now; the node that waits for it is left. */
export function actionResult(context: FlowContext, here: PlacedNode, input: Input<'action_result'>): Step {
  const { state } = context
  if (!Object.hasOwn(state.pending, input.request_id)) return WAIT
  const { action_id, prompt_id } = state.pending[input.request_id]!
  delete state.pending[input.request_id]
  state.actionOutcome = input.outcome
  const action = context.graph.effectAction(action_id)
  if (action !== undefined && input.outcome === 'succeeded') setAnswerVariables(context, action, input.body)
  if (prompt_id === null)
    return state.phase.at === 'acting' && state.phase.request_id === input.request_id
      ? takeNodeStep(context, here, nodeTypeOf(here.node).afterAction?.(here.node, input.outcome) ?? LEAVE_NODE)
      : WAIT
  return toolDone(context, here, prompt_id, action?.speak_after_execution ?? true)
}

/** Lets the model speak about a tool's result; while the agent says something newer, the result waits until it ends. */
function toolDone(context: FlowContext, here: PlacedNode, promptId: string, speaks: boolean): Step {
  const { phase } = context.state
  const speech = phase.at === 'conversing' ? phase.speech : null
  if (phase.at === 'conversing' && (speech === null || speech.request_id === promptId)) {
    // The model gets the results of all calls of one answer together.
    if (hasPendingTool(context, promptId)) return WAIT
    return afterResult(context, here, speaks)
  }
  context.state.resultOwed ||= speaks
  return WAIT
}

/** The model called one of the tools of its `prompt`. */
export function toolCall(context: FlowContext, here: PlacedNode, input: Input<'tool_call'>): Step {
  const { state } = context
  const { phase } = state
  if (phase.at !== 'conversing' || phase.speech?.request_id !== input.request_id) return WAIT
  const action = context.graph.action(input.action_id)
  if (action === undefined || !phase.speech.tools.includes(action.action_id)) return WAIT
  const refusal = countUse(context, action.action_id, argumentsOf(input))
  if (refusal !== null) return refuseTool(context, here, input, refusal)
  const step = actionKindOf(action).use(action, argumentsOf(input), context.view)
  return takeToolCall(context, here, action, step, input)
}

/** The model gets the refusal as the result, and speaks without tools. */
function refuseTool(context: FlowContext, here: PlacedNode, input: Input<'tool_call'>, reason: ActionRefusal): Step {
  const { request_id: prompt_id, action_id } = input
  context.emit({ type: 'action_refused', prompt_id, action_id, arguments: argumentsOf(input), reason })
  if (context.state.refusedInTurn >= MAX_REFUSALS) return context.end('error', 'system', 'tool_call_limit')
  if (hasPendingTool(context, prompt_id)) return WAIT
  return converse(context, here, 'tool_result', turnChoices(context, here))
}
