import type { Action } from '../plan/action.ts'
import type { Instruction } from '../plan/instruction.ts'
import { type FlowContext, type Step, WAIT } from './flow-context.ts'
import type { PlacedNode } from './graph.ts'
import type { Choice, PromptReason, ToolSpec } from './protocol.ts'
import { toolSpec } from './tools.ts'

const NOTHING_TO_SAY: Instruction = { type: 'prompt', text: '' }

/** Asks the model to speak in the node and waits for the caller. */
export function converse(
  context: FlowContext,
  here: PlacedNode,
  reason: PromptReason,
  choices: readonly Choice[],
): Step {
  const tools = toolsOf(context, here)
  const request_id = prompt(context, here, reason, instructionOf(here), choices, tools)
  context.state.phase = {
    at: 'conversing',
    speech: { request_id, choices, tools: tools.map(tool => tool.action_id) },
  }
  return WAIT
}

/** Static text word for word, else what the model makes of it. */
export function speak(context: FlowContext, here: PlacedNode, instruction: Instruction, reason: PromptReason): string {
  if (instruction.type === 'prompt') return prompt(context, here, reason, instruction, [], [])
  const request_id = context.requestId()
  context.emit({ type: 'say', request_id, node_id: here.address, text: context.render(instruction.text) })
  return request_id
}

function prompt(
  context: FlowContext,
  here: PlacedNode,
  reason: PromptReason,
  instruction: Instruction,
  choices: readonly Choice[],
  tools: readonly ToolSpec[],
): string {
  const request_id = context.requestId()
  context.state.resultOwed = false
  context.emit({
    type: 'prompt',
    request_id,
    node_id: here.address,
    reason,
    global_prompt: context.render(context.graph.plan.flow.global_prompt),
    instruction: { type: instruction.type, text: context.render(instruction.text) },
    choices,
    tools,
    model: here.node.model_choice,
  })
  return request_id
}

function instructionOf({ node }: PlacedNode): Instruction {
  return node.type === 'conversation' || node.type === 'subagent' ? node.instruction : NOTHING_TO_SAY
}

function toolsOf(context: FlowContext, { node }: PlacedNode): ToolSpec[] {
  if (node.type !== 'subagent') return []
  return node.tool_ids.flatMap(id => {
    const action = context.graph.action(id)
    return action !== undefined && worksHere(context, action) ? [toolSpec(action)] : []
  })
}

/** Whether the action is for the channel, and the engine can do it. */
export function worksHere(context: FlowContext, action: Action): boolean {
  if (action.kind === 'agent_swap' || action.kind === 'send_sms') return false
  if ((action.kind === 'transfer_call' || action.kind === 'press_digit') && context.mode.channel !== 'phone')
    return false
  return action.channels.includes(context.mode.channel)
}
