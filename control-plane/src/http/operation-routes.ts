import { fromText, type Operation, type RawInput } from '@parley/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Pipeline } from '../pipeline/pipeline.ts'
import type { Route } from '../pipeline/route.ts'
import { credentialsOf } from './credentials.ts'
import { sendAnswer, setRateLimitHeaders } from './exchange.ts'

/** Serves every operation at its path. An unauthorised request is refused before its body is read. */
export function serveOperations(app: FastifyInstance, routes: readonly Route[], pipeline: Pipeline): void {
  for (const route of routes) {
    const { operation } = route
    app.route({
      method: operation.method,
      url: pathOf(operation),
      bodyLimit: operation.bodyBytes,
      config: { operation: operation.id, parsesOffThread: route.readingNeeds !== null },
      onRequest: (request, reply) => admit(request, reply, route, pipeline),
      handler: async (request, reply) => {
        const { client } = request.exchange
        const isConnected = () => !request.raw.socket.destroyed
        const answer = await pipeline.perform(route, rawInput(request, route), client!, request.id, isConnected)
        return sendAnswer(request, reply, answer)
      },
    })
  }
}

/** The operation's path in the router's syntax: `{name}` becomes `:name`. */
export function pathOf({ path }: Pick<Operation, 'path'>): string {
  return path.replaceAll(/\{([a-z_]+)\}/g, ':$1')
}

/** Authenticates, rate-limits and authorises a request; returns the reply when it was refused. */
export async function admit(
  request: FastifyRequest,
  reply: FastifyReply,
  route: Route,
  pipeline: Pipeline,
): Promise<FastifyReply | undefined> {
  const client = await identify(request, reply, pipeline)
  if (client === null) return reply
  const { rateLimit, refused } = await pipeline.admit(route, client, request.id)
  setRateLimitHeaders(reply, rateLimit)
  return refused === null ? undefined : sendAnswer(request, reply, refused)
}

/** The client of the request; null when the request was refused. */
export async function identify(request: FastifyRequest, reply: FastifyReply, pipeline: Pipeline) {
  const credentials = credentialsOf(request, pipeline.baseUrl)
  const { client, rateLimit, refused } = await pipeline.identify(credentials, request.id)
  request.exchange.client = client
  if (client !== null) return client
  setRateLimitHeaders(reply, rateLimit)
  sendAnswer(request, reply, refused!)
  return null
}

/** The parts of the request. Path parameters and query become typed values by the schemas of the operation. */
export function rawInput(request: FastifyRequest, { operation }: Pick<Route, 'operation'>): RawInput {
  const { params, query } = operation
  const search = request.query as SearchText
  const sent = search.text === '' ? [] : [...new URLSearchParams(search.text)]
  return {
    params: params === null ? undefined : fromText(params, Object.entries(request.params as Record<string, string>)),
    query: query === null ? Object.fromEntries(sent) : fromText(query, sent),
    body: request.body,
    idempotencyKey: request.headers['idempotency-key'],
  }
}

/** The query string, unparsed. */
interface SearchText {
  readonly text: string
}
