import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Answer } from '../pipeline/answer.ts'
import type { AuthenticatedClient } from '../pipeline/authenticator.ts'
import type { RateLimitStatus } from '../pipeline/rate-limits.ts'

/** What is known of a request while it is answered; the log's line and the metrics are made of it. */
export interface Exchange {
  /** `performance.now()` when its head was read. */
  readonly startedAt: number
  /** The operation's id, or what else is served: `openapi`, `docs`, `mcp`, `health`, `metrics`; `unknown` for all else. */
  readonly operation: string
  client: AuthenticatedClient | null
  /** The error's code; null for answers without one. */
  code: string | null
}

declare module 'fastify' {
  interface FastifyRequest {
    exchange: Exchange
  }
  interface FastifyContextConfig {
    /** Under which name a route stands in the log and in the metrics. */
    operation?: string
    /** Whether large bodies are left to a thread. Default false. */
    readsApart?: boolean
  }
}

const VISIBLE = /^[\x21-\x7e]{1,256}$/

/** The sender's own id where it is 1..256 visible ASCII characters, else a new one. */
export function requestId(request: IncomingMessage): string {
  const given = request.headers['x-request-id']
  return typeof given === 'string' && VISIBLE.test(given) ? given : randomUUID()
}

/** Begins to note what comes of a request, and what every answer's head says. */
export function beginExchange(request: FastifyRequest, reply: FastifyReply): void {
  request.exchange = {
    startedAt: performance.now(),
    operation: request.is404 ? 'unknown' : (request.routeOptions.config?.operation ?? 'unknown'),
    client: null,
    code: null,
  }
  reply.header('x-request-id', request.id)
  reply.header('cache-control', 'no-store')
}

const JSON_TYPE = 'application/json; charset=utf-8'

/** Sends an answer of the pipeline, with the headers that go with it. */
export function sendAnswer(request: FastifyRequest, reply: FastifyReply, answer: Answer): FastifyReply {
  if (answer.error !== null) request.exchange.code = answer.error.error.code
  if (answer.status === 401) reply.header('www-authenticate', 'Bearer')
  if (answer.retryAfterSeconds !== null) reply.header('retry-after', String(answer.retryAfterSeconds))
  return reply.code(answer.status).header('content-type', JSON_TYPE).send(answer.text)
}

/** How the sender's limits stand, as fields of the answer's head. */
export function setRateLimitHeaders(reply: FastifyReply, rateLimit: RateLimitStatus | null): void {
  if (rateLimit === null) return
  reply.header('ratelimit-policy', rateLimit.policy)
  reply.header('ratelimit', rateLimit.level)
}
