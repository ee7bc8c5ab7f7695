import { type Conversing, edgeIn, nodeTypeOf } from '@parley/nodes'
import { awaitedDigits } from './expectation.ts'
import { type FlowContext, type Step, TURN, WAIT } from './flow-context.ts'
import type { PlacedNode } from './graph.ts'
import type { NodeTurnSettings } from './protocol.ts'
import { converse, speak } from './speech.ts'
import { byEquation, follow, turnChoices } from './transitions.ts'

/** How the node converses; undefined: its type does not converse. */
export function conversingOf({ node }: PlacedNode): Conversing | undefined {
  return nodeTypeOf(node).conversing?.(node)
}

/** Speaks first, or waits for the caller where the caller opens the conversation. */
export function beginConversing(context: FlowContext, here: PlacedNode): Step {
  collectDigits(context, here)
  if (!context.state.awaitsOpening) return firstWords(context, here)
  context.state.phase = { at: 'opening' }
  context.emit({
    type: 'await_opening',
    node_id: here.address,
    after_ms: context.graph.plan.flow.begin_after_user_silence_ms,
  })
  return WAIT
}

/** The first words of a node: its static text word for word, else words of the model. */
export function firstWords(context: FlowContext, here: PlacedNode): Step {
  const instruction = conversingOf(here)?.instruction
  if (instruction?.type !== 'static_text') return converse(context, here, 'enter', [])
  const request_id = speak(context, here, instruction, 'enter')
  context.state.phase = { at: 'conversing', speech: { request_id, choices: [], tools: [] } }
  return WAIT
}

/** Speaks on in a node that the conversation returned to. */
export function resumeConversing(context: FlowContext, here: PlacedNode): Step {
  collectDigits(context, here)
  return converse(context, here, 'return', [])
}

/** Opens a question that digits may answer. */
export function collectDigits(context: FlowContext, here: PlacedNode): void {
  const { allowUserDtmf, userDtmfOptions: agent } = context.graph.plan.settings
  if (!allowUserDtmf || context.mode.channel !== 'phone') return
  const own = conversingOf(here)?.user_dtmf_options ?? null
  context.emit({
    type: 'collect_digits',
    question: ++context.state.question,
    node_id: here.address,
    digit_limit: own?.digit_limit === undefined ? agent.digitLimit : own.digit_limit,
    termination_key: own?.termination_key === undefined ? agent.terminationKey : own.termination_key,
    timeout_ms: own?.timeout_ms ?? agent.timeoutMs,
    // The options of a node say themselves when its digits are complete.
    answers: own === null ? awaitedDigits(context, here) : null,
  })
}

/** After a speech of the node: takes the skip-response edge, else speaks about an action's result, else waits for the caller. */
export function afterSpeech(context: FlowContext, here: PlacedNode): Step {
  const skip = edgeIn(here.node, 'skip_response_edge')
  if (skip !== null) {
    const step = byEquation(context, here) ?? follow(context, here, skip)
    if (step !== undefined) return step
  }
  if (context.state.resultOwed) return converse(context, here, 'tool_result', turnChoices(context, here))
  return context.mode.hasCaller ? WAIT : TURN
}

/** Turn-taking settings of a node: its own, else the agent's. */
export function turnSettings(context: FlowContext, here: PlacedNode): NodeTurnSettings {
  const agent = context.graph.plan.settings
  const own = conversingOf(here)
  return {
    interruption_sensitivity: own?.interruption_sensitivity ?? agent.interruptionSensitivity,
    responsiveness: own?.responsiveness ?? agent.responsiveness,
    voice_speed: own?.voice_speed ?? agent.voiceSpeed,
    reminder_trigger_ms: own?.reminder_trigger_ms ?? agent.reminderTriggerMs,
    reminder_max_count: own?.reminder_max_count ?? agent.reminderMaxCount,
    allow_dtmf_interruption: own?.allow_dtmf_interruption ?? agent.allowDtmfInterruption,
  }
}
