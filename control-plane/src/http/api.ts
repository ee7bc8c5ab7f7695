import { Refusal } from '@parley/contract'
import type { Bus, Database } from '@parley/store'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { Handlers, Platform } from '../context.ts'
import { Pipeline } from '../pipeline/pipeline.ts'
import type { RateLimits } from '../pipeline/rate-limits.ts'
import { eventsRoute, type Route, routesOf } from '../pipeline/route.ts'
import type { ReadingLimits } from '../reading/reading-threads.ts'
import { StreamLimiter, type StreamLimits } from '../streams/stream-limiter.ts'
import { ToolList } from '../tools/tool-list.ts'
import { serveAuth } from './auth-routes.ts'
import { parseBody } from './body-parser.ts'
import { CONNECTIONS, type ConnectionLimits, drained, onClientError } from './connections.ts'
import { readConsole, serveConsole } from './console-routes.ts'
import { credentialsOf } from './credentials.ts'
import { serveEvents } from './event-routes.ts'
import { beginExchange, requestId, sendAnswer, setRateLimitHeaders } from './exchange.ts'
import { ApiMetrics, type PoolState } from './metrics.ts'
import { serveOperations } from './operation-routes.ts'
import { Readiness, serveHealth } from './readiness.ts'
import { serveRecordings } from './recording-routes.ts'
import { serveReference } from './reference-routes.ts'
import { answerTo, headerFault, requestFault } from './request-fault.ts'
import { logRequest } from './request-log.ts'
import { serveSigningKeys } from './signing-key-routes.ts'
import { serveSiteCalls } from './site-call-routes.ts'
import { serveTools } from './tool-routes.ts'
import { serveWebCalls } from './web-call-routes.ts'
import { serveWebScript } from './web-script-route.ts'

interface ApiLimits {
  /** Request rates by key and by address. Default: those of the API. */
  readonly rates: RateLimits
  readonly connections: ConnectionLimits
  /** Lease of an `external` operation on its idempotency record, in ms. Default 120 000. */
  readonly leaseMs: number
  /** Maximum number of open event streams. */
  readonly streams: StreamLimits
  /** Worker threads that parse large request bodies. */
  readonly reading: Partial<ReadingLimits>
}

export interface ApiOptions {
  readonly handlers: Handlers
  readonly database: Database
  readonly bus: Bus
  readonly platform: Platform
  readonly log: Logger
  readonly limits?: Partial<ApiLimits>
  /** Base URL under which others reach the API; null (default): relative URLs in /openapi.json; browsers reach /mcp only from loopback origins. */
  readonly publicUrl?: string | null
  /** Addresses or networks of proxies whose `X-Forwarded-For` is trusted. Default: none. */
  readonly trustProxy?: readonly string[]
  /** Directory of the built console. Default: no console is served. */
  readonly consoleDirectory?: string
  /** File of the built module for pages that make web calls. Default: it is not served. */
  readonly webScript?: string
  /** The state of the database's connection pool, for the metrics. Default: no such metrics. */
  readonly pool?: () => PoolState
  /** Metrics of the process's other roles, in the format of `/metrics`. Default: none. */
  readonly otherMetrics?: () => Promise<string>
}

/** The API over HTTP: `/api/v1`, `/openapi.json`, `/docs`, `/mcp`, `/console`, `/healthz`, `/readyz`, `/metrics`. */
export interface Api {
  /** Takes further routes of the same server; tests use its `inject`. */
  readonly app: FastifyInstance
  /** Whether the console is served at `/console`. */
  readonly hasConsole: boolean
  /** Resolves to the base URL. */
  listen(at: { readonly host: string; readonly port: number }): Promise<string>
  /** `/readyz` answers 503 from now on; requests are still served. */
  drain(): void
  /**
   * Drains, refuses new connections and finishes the requests in progress, for at most `connections.drainMs`. The
   * database, the bus and the log stay open: the caller owns them.
   */
  close(): Promise<void>
}

