import { ANSWER_TO, edgeIn, type Instruction, type NodeRequest, type NodeStep } from '@parley/nodes'
import { beginConversing } from './conversing.ts'
import { setVariables, startNodeAction } from './effects.ts'
import { type FlowContext, LEAVE, type Step, WAIT } from './flow-context.ts'
import type { PlacedNode } from './graph.ts'
import { speak } from './speech.ts'
import type { Finishing } from './state.ts'
import { follow } from './transitions.ts'

/** Carries out what the node does next. */
export function takeNodeStep(context: FlowContext, here: PlacedNode, step: NodeStep): Step {
  switch (step.next) {
    case 'leave':
      if (step.variables !== undefined) setVariables(context, 'extract', step.variables)
      return LEAVE
    case 'fail': {
      if (step.actionOutcome !== undefined) context.state.actionOutcome = step.actionOutcome
      const edge = edgeIn(here.node, step.slot)
      return (edge === null ? undefined : follow(context, here, edge, 'failure')) ?? LEAVE
    }
    case 'take': {
      const edge = edgeIn(here.node, step.slot)
      return (edge === null ? undefined : follow(context, here, edge)) ?? LEAVE
    }
    case 'converse':
      return beginConversing(context, here)
    case 'listen':
      return listen(context)
    case 'request':
      if (step.words != null) return announce(context, here, step.words, step.request)
      return request(context, here, step.request, null)
    case 'run_action':
      if (step.words !== null) context.state.speechDuring = speak(context, here, step.words, 'during_execution')
      return startNodeAction(context, here, step)
    case 'call_component':
      return callComponent(context, here, step.componentId)
    case 'return':
      return step.words === null ? endOfFlow(context) : finish(context, here, step.words, 'end')
    case 'end':
      return context.end(step.outcome, 'agent')
  }
}

/** Waits for the far end's next turn. */
export function listen(context: FlowContext): Step {
  context.state.phase = { at: 'conversing', speech: null }
  return WAIT
}

/** Makes the request and waits for its answer. `tool`: the id of the action that the model called; null: the node's own. */
export function request(context: FlowContext, here: PlacedNode, nodeRequest: NodeRequest, tool: string | null): Step {
  const request_id = context.requestId()
  context.emit({ ...nodeRequest, request_id, node_id: here.address, action_id: tool })
  context.state.phase = { at: 'requesting', request_id, answer: ANSWER_TO[nodeRequest.type], tool }
  return WAIT
}

/** Says the words; the request is made when they are spoken. */
function announce(context: FlowContext, here: PlacedNode, words: Instruction, nodeRequest: NodeRequest): Step {
  const request_id = speak(context, here, words, 'during_execution')
  context.state.phase = { at: 'announcing', request_id, request: nodeRequest }
  return WAIT
}

/** Says last words; when they are spoken, the flow or component ends or the agent hangs up, by `next`. */
export function finish(context: FlowContext, here: PlacedNode, words: Instruction, next: 'end' | 'hang_up'): Step {
  const request_id = speak(context, here, words, 'enter', next === 'end')
  context.state.phase = { at: 'finishing', request_id, next, words }
  return WAIT
}

/** The caller speaks, and nothing was heard of last words: they are said once more when the caller's turn is over. Undefined: not again. */
export function postpone(context: FlowContext, here: PlacedNode, phase: Finishing): Step | undefined {
  if (phase.words === undefined) return undefined
  if (phase.isAfterTurn) return finishAgain(context, here, phase)
  context.state.phase = { ...phase, isDue: true }
  return WAIT
}

/** Says last words that are due, and no third time. */
export function finishAgain(context: FlowContext, here: PlacedNode, { words, next }: Finishing): Step {
  const request_id = speak(context, here, words!, 'enter', next === 'end')
  context.state.phase = { at: 'finishing', request_id, next }
  return WAIT
}

/** Ends the component and returns to the node that called it; in the main flow ends the conversation. */
export function endOfFlow(context: FlowContext): Step {
  const calls = context.calls()
  const caller = calls.at(-1)
  const to = caller === undefined ? undefined : context.graph.node(caller)
  if (to === undefined) return context.end('completed', 'agent')
  const detours = context.state.detours.filter(detour => detour.depth < calls.length)
  return { next: 'enter', to, calls: calls.slice(0, -1), edgeId: null, cause: 'return', detours, isReturn: true }
}

function callComponent(context: FlowContext, here: PlacedNode, componentId: string): Step {
  const to = context.graph.start(componentId)
  if (to === undefined) return LEAVE
  const calls = [...context.calls(), here.address]
  return { next: 'enter', to, calls, edgeId: null, cause: 'start', detours: context.state.detours, isReturn: false }
}
