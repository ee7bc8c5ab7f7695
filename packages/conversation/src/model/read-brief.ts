import type { PromptReason } from '@parley/flow'
import type { GenerationBrief, GenerationRequest } from '@parley/providers'
import { INFERENCE_RULE, REASONS, STEP_HEADS } from './instructions.ts'
import { INFERENCE_TOOLS } from './model-questions.ts'
import { isTransition } from './transition-tools.ts'

type Inference = keyof typeof INFERENCE_TOOLS

/**
 * Reconstructs the brief of a request that arrived without one over a service's API, from its messages and tools, which state
 * it in prose. Works only for requests made by conversations. The language is "multi" when the request does not name it.
 */
export function readBrief({ messages, tools = [], toolChoice = 'auto' }: GenerationRequest): GenerationBrief {
  const system = messages.find(({ role }) => role === 'system')?.content ?? ''
  const language = /^Language: (?:English|(Spanish)), unless/m.exec(system)
  const tag = language === null ? 'multi' : language[1] === undefined ? 'en' : 'es'
  if (typeof toolChoice === 'object') {
    const { name: tool } = toolChoice
    const purpose =
      (Object.keys(INFERENCE_TOOLS) as Inference[]).find(key => INFERENCE_TOOLS[key].tool === tool) ?? 'arguments'
    return { purpose, language: tag, prompt: inferencePromptIn(system), tool }
  }
  const transitions = tools
    .filter(isTransition)
    .map(({ name, description }) => ({ tool: name, condition: description }))
  if (system.includes('You decide how this conversation goes on.'))
    return { purpose: 'decide', language: tag, transitions }
  return { purpose: 'reply', language: tag, ...stepIn(system), transitions }
}

function stepIn(system: string): { readonly instruction: string; readonly reason: string } {
  const reasons = (Object.keys(REASONS) as PromptReason[]).map(key => ({
    reason: key,
    at: system.lastIndexOf(`\n\n${REASONS[key]}`),
  }))
  const { reason, at } = reasons.reduce((last, one) => (one.at > last.at ? one : last))
  if (at === -1) return { instruction: '', reason: 'user_turn' }
  const before = system.slice(0, at)
  const starts = Object.values(STEP_HEADS).map(head => {
    const start = before.lastIndexOf(`\n\n${head}`)
    return start === -1 ? -1 : start + 2 + head.length
  })
  const start = Math.max(...starts)
  return { instruction: start === -1 ? '' : before.slice(start), reason }
}

/** The text between the introduction of an inference and the time of day. */
function inferencePromptIn(system: string): string {
  const start = system.lastIndexOf(`${INFERENCE_RULE}\n\n`)
  const end = system.lastIndexOf('\n\nIt is ')
  return start === -1 || end < start ? '' : system.slice(start + INFERENCE_RULE.length + 2, Math.max(end, 0))
}
