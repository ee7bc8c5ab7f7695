import { type Action, actionKindOf, type Instruction, nodeTypeOf, wordsBesideCall } from '@parley/nodes'
import { conversationExamples } from './examples.ts'
import { type FlowContext, type Step, WAIT } from './flow-context.ts'
import type { PlacedNode } from './graph.ts'
import type { Choice, PromptReason, ToolSpec } from './protocol.ts'

const NOTHING_TO_SAY: Instruction = { type: 'prompt', text: '' }

/** Asks the model to speak in the node and waits for the caller. */
export function converse(
  context: FlowContext,
  here: PlacedNode,
  reason: PromptReason,
  choices: readonly Choice[],
): Step {
  // A model that repeats its calls must speak.
  const tools = context.state.refusedInTurn > 0 ? [] : toolsOf(context, here)
  const request_id = prompt(context, here, reason, instructionOf(here), choices, tools, false)
  context.state.phase = {
    at: 'conversing',
    speech: { request_id, choices, tools: tools.map(tool => tool.action_id) },
  }
  return WAIT
}

/** Speaks a static text word for word, or lets the model speak by a prompt. Returns the request id. */
export function speak(
  context: FlowContext,
  here: PlacedNode,
  instruction: Instruction,
  reason: PromptReason,
  isLast = false,
): string {
  if (instruction.type === 'prompt') return prompt(context, here, reason, instruction, [], [], isLast)
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
  isLast: boolean,
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
    isLast,
    model: here.node.model_choice,
  })
  return request_id
}

function instructionOf({ node }: PlacedNode): Instruction {
  const instruction = nodeTypeOf(node).conversing?.(node).instruction ?? NOTHING_TO_SAY
  const examples =
    'finetune_conversation_examples' in node ? conversationExamples(node.finetune_conversation_examples) : ''
  return examples === '' ? instruction : { ...instruction, text: instruction.text + examples }
}

function toolsOf(context: FlowContext, { node }: PlacedNode): ToolSpec[] {
  const ids = nodeTypeOf(node).conversing?.(node).tools ?? []
  return ids.flatMap(id => {
    const action = context.graph.action(id)
    return action !== undefined && worksHere(context, action) ? [toolSpec(context, action)] : []
  })
}

/** Whether the action can run on the channel of this conversation. */
export function worksHere(context: FlowContext, action: Action): boolean {
  const { isPhoneOnly = false } = actionKindOf(action)
  if (isPhoneOnly && context.mode.channel !== 'phone') return false
  return action.channels.includes(context.mode.channel)
}

/** The action as the model sees it. */
function toolSpec(context: FlowContext, action: Action): ToolSpec {
  const { action_id, name } = action
  const description = [action.description, context.render(wordsBesideCall(action))]
    .filter(part => part !== '')
    .join('\n')
  return { action_id, name, description, parameters: actionKindOf(action).parameters(action) }
}
