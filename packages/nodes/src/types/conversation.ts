import { bareNode, defineNode, type ImportedNode, type JsonObject } from '../node-type.ts'
import { converse, conversingFields, missingTools, toolFields } from '../parts/conversing.ts'
import { warnTypingSound } from '../parts/typing-sound.ts'

/** The agent speaks by its instruction and answers the caller until an edge leads on. */
export const conversation = defineNode({
  type: 'conversation',
  fields: { ...conversingFields, ...toolFields },
  enter: converse,
  conversing: node => ({ ...node, tools: node.tool_ids ?? [] }),
  actionIds: node => node.tool_ids ?? [],
  exportDefinesTools: true,
  check: (node, draft) => [...warnTypingSound(node), ...missingTools(node, draft)],
  importNode: withSkipEdge,
})

/** Older exports mark a node that does not wait for the caller with `skip_response`: its one edge is then the skip-response edge. */
function withSkipEdge(source: JsonObject): ImportedNode {
  const { skip_response: skips, edges, ...rest } = source
  const isOlder = skips === true && source.skip_response_edge === undefined
  const [only] = isOlder && Array.isArray(edges) && edges.length === 1 ? edges : []
  if (only === undefined) return { node: source, warnings: [] }
  const message = 'The node does not wait for the caller: its only edge is imported as `skip_response_edge`'
  return {
    node: { ...rest, edges: [], skip_response_edge: only },
    warnings: [{ code: 'field_ignored', field: 'skip_response', message }],
  }
}

/** A conversation node without edges. */
export function newConversationNode(id: string, prompt: string) {
  return {
    ...bareNode(id),
    type: 'conversation' as const,
    instruction: { type: 'prompt' as const, text: prompt },
    edges: [],
    always_edge: null,
    skip_response_edge: null,
    else_edge: null,
    interruption_sensitivity: null,
    responsiveness: null,
    voice_speed: null,
    reminder_trigger_ms: null,
    reminder_max_count: null,
    allow_dtmf_interruption: null,
  }
}
