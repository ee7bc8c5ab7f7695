import { actionAuthentication, node, nodeId, stringMap, text, uri, variableName, variableValue } from '@parley/nodes'
import { z } from 'zod'

/** The prompt that applies to every node. */
export const globalPrompt = text(0, 65_536)
export const startSpeaker = z.enum(['agent', 'user'])
/**
 * With `start_speaker` user: silence of the user in ms after which the agent begins. Null: the agent waits without
 * limit.
 */
export const beginAfterUserSilenceMs = z.int().min(0).max(60_000).nullable()
/** Initial values of variables. */
export const variableDefaults = stringMap(variableName, variableValue)

const startNodeId = nodeId.nullable().default(null)
const nodes = z.array(node).max(500).default([])

/** A sub-flow, executed by nodes of type component. */
export const component = z
  .strictObject({ component_id: nodeId, name: text(0, 256).default(''), start_node_id: startNodeId, nodes })
  .meta({ id: 'Component' })

/** An MCP server (streamable HTTP) whose tools nodes and actions call. `auth` adds a header from a secret of kind http_auth. */
const mcpServer = z
  .strictObject({
    id: text(1, 256),
    name: text(0, 256).default(''),
    url: uri(2048, ['https', 'http']),
    headers: stringMap(text(1, 256), text(0, 8192), 50).default({}),
    query_params: stringMap(text(1, 256), text(0, 8192), 50).default({}),
    timeout_ms: z.int().min(1000).max(600_000).default(120_000),
    auth: actionAuthentication.nullable().default(null),
  })
  .meta({ id: 'McpServer' })

const mcpServers = z.array(mcpServer).max(20)

export const flow = z
  .strictObject({
    global_prompt: globalPrompt.default(''),
    start_node_id: startNodeId,
    start_speaker: startSpeaker.default('agent'),
    begin_after_user_silence_ms: beginAfterUserSilenceMs.default(null),
    default_dynamic_variables: variableDefaults.default({}),
    nodes,
    components: z.array(component).max(50).default([]),
    mcps: mcpServers.optional(),
    /** True: on each turn the model may also go to any other node that converses, as the conversation wants it. */
    flex_mode: z.boolean().optional(),
  })
  .meta({ id: 'Flow' })
