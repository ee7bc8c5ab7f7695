import { Refusal } from '@parley/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Answer } from '../pipeline/answer.ts'
import type { Admission, Pipeline } from '../pipeline/pipeline.ts'
import type { Route } from '../pipeline/route.ts'
import { LargeBody } from '../reading/large-body.ts'
import { toolInput } from '../tools/tool-call.ts'
import type { ToolList } from '../tools/tool-list.ts'
import { answerToolMessage } from '../tools/tool-server.ts'
import { sendAnswer, setRateLimitHeaders } from './exchange.ts'
import { identify } from './operation-routes.ts'
import { answerTo, refusedRequest } from './request-fault.ts'

interface ToolRoutesOptions {
  readonly tools: ToolList
  readonly pipeline: Pipeline
  /** Origin (`https://host`) from which browsers may call the tools besides loopback; null: none. */
  readonly publicOrigin: string | null
  /** The largest body of any operation. */
  readonly bodyBytes: number
  /** Called after every tool call, for the metrics and the log. */
  readonly onCalled: (request: FastifyRequest, route: Route, answer: Answer, seconds: number) => void
}

/** Maximum size of a JSON-RPC message without the body of the operation, in bytes. */
const MAX_ENVELOPE_BYTES = 65_536
const FORWARDED_HEADERS = ['accept', 'content-type', 'mcp-protocol-version'] as const

/** Serves `/mcp`: the same operations, limits and answers, as tools. */
export function serveTools(app: FastifyInstance, options: ToolRoutesOptions): void {
  const { pipeline, publicOrigin } = options
  const config = { operation: 'mcp' }
  app.route({
    method: 'POST',
    url: '/mcp',
    bodyLimit: options.bodyBytes + MAX_ENVELOPE_BYTES,
    config: { ...config, parsesOffThread: true },
    onRequest: async (request, reply) => {
      const origin = request.headers.origin
      if (origin !== undefined && !isOwnOrigin(origin, publicOrigin))
        return sendAnswer(
          request,
          reply,
          answerTo(
            new Refusal('forbidden', 'requests of this Origin are not allowed: the operator sets the public URL'),
          ),
        )
      return (await identify(request, reply, pipeline)) === null ? reply : undefined
    },
    handler: (request, reply) => answerMessage(request, reply, options),
  })
  // There are no MCP sessions, so there is no stream to open (GET) and no session to end (DELETE).
  app.route({
    method: ['GET', 'DELETE'],
    url: '/mcp',
    config,
    handler: (request, reply) => {
      reply.header('allow', 'POST')
      const answer = answerTo(new Refusal('not_found', 'send messages by POST: there are no MCP sessions'))
      return sendAnswer(request, reply, { ...answer, status: 405 })
    },
  })
}

const NOT_LARGE = { large: null, refused: null }

async function answerMessage(
  request: FastifyRequest,
  reply: FastifyReply,
  { tools, pipeline, onCalled }: ToolRoutesOptions,
): Promise<FastifyReply> {
  const client = request.exchange.client!
  const message = request.body
  const { body, large, refused } =
    message instanceof LargeBody ? await pipeline.split(message, client, request.id) : { ...NOT_LARGE, body: message }
  if (refused !== null) return sendAnswer(request, reply, refused)
  if (Array.isArray(body))
    return sendAnswer(
      request,
      reply,
      answerTo(refusedRequest('send one message at a time', 'body: batches are not supported')),
    )
  const admission = await pipeline.admit(tools.routeOf(calledTool(body)), client, request.id)
  setRateLimitHeaders(reply, admission.rateLimit)
  if (admission.refused !== null && calledTool(body) === null) return sendAnswer(request, reply, admission.refused)

  const call = async (route: Route, args: Readonly<Record<string, unknown>>) => {
    const startedAt = performance.now()
    const answer = await callTool({ request, route, admission, pipeline }, args, large)
    onCalled(request, route, answer, (performance.now() - startedAt) / 1000)
    return answer
  }
  const headers = Object.fromEntries(
    FORWARDED_HEADERS.flatMap(name => {
      const value = request.headers[name]
      return typeof value === 'string' ? [[name, value]] : []
    }),
  )
  const { status, text } = await answerToolMessage(tools, { body, headers, client, call })
  if (text === null) return reply.code(status).send()
  return reply.code(status).header('content-type', 'application/json; charset=utf-8').send(text)
}

interface ToolCall {
  readonly request: FastifyRequest
  readonly route: Route
  readonly admission: Admission
  readonly pipeline: Pipeline
}

async function callTool(
  { request, route, admission, pipeline }: ToolCall,
  args: Readonly<Record<string, unknown>>,
  large: LargeBody | null,
): Promise<Answer> {
  if (admission.refused !== null) return admission.refused
  try {
    const raw = toolInput(route, args, large)
    return await pipeline.perform(route, raw, admission.client!, request.id)
  } catch (error) {
    return answerTo(error)
  }
}

/** The name of the tool that a message calls; null for all other messages. */
function calledTool(body: unknown): string | null {
  if (typeof body !== 'object' || body === null || !('method' in body) || body.method !== 'tools/call') return null
  const params = 'params' in body ? body.params : null
  if (typeof params !== 'object' || params === null || !('name' in params)) return null
  return typeof params.name === 'string' ? params.name : null
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * Whether a web page of this origin may call the tools. The Host header is no evidence: after DNS rebinding, a foreign page
 * sends its own host name in both Host and Origin.
 */
function isOwnOrigin(origin: string, publicOrigin: string | null): boolean {
  if (origin === publicOrigin) return true
  return URL.canParse(origin) && LOOPBACK.has(new URL(origin).hostname)
}
