import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { ErrorCode } from '@parley/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Answer } from '../pipeline/answer.ts'
import type { AuthenticatedClient } from '../pipeline/authenticator.ts'
import type { RateLimitStatus } from '../pipeline/rate-limits.ts'

/** A request and its response; its log line and metrics are made of it. */
interface Exchange {
  /** `performance.now()` when the headers were read. */
  readonly startedAt: number
  /** The operation's id, or `openapi`, `docs`, `mcp`, `health`, `metrics`; `unknown` for a path without a route. */
  readonly operation: string
  client: AuthenticatedClient | null
  /** Null: the answer is not an error. */
  code: ErrorCode | null
  /** The trace of the run that the request is about; null: of none. */
  traceId: string | null
}

declare module 'fastify' {
  interface FastifyRequest {
    exchange: Exchange
  }
  interface FastifyContextConfig {
    /** The name of a route in the log and in the metrics. */
    operation?: string
    /** Whether worker threads parse large bodies. Default false. */
    parsesOffThread?: boolean
  }
}

const VISIBLE = /^[\x21-\x7e]{1,256}$/

/** The `X-Request-Id` of the client if it is 1 to 256 visible ASCII characters, else a new id. */
export function requestId(request: IncomingMessage): string {
  const given = request.headers['x-request-id']
  return typeof given === 'string' && VISIBLE.test(given) ? given : randomUUID()
}

/** Attaches the exchange to the request, and sets the headers that every response has. */
export function beginExchange(request: FastifyRequest, reply: FastifyReply): void {
  request.exchange = {
    startedAt: performance.now(),
    operation: request.is404 ? 'unknown' : (request.routeOptions.config?.operation ?? 'unknown'),
    client: null,
    code: null,
    traceId: null,
  }
  reply.header('x-request-id', request.id)
  reply.header('cache-control', 'no-store')
}

const JSON_TYPE = 'application/json; charset=utf-8'

/** Sends an answer of the pipeline with its headers. */
export function sendAnswer(request: FastifyRequest, reply: FastifyReply, answer: Answer): FastifyReply {
  if (answer.error !== null) request.exchange.code = answer.error.error.code
  request.exchange.traceId = answer.traceId ?? null
  if (answer.status === 401) reply.header('www-authenticate', 'Bearer')
  if (answer.retryAfterSeconds !== null) reply.header('retry-after', String(answer.retryAfterSeconds))
  return reply.code(answer.status).header('content-type', JSON_TYPE).send(answer.text)
}

/** Sets `RateLimit-Policy` and `RateLimit`: the limits of the client and what is left of them. */
export function setRateLimitHeaders(reply: FastifyReply, rateLimit: RateLimitStatus | null): void {
  if (rateLimit === null) return
  reply.header('ratelimit-policy', rateLimit.policy)
  reply.header('ratelimit', rateLimit.level)
}