/** Builds the API; it listens only after `listen`. Every operation needs its handler. */
export async function buildApi(options: ApiOptions): Promise<Api> {
  return buildApiOf(routesOf(options.handlers), options)
}

/** As `buildApi`, for a part of the operations. */
export async function buildApiOf(
  routes: readonly Route[],
  {
    database,
    bus,
    platform,
    log,
    limits = {},
    publicUrl = null,
    trustProxy,
    consoleDirectory,
    webScript,
    pool,
    otherMetrics,
  }: Omit<ApiOptions, 'handlers'>,
): Promise<Api> {
  const connections = limits.connections ?? CONNECTIONS
  const pipeline = new Pipeline({
    database,
    bus,
    platform,
    log,
    ...(limits.rates !== undefined && { rates: limits.rates }),
    ...(limits.leaseMs !== undefined && { leaseMs: limits.leaseMs }),
    ...(limits.reading !== undefined && { reading: limits.reading }),
  })
  const metrics = new ApiMetrics(pool)
  const readiness = new Readiness(database)
  const record: RecordRequest = (request, reply) => {
    const { operation, code, startedAt } = request.exchange
    const answered = { operation, code, status: reply.statusCode, seconds: (performance.now() - startedAt) / 1000 }
    metrics.record(answered)
    logRequest(log, request, { ...answered, via: 'http' })
  }
  const app = newApp(connections, trustProxy, (error, request, reply) => {
    // Fastify runs no hook for a request that it cannot route.
    beginExchange(request, reply)
    const { rateLimit, refused } = pipeline.admitAddress(request.ip, request.id)
    setRateLimitHeaders(reply, rateLimit)
    sendAnswer(request, reply, refused ?? answerTo(requestFault(error)))
    record(request, reply)
  })
  handleEveryRequest(app, { pipeline, readiness, record })
  serveHealth(app, readiness)
  app.get('/metrics', { config: { operation: 'metrics' } }, async (_, reply) =>
    reply
      .header('content-type', metrics.registry.contentType)
      .send(`${await metrics.registry.metrics()}${(await otherMetrics?.()) ?? ''}`),
  )
  serveOperations(app, routes, pipeline)
  serveEvents(app, eventsRoute, { pipeline, database, streams: new StreamLimiter(limits.streams) })
  serveRecordings(app, { pipeline, database, platform })
  serveWebCalls(app, { pipeline, database, bus, platform })
  serveSiteCalls(app, { pipeline, database, platform })
  serveSigningKeys(app, pipeline, database)
  if (webScript !== undefined) await serveWebScript(app, webScript)
  serveTools(app, {
    tools: new ToolList(routes),
    pipeline,
    publicOrigin: publicUrl === null ? null : new URL(publicUrl).origin,
    bodyBytes: Math.max(MIB, ...routes.map(({ operation }) => operation.bodyBytes)),
    onCalled: (request, route, answer, seconds) => {
      const code = answer.error?.error.code ?? null
      const called = { operation: route.operation.id, status: answer.status, code, seconds }
      metrics.record(called)
      logRequest(log, request, { ...called, via: 'tool' })
    },
  })
  serveAuth(app, { pipeline, database, platform })
  serveReference(app, pipeline, publicUrl)
  const files = consoleDirectory === undefined ? null : await readConsole(consoleDirectory)
  if (files !== null) serveConsole(app, pipeline, files)
  let closing: Promise<void> | null = null
  return {
    app,
    hasConsole: files !== null,
    listen: at => app.listen(at),
    drain: () => readiness.drain(),
    close: () => {
      readiness.drain()
      closing ??= drained(app, connections.drainMs).then(() => pipeline.close())
      return closing
    },
  }
}

