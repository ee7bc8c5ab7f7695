import { type Action, isEffectAction, isObject, type ToolStep } from '@parley/nodes'
import { sendAction, setVariables } from './effects.ts'
import { type FlowContext, type Step, WAIT } from './flow-context.ts'
import type { PlacedNode } from './graph.ts'
import { finish, listen, request } from './node-steps.ts'
import type { FlowInput } from './protocol.ts'
import { afterResult } from './turn.ts'

type ToolCall = Extract<FlowInput, { type: 'tool_call' }>

/** Carries out what an action does after the model called it. */
export function takeToolCall(
  context: FlowContext,
  here: PlacedNode,
  action: Action,
  step: ToolStep,
  call: ToolCall,
): Step {
  const report = (result: 'done' | 'failed') =>
    context.emit({ type: 'tool_result', prompt_id: call.request_id, action_id: action.action_id, result })
  switch (step.next) {
    case 'ignore':
      return WAIT
    case 'run_action':
      if (isEffectAction(action))
        sendAction(context, here, action, argumentsOf(call), { promptId: call.request_id, waits: true })
      return WAIT
    case 'request':
      if (step.result !== null) report(step.result)
      return request(context, here, step.request, action.action_id)
    case 'result':
      report(step.result)
      if (step.variables !== undefined) setVariables(context, 'extract', step.variables)
      return afterResult(context, here, true)
    case 'hang_up':
      report('done')
      return step.words === null ? context.end('agent_hung_up', 'agent') : finish(context, here, step.words, 'hang_up')
    default:
      return takeToolAnswer(context, here, step)
  }
}

export function argumentsOf(call: ToolCall): Readonly<Record<string, unknown>> {
  return isObject(call.arguments) ? call.arguments : {}
}

/** Carries out what an action does after its request was answered. */
export function takeToolAnswer(context: FlowContext, here: PlacedNode, step: ToolStep): Step {
  switch (step.next) {
    case 'speak':
      context.state.actionOutcome = step.actionOutcome
      return afterResult(context, here, true)
    case 'end':
      return context.end(step.outcome, 'agent')
    default:
      return listen(context)
  }
}
