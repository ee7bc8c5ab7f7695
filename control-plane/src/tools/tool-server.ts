import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import {
  CallToolRequestSchema,
  ErrorCode,
  ListToolsRequestSchema,
  type ListToolsResult,
  McpError,
} from '@modelcontextprotocol/sdk/types.js'
import { API_VERSION } from '@parley/contract'
import type { Answer } from '../pipeline/answer.ts'
import type { Caller } from '../pipeline/caller.ts'
import type { Route } from '../pipeline/route.ts'
import { LARGE_BODY_BYTES } from '../reading/large-body.ts'
import { StandIn } from './stand-in.ts'
import { toolResult } from './tool-call.ts'
import type { ToolList } from './tool-list.ts'

/** One message of a client, and how its tool call is done. */
export interface ToolMessage {
  /** A JSON-RPC message, parsed. */
  readonly body: unknown
  /** The fields of the request's head that the protocol looks at. */
  readonly headers: Readonly<Record<string, string>>
  readonly caller: Caller
  readonly call: (route: Route, given: Readonly<Record<string, unknown>>) => Promise<Answer>
}

export interface ToolReply {
  readonly status: number
  /** JSON text; null: no body. */
  readonly text: string | null
}

/**
 * Answers one message of the Model Context Protocol (streamable HTTP, stateless, JSON answers). Without sessions there is
 * nothing to remember between messages, so each has a server of its own.
 */
export async function answerToolMessage(tools: ToolList, message: ToolMessage): Promise<ToolReply> {
  const server = new Server({ name: 'parley', version: API_VERSION }, { capabilities: { tools: {} } })
  const standIn = new StandIn()
  const listed = tools.seenBy(message.caller.principal.role) as unknown as ListToolsResult['tools']
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: listed }))
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const route = tools.routeOf(params.name)
    if (route === null) throw new McpError(ErrorCode.InvalidParams, 'there is no tool of that name')
    const answer = await message.call(route, params.arguments ?? {})
    return toolResult(answer.text.length > LARGE_BODY_BYTES ? standIn.keep(answer) : answer)
  })
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  // What it reports here, it also answers.
  server.onerror = () => {}
  try {
    await server.connect(transport)
    const request = new Request('http://parley.invalid/mcp', { method: 'POST', headers: message.headers })
    const response = await transport.handleRequest(request, { parsedBody: message.body })
    const text = standIn.giveBack(await response.text())
    return { status: response.status, text: text === '' ? null : text }
  } finally {
    await server.close()
  }
}
