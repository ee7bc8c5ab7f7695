import { z } from 'zod'
import { defineAction } from '../action-kind.ts'
import { notExecutedUnless } from '../findings.ts'
import { defineNode } from '../node-type.ts'
import { edgeSlot, edges } from '../parts/edge.ts'
import { transitionExamples } from '../parts/examples.ts'
import { type Instruction, instruction } from '../parts/instruction.ts'
import { type JsonSchema, objectSchema } from '../parts/json-schema.ts'
import type { NodeRequest } from '../requests.ts'
import { LEAVE_NODE, type NodeStep } from '../steps.ts'
import type { ModelRef } from '../values/references.ts'

const MAX_DIGITS = 64
const DIGITS: JsonSchema = { type: 'string', pattern: '^[0-9*#w]{1,64}$' }
const delay_ms = z.int().min(0).max(10_000).default(1000)

/** As a tool: the model names the digits in its call. */
const pressTool = defineAction({
  kind: 'press_digit',
  exportType: 'press_digit',
  fields: { instruction: instruction.nullable().default(null), delay_ms },
  isPhoneOnly: true,
  check: action =>
    action.instruction === null
      ? []
      : [
          notExecutedUnless(['instruction'], "the model chooses the digits by the action's description", {
            ...action,
            instruction: null,
          }),
        ],
  parameters: () => objectSchema({ digits: DIGITS }, ['digits']),
  use: (action, args) => {
    const request = pressRequest(args.digits, action.delay_ms)
    return request === null ? { next: 'ignore' } : { next: 'request', request, result: 'done' }
  },
})

/**
 * Sends DTMF digits to a phone menu. The far end is a machine: the agent neither reminds nor answers it, and its next turn
 * may fulfil the condition of an edge.
 */
export const pressDigit = defineNode({
  type: 'press_digit',
  fields: { instruction, delay_ms, edges, else_edge: edgeSlot, ...transitionExamples },
  remindsCaller: false,
  enter: (node, view) => {
    if (view.channel !== 'phone') return LEAVE_NODE
    const prompt = view.render(node.instruction.text)
    return node.instruction.type === 'prompt' ? inferDigits(node, prompt) : press(prompt, node.delay_ms)
  },
  answer: (node, answer) => (answer.type === 'inferred' ? press(answer.value, node.delay_ms) : { next: 'listen' }),
  resume: () => ({ next: 'listen' }),
  stuck: (node, view) =>
    node.instruction.type === 'prompt' && view.channel === 'phone'
      ? inferDigits(node, view.render(node.instruction.text))
      : { next: 'listen' },
  check: node =>
    node.instruction.type === 'prompt' || canBePressed(node.instruction.text)
      ? []
      : [
          {
            severity: 'error',
            code: 'draft_malformed',
            path: ['instruction', 'text'],
            message:
              'Only 0-9, *, #, w (a pause of 500 ms) and variables can be pressed; for anything else use a prompt',
            fixes: [
              {
                fix: 'put',
                label: 'Let the model choose the digits by this text',
                part: { ...node, instruction: asPrompt(node.instruction) },
              },
            ],
          },
        ],
  action: pressTool,
})

function inferDigits(node: { readonly model_choice: ModelRef | null }, prompt: string): NodeStep {
  return {
    next: 'request',
    request: { type: 'infer', purpose: 'digits', prompt, schema: DIGITS, model: node.model_choice },
  }
}

function press(digits: unknown, delay: number): NodeStep {
  const request = pressRequest(digits, delay)
  return request === null ? { next: 'listen' } : { next: 'request', request }
}

/** Null: `value` holds no digit. */
function pressRequest(value: unknown, delay: number): NodeRequest | null {
  const digits = typeof value === 'string' ? value.replace(/[^0-9*#w]/g, '').slice(0, MAX_DIGITS) : ''
  return digits === '' ? null : { type: 'press_digits', digits, delay_ms: delay }
}

/** Whether a fixed text can be pressed; the values of its variables are known on the call only. */
function canBePressed(text: string): boolean {
  const fixed = text.replace(/\{\{[^{}]*\}\}/g, '')
  return /^[0-9*#w]*$/.test(fixed) && text.length > 0
}

function asPrompt({ text }: Instruction): Instruction {
  return { type: 'prompt', text }
}
