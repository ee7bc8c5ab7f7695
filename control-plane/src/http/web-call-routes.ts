import { MAX_WEB_OFFER, Refusal, readWebOffer } from '@parley/contract'
import { TokenBuckets } from '@parley/kernel'
import {
  addWebCandidates,
  type Bus,
  type Database,
  hangUpWebCall,
  readWebCall,
  storeFirstOffer,
  storeNextOffer,
  type WebCallRow,
} from '@parley/store'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Platform } from '../context.ts'
import { newWebSecret, WEB_RUNS_PATH, webSecretHash } from '../handlers/web-access.ts'
import type { Pipeline } from '../pipeline/pipeline.ts'
import { sendAnswer, setRateLimitHeaders } from './exchange.ts'
import { answerTo, refusedRequest } from './request-fault.ts'

interface WebCallRoutes {
  readonly pipeline: Pipeline
  readonly database: Database
  readonly bus: Bus
  readonly platform: Pick<Platform, 'now' | 'randomBytes' | 'wake'>
}

/** An engine answers within this time, or the offer has failed. */
const ANSWER_MS = 12_000
/** The bus may lose a message. */
const POLL_MS = 500
const MAX_FRAGMENT = 8192
/** Requests with the secrets of one call: an offer waits, and each asks the database. */
const PER_CALL = { perSecond: 2, burst: 60 }
const MAX_CALLS = 50_000
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const SDP = 'application/sdp'
const FRAGMENT = 'application/trickle-ice-sdpfrag'
/** Header of the first answer: the secret with which a page whose path was lost makes another offer. */
const RESUME_HEADER = 'parley-resume'

/** Any page may use a token that it has. */
const CORS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': `location, ${RESUME_HEADER}, retry-after`,
}

type PresentedCall = NonNullable<Awaited<ReturnType<Database['web']['callOf']>>>

/**
 * The signalling of web calls, in the form of WHIP (RFC 9725): POST an offer, PATCH candidates, DELETE to hang up, each with the
 * call's token as bearer. A page whose path was lost posts again, with the secret of the first answer as bearer.
 */
export function serveWebCalls(app: FastifyInstance, routes: WebCallRoutes): void {
  const url = `${WEB_RUNS_PATH}/:run_id`
  const config = { operation: 'web_call' }
  const calls = new TokenBuckets(MAX_CALLS)
  void app.register(async web => {
    web.addContentTypeParser([SDP, FRAGMENT], { parseAs: 'string', bodyLimit: MAX_WEB_OFFER }, (_request, body, done) =>
      done(null, body),
    )
    web.addHook('onRequest', async (_request, reply) => void reply.headers(CORS))
    web.options(url, { config }, (_request, reply) =>
      reply
        .headers({
          'access-control-allow-methods': 'POST, PATCH, DELETE',
          'access-control-allow-headers': 'authorization, content-type',
          'access-control-max-age': '600',
        })
        .code(204)
        .send(),
    )
    web.post(url, { config }, (request, reply) =>
      guarded(request, reply, routes, calls, call => offer(request, reply, routes, call)),
    )
    web.patch(url, { config }, (request, reply) =>
      guarded(request, reply, routes, calls, call => trickle(request, reply, routes, call)),
    )
    web.delete(url, { config }, (request, reply) =>
      guarded(request, reply, routes, calls, call => hangUp(request, reply, routes, call)),
    )
  })
}

/**
 * Finds the call of the presented secret. An unknown one counts against the address, like a wrong API key; from an address that
 * presented too many, none is looked up.
 */
async function guarded(
  request: FastifyRequest,
  reply: FastifyReply,
  { pipeline, database, platform }: WebCallRoutes,
  calls: TokenBuckets,
  act: (call: PresentedCall) => Promise<FastifyReply>,
): Promise<FastifyReply> {
  try {
    const runId = runIdOf(request)
    const exhausted = pipeline.refusedAddress(request.ip, request.id)
    if (exhausted !== null) {
      setRateLimitHeaders(reply, exhausted.rateLimit)
      return sendAnswer(request, reply, exhausted.refused!)
    }
    const secret = /^Bearer ([!-~]{8,128})$/i.exec(request.headers.authorization ?? '')?.[1]
    const call =
      secret === undefined || !UUID.test(runId) ? null : await database.web.callOf(runId, webSecretHash(secret))
    if (call !== null) {
      if (!calls.take(runId, PER_CALL, platform.now())) throw tooManyRequests()
      return await act(call)
    }
    const { rateLimit, refused } = pipeline.admitAddress(request.ip, request.id)
    setRateLimitHeaders(reply, rateLimit)
    const message = 'this is no token of this web call: take url and token from the answer that created it'
    return sendAnswer(request, reply, refused ?? answerTo(new Refusal('unauthenticated', message)))
  } catch (error) {
    if (error instanceof Refusal) return sendAnswer(request, reply, answerTo(error))
    throw error
  }
}

