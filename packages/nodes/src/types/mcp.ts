import { z } from 'zod'
import { defineAction } from '../action-kind.ts'
import { notExecuted } from '../findings.ts'
import { defineNode } from '../node-type.ts'
import {
  effectNodeFields,
  effectNodeFindings,
  ownActionFields,
  responseVariables,
  resultFields,
  runOwnAction,
} from '../parts/effect.ts'
import { warnTypingSound } from '../parts/typing-sound.ts'
import { jsonObject } from '../values/json.ts'
import { text } from '../values/text.ts'
import { openParameters } from './http-action.ts'

/** Id of a server in the flow's list `mcps`. */
const mcp_id = text(1, 256)
const toolName = text(1, 256)
const timeout_ms = z.int().min(1000).max(600_000).optional()

/** Calls a tool of an MCP server as a tool. Only tools that an action or a node names are ever called. */
const mcpAction = defineAction({
  kind: 'mcp',
  exportType: 'mcp',
  fields: {
    mcp_id,
    /** Name of the tool on the server. Default: the action's name. */
    mcp_tool_name: toolName.optional(),
    /** JSON Schema, of an object, for the arguments. */
    parameters: jsonObject.default({}),
    /** Default: the server's. */
    timeout_ms,
    ...resultFields,
  },
  exportPaths: { parameters: ['input_schema'] },
  parameters: openParameters,
  use: () => ({ next: 'run_action' }),
  variableNames: action => Object.keys(action.response_variables),
  check: warnTypingSound,
})

/** Calls a tool of an MCP server, whose arguments the model infers. */
export const mcpNode = defineNode({
  type: 'mcp',
  fields: {
    mcp_id,
    mcp_tool_name: toolName,
    /** JSON Schema, of an object, for the arguments that the model infers. Default: no arguments. */
    parameters: jsonObject.optional(),
    timeout_ms,
    response_variables: responseVariables,
    ...effectNodeFields,
  },
  enter: runOwnAction,
  ownAction: node => ({
    ...ownActionFields(node),
    kind: mcpAction.kind,
    mcp_id: node.mcp_id,
    mcp_tool_name: node.mcp_tool_name,
    parameters: node.parameters ?? {},
    timeout_ms: node.timeout_ms,
    response_variables: node.response_variables,
  }),
  variableNames: node => Object.keys(node.response_variables),
  check: (node, draft) => [
    ...effectNodeFindings(node),
    ...(draft.hasMcpServer(node.mcp_id)
      ? []
      : [notExecuted(['mcp_id'], 'the flow has no MCP server of this id, so the call fails', [])]),
  ],
  action: mcpAction,
})

export type McpAction = z.output<typeof mcpAction.schema>
