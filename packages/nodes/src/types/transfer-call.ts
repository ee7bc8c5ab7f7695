import { z } from 'zod'
import { defineAction } from '../action-kind.ts'
import { silentInstruction } from '../findings.ts'
import { defineNode } from '../node-type.ts'
import { edgeSlot } from '../parts/edge.ts'
import { executionMessageFields } from '../parts/execution-message.ts'
import { type Instruction, instruction } from '../parts/instruction.ts'
import { objectSchema } from '../parts/json-schema.ts'
import { transferFields, transferFindings, transferImportWarnings } from '../parts/transfer.ts'
import type { NodeRequest } from '../requests.ts'
import type { ConversationView, NodeStep } from '../steps.ts'

const MAX_DESTINATION = 256

const FAILED: NodeStep = { next: 'fail', slot: 'edge' }

/** As a tool: the model names the destination in its call where it is inferred, and speaks on when the transfer failed. */
const transferTool = defineAction({
  kind: 'transfer_call',
  exportType: 'transfer_call',
  fields: { ...transferFields, ...executionMessageFields },
  isPhoneOnly: true,
  parameters: ({ transfer_destination: to }) =>
    to.type === 'inferred'
      ? objectSchema({ destination: { type: 'string', description: to.prompt } }, ['destination'])
      : objectSchema({}, []),
  use: (action, args, view) => {
    const to = action.transfer_destination
    const destination = to.type === 'predefined' ? view.render(to.number) : args.destination
    const request = transferRequest(destination, action.custom_sip_headers, view)
    return request === null ? { next: 'result', result: 'failed' } : { next: 'request', request, result: null }
  },
  answer: (_, answer) =>
    answer.type === 'transfer_result' && answer.outcome === 'taken'
      ? { next: 'end', outcome: 'transferred' }
      : { next: 'speak', actionOutcome: 'failed' },
  check: action => transferFindings(action, fields => ({ ...action, ...fields })),
  importWarnings: transferImportWarnings,
})

/** Transfers the caller by REFER, after its words where it has any. Where the transfer failed the node is left by `edge`. */
export const transferCall = defineNode({
  type: 'transfer_call',
  fields: {
    ...transferFields,
    edge: edgeSlot,
    /** Said before the transfer where `speak_during_execution` is true. */
    instruction: instruction.nullable().optional(),
    speak_during_execution: z.boolean().optional(),
  },
  isEnding: true,
  enter: (node, view) => {
    const to = node.transfer_destination
    if (to.type === 'predefined') return transfer(node, view.render(to.number), view)
    return {
      next: 'request',
      request: {
        type: 'infer',
        purpose: 'transfer_destination',
        prompt: view.render(to.prompt),
        schema: { type: 'string', maxLength: MAX_DESTINATION },
        model: node.model_choice,
      },
    }
  },
  answer: (node, answer, view) => {
    if (answer.type === 'inferred') return transfer(node, answer.value, view)
    if (answer.type === 'transfer_result' && answer.outcome === 'taken') return { next: 'end', outcome: 'transferred' }
    return { next: 'fail', slot: 'edge', actionOutcome: 'failed' }
  },
  check: node => [
    ...transferFindings(node, fields => ({ ...node, ...fields })),
    ...silentInstruction(node),
    ...(node.edge !== null
      ? []
      : [
          {
            severity: 'error' as const,
            code: 'edge_dangling' as const,
            path: ['edge'],
            message: `The transfer "${node.id}" has no edge for a transfer that fails: add its failure edge`,
            fixes: [
              { fix: 'add_edge_to_end' as const, slot: 'edge' as const, edgeId: 'failed', prompt: 'Transfer failed' },
            ],
          },
        ]),
  ],
  importWarnings: transferImportWarnings,
  action: transferTool,
})

interface TransferNode {
  readonly custom_sip_headers: Readonly<Record<string, string>>
  readonly instruction?: Instruction | null | undefined
  readonly speak_during_execution?: boolean | undefined
}

function transfer(node: TransferNode, destination: unknown, view: ConversationView): NodeStep {
  const request = transferRequest(destination, node.custom_sip_headers, view)
  if (request === null) return FAILED
  return {
    next: 'request',
    request,
    words: node.speak_during_execution === true ? (node.instruction ?? ANNOUNCEMENT) : null,
  }
}

/** The words before a transfer whose node speaks and says nothing of its own. */
const ANNOUNCEMENT: Instruction = { type: 'prompt', text: 'Say in one short sentence that you transfer the call now.' }

/** Null: `value` is no destination, or the channel is not the phone. */
function transferRequest(
  value: unknown,
  headers: Readonly<Record<string, string>>,
  view: ConversationView,
): NodeRequest | null {
  const destination = typeof value === 'string' ? value.trim() : ''
  if (destination === '' || destination.length > MAX_DESTINATION || view.channel !== 'phone') return null
  const custom_sip_headers = Object.fromEntries(
    // A header's value is one line, whatever a variable holds.
    Object.entries(headers).map(([name, value]) => [name, view.render(value).replace(/[^\x20-\x7e]/g, ' ')]),
  )
  return { type: 'transfer', destination, custom_sip_headers }
}
