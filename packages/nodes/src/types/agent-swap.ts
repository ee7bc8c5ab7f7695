import { z } from 'zod'
import { defineAction } from '../action-kind.ts'
import { type ImportWarning, notExecuted, type PartFinding, silentInstruction } from '../findings.ts'
import { defineNode, type JsonObject } from '../node-type.ts'
import { edgeSlot } from '../parts/edge.ts'
import { executionMessageFields } from '../parts/execution-message.ts'
import { type Instruction, instruction } from '../parts/instruction.ts'
import { objectSchema } from '../parts/json-schema.ts'
import type { NodeRequest } from '../requests.ts'
import type { ConversationView, NodeStep } from '../steps.ts'
import { type Json, json } from '../values/json.ts'
import { text } from '../values/text.ts'

/** The fields of a swap in a node or an action. */
const swapFields = {
  /** The agent that continues the conversation; variables are filled in. */
  agent_id: text(0, 256).default(''),
  /** A version of it; default, and for anything but a whole number: its head. */
  agent_version: json.optional(),
  /** Default false: the agent's own voice. */
  keep_current_voice: z.boolean().optional(),
  /** Default false: the agent's own language. */
  keep_current_language: z.boolean().optional(),
  post_call_analysis_setting: json.optional(),
  webhook_setting: json.optional(),
}

const swapSchema = z.object(swapFields)
type Swap = Pick<z.output<typeof swapSchema>, 'agent_id'> & Partial<z.output<typeof swapSchema>>

const FAILED: NodeStep = { next: 'fail', slot: 'edge', actionOutcome: 'failed' }

/** The words before a swap whose node speaks and says nothing of its own. */
const ANNOUNCEMENT: Instruction = { type: 'prompt', text: 'Say in one short sentence that a colleague takes over now.' }

/** As a tool: the model hands the conversation over, and speaks on when that failed. */
const swapTool = defineAction({
  kind: 'agent_swap',
  exportType: 'agent_swap',
  fields: { ...swapFields, ...executionMessageFields },
  parameters: () => objectSchema({}, []),
  use: (action, _, view) => {
    const request = swapRequest(action, view)
    return request === null ? { next: 'result', result: 'failed' } : { next: 'request', request, result: null }
  },
  answer: (_, answer) =>
    answer.type === 'transfer_result' && answer.outcome === 'taken'
      ? { next: 'end', outcome: 'transferred' }
      : { next: 'speak', actionOutcome: 'failed' },
  check: swapFindings,
  importWarnings,
})

/**
 * Hands the conversation to another agent, which continues it in a run of its own; the words of the node come first where it has any. Where no
 * agent takes over, the node is left by `edge`.
 */
export const agentSwap = defineNode({
  type: 'agent_swap',
  fields: {
    ...swapFields,
    /** Said before the swap where `speak_during_execution` is true. */
    instruction: instruction.nullable().optional(),
    speak_during_execution: z.boolean().optional(),
    edge: edgeSlot,
  },
  isEnding: true,
  enter: (node, view) => {
    const request = swapRequest(node, view)
    if (request === null) return FAILED
    const words = node.speak_during_execution === true ? (node.instruction ?? ANNOUNCEMENT) : null
    return { next: 'request', request, words }
  },
  answer: (_, answer) =>
    answer.type === 'transfer_result' && answer.outcome === 'taken' ? { next: 'end', outcome: 'transferred' } : FAILED,
  check: node => [...swapFindings(node), ...silentInstruction(node), ...(node.edge !== null ? [] : [NO_FAILURE_EDGE])],
  importWarnings,
  action: swapTool,
})

const NO_FAILURE_EDGE: PartFinding<never> = {
  severity: 'warning',
  code: 'edge_dangling',
  path: ['edge'],
  message: 'The node has no edge for a swap that fails, and waits for the caller then: add its failure edge',
  fixes: [{ fix: 'add_edge_to_end', slot: 'edge', edgeId: 'failed', prompt: 'Swap failed' }],
}

function importWarnings({ agent_id }: JsonObject): ImportWarning[] {
  if (typeof agent_id !== 'string' || agent_id === '') return []
  const message =
    'The agent is looked up in this environment when the call is handed over: an id of another platform names none here'
  return [{ code: 'unsupported_capability', field: 'agent_id', message }]
}

function swapFindings(swap: Swap): PartFinding<never>[] {
  const findings: PartFinding<never>[] = []
  if (swap.agent_id.trim() === '')
    findings.push(notExecuted(['agent_id'], 'no agent is named, so that the swap fails', []))
  for (const name of ['post_call_analysis_setting', 'webhook_setting'] as const)
    if (swap[name] !== undefined && swap[name] !== null)
      findings.push(notExecuted([name], 'each run is analysed and reported as its own agent says'))
  return findings
}

/** Null: no agent is named. */
function swapRequest(swap: Swap, view: ConversationView): NodeRequest | null {
  const agent_id = view.render(swap.agent_id).trim()
  if (agent_id === '') return null
  const { keep_current_voice = false, keep_current_language = false } = swap
  return {
    type: 'swap_agent',
    agent_id,
    agent_version: versionOf(swap.agent_version),
    keep_current_voice,
    keep_current_language,
  }
}

/** Versions are whole numbers; exports have them also as text, or name the latest. */
function versionOf(value: Json | undefined): number | null {
  const version = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value
  return typeof version === 'number' && Number.isSafeInteger(version) && version >= 0 ? version : null
}