async function offer(
  request: FastifyRequest,
  reply: FastifyReply,
  routes: WebCallRoutes,
  { scope, secret }: PresentedCall,
): Promise<FastifyReply> {
  const { database, bus, platform } = routes
  const runId = runIdOf(request)
  const sdp = bodyOf(request, SDP)
  const read = readWebOffer(sdp)
  if (typeof read === 'string') throw refusedRequest(`the offer ${read}`, `body: ${read}`)
  let attempt = 1
  if (secret === 'token') {
    const resume = newWebSecret('wr', { bytes: platform.randomBytes })
    const stored = await database.transaction(scope, tx =>
      storeFirstOffer(tx, scope, runId, sdp, webSecretHash(resume)),
    )
    if (!stored) throw overOrUsed()
    reply.header(RESUME_HEADER, resume)
    platform.wake({ kind: 'web', run_id: runId, scope })
  } else {
    const next = await database.transaction(scope, tx => storeNextOffer(tx, scope, runId, sdp))
    if (next === null) throw overOrUsed()
    attempt = next
    bus.publish('web_calls', runId)
  }
  const call = await settled(routes, scope, runId, attempt)
  if (call.answer === null) {
    reply.header('retry-after', '2')
    throw new Refusal('capability_unavailable', call.refusal ?? 'no engine has answered the offer in time', {
      reason: 'web_call_unanswered',
    })
  }
  return reply
    .code(201)
    .headers({ location: `${WEB_RUNS_PATH}/${runId}`, 'content-type': SDP, etag: `"${attempt}"` })
    .send(call.answer)
}

/** The call once the offer with this number has an answer or a refusal, or after `ANSWER_MS`. */
async function settled(
  { database, pipeline, platform }: WebCallRoutes,
  scope: PresentedCall['scope'],
  runId: string,
  attempt: number,
): Promise<Pick<WebCallRow, 'answer' | 'refusal'>> {
  const until = platform.now() + ANSWER_MS
  for (;;) {
    const left = until - platform.now()
    const waited = left > 0 ? pipeline.runChanges.wait(runId, Math.min(left, POLL_MS)) : null
    const call = await readWebCall(database.within(scope), scope, runId)
    if (call === null || call.attempt !== attempt) return { answer: null, refusal: 'another offer has taken its place' }
    if (call.answer !== null || call.refusal !== null || waited === null) return call
    await waited
  }
}

async function trickle(
  request: FastifyRequest,
  reply: FastifyReply,
  { database, bus }: WebCallRoutes,
  { scope }: PresentedCall,
): Promise<FastifyReply> {
  const fragment = bodyOf(request, FRAGMENT)
  if (fragment.length > MAX_FRAGMENT)
    throw refusedRequest('the fragment is too long', `body: over ${MAX_FRAGMENT} characters`)
  const runId = runIdOf(request)
  const added = await database.transaction(scope, tx => addWebCandidates(tx, scope, runId, fragment))
  if (!added) throw overOrUsed()
  bus.publish('web_calls', runId)
  return reply.code(204).send()
}

async function hangUp(
  request: FastifyRequest,
  reply: FastifyReply,
  { database, bus }: WebCallRoutes,
  { scope }: PresentedCall,
): Promise<FastifyReply> {
  const runId = runIdOf(request)
  await database.transaction(scope, tx => hangUpWebCall(tx, scope, runId))
  bus.publish('web_calls', runId)
  return reply.code(200).send()
}

function runIdOf(request: FastifyRequest): string {
  return (request.params as { run_id: string }).run_id
}

function bodyOf(request: FastifyRequest, type: string): string {
  const sent = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase()
  if (sent !== type || typeof request.body !== 'string')
    throw refusedRequest(`the body must be ${type}`, `body: its Content-Type is not ${type}`)
  return request.body
}

function tooManyRequests(): Refusal {
  return new Refusal('rate_limited', 'too many requests with the secrets of this call: try again in 1 s', {
    reason: 'request_rate',
    details: { retry_after_seconds: 1 },
  })
}

function overOrUsed(): Refusal {
  return new Refusal('conflict', 'the token was used or has expired, or the call is over: create another web run', {
    reason: 'web_call_over',
  })
}