function newApp(
  connections: ConnectionLimits,
  trustProxy: readonly string[] | undefined,
  onUnroutable: (error: Error, request: FastifyRequest, reply: FastifyReply) => void,
): FastifyInstance {
  const app = fastify({
    genReqId: requestId,
    requestIdHeader: false,
    // `logRequest` writes the one line per request.
    logger: false,
    ...(trustProxy !== undefined && { trustProxy: [...trustProxy] }),
    // A request that arrives on an open connection while the server closes is answered; then the connection is closed.
    return503OnClosing: false,
    requestTimeout: connections.requestMs,
    keepAliveTimeout: connections.keepAliveMs,
    connectionTimeout: connections.silentMs,
    http: {
      headersTimeout: connections.headMs,
      connectionsCheckingInterval: Math.min(connections.headMs, 2000),
      maxHeaderSize: 16_384,
      // `headerFault` refuses a request without Host, with the error envelope.
      requireHostHeader: false,
    },
    routerOptions: {
      // Identifiers have 256 characters at most, percent-encoded three times as many bytes.
      maxParamLength: 1024,
      querystringParser: text => ({ text }),
    },
    frameworkErrors: onUnroutable,
    clientErrorHandler: onClientError,
  })
  app.server.maxConnections = connections.max
  // Node would answer 417 without the error envelope; `headerFault` does.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    try {
      done(null, parseBody(request, body as Buffer))
    } catch (error) {
      done(error as Error)
    }
  })
  return app
}

/** Counts and logs an answered request. */
type RecordRequest = (request: FastifyRequest, reply: FastifyReply) => void

interface HookDependencies {
  readonly pipeline: Pipeline
  readonly readiness: Readiness
  readonly record: RecordRequest
}

function handleEveryRequest(app: FastifyInstance, { pipeline, readiness, record }: HookDependencies): void {
  app.decorateRequest('exchange')
  app.addHook('onRequest', (request, reply, done) => {
    beginExchange(request, reply)
    const fault = headerFault(request.raw)
    if (fault !== null) {
      const { rateLimit, refused } = pipeline.admitAddress(request.ip, request.id)
      setRateLimitHeaders(reply, rateLimit)
      return void sendAnswer(request, reply, refused ?? fault)
    }
    if (!request.is404) return done()
    // The 404 does not wait for the body.
    notFound(request, reply, pipeline).catch(done)
  })
  app.addHook('onSend', (_, reply, payload, done) => {
    // The client opens another connection for its next request, since this one is about to end.
    if (readiness.isDraining) reply.header('connection', 'close')
    done(null, payload)
  })
  app.addHook('onResponse', (request, reply, done) => {
    record(request, reply)
    done()
  })
  // Fastify runs the `onRequest` hook for unknown paths only if a not-found handler is set.
  app.setNotFoundHandler((request, reply) => sendAnswer(request, reply, NOT_FOUND))
  app.setErrorHandler((error, request, reply) => {
    const fault = requestFault(error)
    if (!(fault instanceof Refusal)) pipeline.report(fault, request.id)
    sendAnswer(request, reply, answerTo(fault))
  })
}

/** Answers an unknown path or method, with or without a key. It counts against the rate limit, which limits scanning. */
async function notFound(request: FastifyRequest, reply: FastifyReply, pipeline: Pipeline): Promise<FastifyReply> {
  const identified = await pipeline.identify(credentialsOf(request, pipeline.baseUrl), request.id)
  const { client } = identified
  request.exchange.client = client
  const { rateLimit, refused } = client === null ? identified : await pipeline.admit(null, client, request.id)
  setRateLimitHeaders(reply, rateLimit)
  const hasNoValidKey = refused?.error?.error.code === 'unauthenticated'
  return sendAnswer(request, reply, refused === null || hasNoValidKey ? NOT_FOUND : refused)
}

const MIB = 1_048_576

const NOT_FOUND = answerTo(new Refusal('not_found', 'no operation has this path and method; see /openapi.json'))
