import { z } from 'zod'
import { nodeId, text, variableName } from './names.ts'
import { node } from './node.ts'

const nodes = z.array(node).max(500).default([])

export const component = z.strictObject({
  component_id: nodeId,
  name: text(0, 256).default(''),
  start_node_id: text(0, 256).nullable().default(null),
  nodes,
})

export const flow = z.strictObject({
  global_prompt: text(0, 65536).default(''),
  start_node_id: text(0, 256).nullable().default(null),
  start_speaker: z.enum(['agent', 'user']).default('agent'),
  /** With `start_speaker` user: how long the agent waits before it begins itself. Null waits for ever. */
  begin_after_user_silence_ms: z.int().min(0).max(60_000).nullable().default(null),
  default_dynamic_variables: z.record(variableName, text(0, 8192)).default({}),
  nodes,
  components: z.array(component).max(50).default([]),
})

export type Component = z.output<typeof component>
export type Flow = z.output<typeof flow>
