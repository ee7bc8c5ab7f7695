import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import {
  CallToolRequestSchema,
  ErrorCode,
  JSONRPCRequestSchema,
  ListToolsRequestSchema,
  type ListToolsResult,
  McpError,
} from '@modelcontextprotocol/sdk/types.js'
import { API_VERSION } from '@parley/contract'
import type { Answer } from '../pipeline/answer.ts'
import type { AuthenticatedClient } from '../pipeline/authenticator.ts'
import type { Route } from '../pipeline/route.ts'
import { LARGE_BODY_BYTES } from '../reading/large-body.ts'
import { AnswerPlaceholder } from './answer-placeholder.ts'
import { toolResult } from './tool-call.ts'
import type { ToolList } from './tool-list.ts'

/** One MCP message of a client, and the function that performs its tool call. */
interface ToolMessage {
  /** A JSON-RPC message, parsed. */
  readonly body: unknown
  /** The HTTP headers that MCP uses. */
  readonly headers: Readonly<Record<string, string>>
  readonly client: AuthenticatedClient
  readonly call: (route: Route, args: Readonly<Record<string, unknown>>) => Promise<Answer>
}

interface ToolReply {
  readonly status: number
  /** JSON text; null: no body. */
  readonly text: string | null
}

/** The SDK answers a malformed `tools/call` with -32603, as if the server had failed. */
function malformedCall(body: unknown): ToolReply | null {
  const request = JSONRPCRequestSchema.safeParse(body)
  if (!request.success || request.data.method !== 'tools/call') return null
  const parsed = CallToolRequestSchema.safeParse(body)
  if (parsed.success) return null
  const message = 'params of tools/call are {name, arguments}: name is a string and arguments an object'
  const error = { code: ErrorCode.InvalidParams, message }
  return { status: 200, text: JSON.stringify({ jsonrpc: '2.0', id: request.data.id, error }) }
}

/**
 * Answers one message of the Model Context Protocol (streamable HTTP, stateless, JSON answers). There are no
 * sessions and no state between messages, so each message gets a server of its own.
 */
export async function answerToolMessage(tools: ToolList, message: ToolMessage): Promise<ToolReply> {
  const malformed = malformedCall(message.body)
  if (malformed !== null) return malformed
  const server = new Server({ name: 'parley', version: API_VERSION }, { capabilities: { tools: {} } })
  const placeholder = new AnswerPlaceholder()
  server.setRequestHandler(ListToolsRequestSchema, async () => {
    const listed = await tools.allowedFor(message.client.principal.role)
    return { tools: listed as unknown as ListToolsResult['tools'] }
  })
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const route = tools.routeOf(params.name)
    if (route === null)
      throw new McpError(ErrorCode.InvalidParams, 'no tool has this name: list the tools with tools/list')
    const answer = await message.call(route, params.arguments ?? {})
    return toolResult(answer.text.length > LARGE_BODY_BYTES ? placeholder.substitute(answer) : answer)
  })
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  // The transport also answers every error that it reports here.
  server.onerror = () => {}
  try {
    await server.connect(transport)
    const request = new Request('http://parley.invalid/mcp', { method: 'POST', headers: message.headers })
    const response = await transport.handleRequest(request, { parsedBody: message.body })
    const text = placeholder.restore(await response.text())
    return { status: response.status, text: text === '' ? null : text }
  } finally {
    await server.close()
  }
}
