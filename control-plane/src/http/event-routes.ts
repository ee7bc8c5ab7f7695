import { Readable } from 'node:stream'
import { parseInput, Refusal, type streams } from '@parley/contract'
import { type Database, readRun } from '@parley/store'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { noRun } from '../handlers/runs-body.ts'
import type { Pipeline } from '../pipeline/pipeline.ts'
import type { Route } from '../pipeline/route.ts'
import { runEvents } from '../streams/run-events.ts'
import { withStallTimeout } from '../streams/stall-timeout.ts'
import type { StreamLimiter } from '../streams/stream-limiter.ts'
import { credentialsOf } from './credentials.ts'
import { sendAnswer } from './exchange.ts'
import { admit, pathOf, rawInput } from './operation-routes.ts'
import { answerTo } from './request-fault.ts'

/** A client that reads nothing for this long is disconnected; nothing is buffered for it. */
const STALLED_MS = 30_000

interface EventRoutes {
  readonly pipeline: Pipeline
  readonly database: Pick<Database, 'within'>
  readonly streams: StreamLimiter
  /** Default 30 000. */
  readonly stalledMs?: number
}

/** Serves the event stream of a run. */
export function serveEvents(app: FastifyInstance, route: Route<(typeof streams)[number]>, routes: EventRoutes): void {
  const { pipeline, streams: open } = routes
  app.addHook('preClose', done => {
    open.close()
    done()
  })
  app.route({
    method: 'GET',
    url: pathOf(route.operation),
    exposeHeadRoute: false,
    config: { operation: route.operation.id },
    onRequest: (request, reply) => admit(request, reply, route, pipeline),
    handler: async (request, reply) => {
      try {
        return await follow(request, reply, route, routes)
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        return sendAnswer(request, reply, answerTo(error))
      }
    },
  })
}

async function follow(
  request: FastifyRequest,
  reply: FastifyReply,
  { operation }: Route<(typeof streams)[number]>,
  { pipeline, database, streams: open, stalledMs = STALLED_MS }: EventRoutes,
): Promise<FastifyReply> {
  const parsed = parseInput(operation, rawInput(request, { operation }))
  if (!parsed.ok)
    throw new Refusal('invalid_request', 'the request is not valid: see details.issues', {
      details: { issues: parsed.issues.map(({ path, message }) => ({ path, message })) },
    })
  const { run_id: runId } = parsed.input.params
  const client = request.exchange.client!
  const { scope } = client.principal
  if ((await readRun(database.within(scope), scope, runId)) === null) throw noRun(runId)
  const { signal, release } = open.open(client.principal.ref.id)
  const credentials = credentialsOf(request, pipeline.baseUrl)
  const events = runEvents({
    database,
    scope,
    runId,
    signal,
    runChanges: pipeline.runChanges,
    after: lastEvent(request.headers['last-event-id']),
    mayFollow: () => pipeline.hasAccess(credentials),
    now: () => performance.now(),
  })
  // The stream ends when the client disconnects, the server closes or the run has ended.
  const body = Readable.from(
    withStallTimeout(events, stalledMs, () => reply.raw.destroy()),
    { highWaterMark: 1 },
  )
  // A revoked key ends its streams at once; `mayFollow` covers a lost message of the bus.
  const unwatch = pipeline.watchAccess(client, credentials, release)
  body.once('close', unwatch)
  body.once('close', release)
  reply.raw.once('close', release)
  body.once('error', error => pipeline.report(error, request.id))
  // No further request uses this connection, so a server that closes does not wait for one.
  const headers = { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no', connection: 'close' }
  return reply.headers(headers).send(body)
}

/** An invalid Last-Event-ID counts as absent. */
function lastEvent(header: string | string[] | undefined): number {
  return typeof header === 'string' && /^[0-9]{1,9}$/.test(header) ? Number(header) : 0
}
