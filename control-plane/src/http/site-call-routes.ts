import { Refusal } from '@parley/contract'
import { type Database, siteKeyHash } from '@parley/store'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Platform } from '../context.ts'
import { createSiteCall, noSiteKey } from '../handlers/site-calls.ts'
import type { Pipeline } from '../pipeline/pipeline.ts'
import { sendAnswer, setRateLimitHeaders } from './exchange.ts'
import { answerTo } from './request-fault.ts'

interface SiteCallRoutes {
  readonly pipeline: Pipeline
  readonly database: Database
  readonly platform: Platform
}

const PATH = '/web/calls'
const MAX_ORIGIN = 255
const SITE_KEY = /^Bearer (pk_[a-z2-7]{32})$/i

/**
 * Lets pages of a site start web calls with the site's key as bearer. Only pages of the key's origins may read the answer, and no other
 * origin gets a call. A program that is no browser can send any Origin: what protects then are the limits of key, address and environment.
 */
export function serveSiteCalls(app: FastifyInstance, routes: SiteCallRoutes): void {
  const config = { operation: 'site_call' }
  void app.register(async web => {
    // Whatever a page sends as body is ignored: a visitor sets nothing of the run.
    web.removeAllContentTypeParsers()
    web.addContentTypeParser('*', { parseAs: 'string', bodyLimit: 1024 }, (_request, _body, done) => done(null, null))
    web.addHook('onRequest', async (_request, reply) => void reply.header('vary', 'origin'))
    web.options(PATH, { config }, (request, reply) => preflight(request, reply, routes))
    web.post(PATH, { config }, (request, reply) => create(request, reply, routes))
  })
}

/** A preflight names no key (Fetch standard, section 4.9): origins of any active site key may go on. */
async function preflight(
  request: FastifyRequest,
  reply: FastifyReply,
  { pipeline, database }: SiteCallRoutes,
): Promise<FastifyReply> {
  const { rateLimit, refused } = pipeline.admitAddress(request.ip, request.id)
  setRateLimitHeaders(reply, rateLimit)
  if (refused !== null) return sendAnswer(request, reply, refused)
  const origin = originOf(request)
  if (origin === null || !(await database.web.isSiteOrigin(origin)))
    return sendAnswer(request, reply, answerTo(originRefused()))
  return reply
    .headers({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'authorization, content-type',
      'access-control-max-age': '600',
    })
    .code(204)
    .send()
}

async function create(request: FastifyRequest, reply: FastifyReply, routes: SiteCallRoutes): Promise<FastifyReply> {
  const { pipeline, database } = routes
  try {
    const secret = SITE_KEY.exec(request.headers.authorization ?? '')?.[1]
    const key = secret === undefined ? null : await database.web.siteKeyOf(siteKeyHash(secret))
    const isKnown = key !== null
    const { rateLimit, refused } = isKnown
      ? pipeline.admitSiteCall(request.ip, request.id)
      : pipeline.admitAddress(request.ip, request.id)
    setRateLimitHeaders(reply, rateLimit)
    const origin = originOf(request)
    if (isKnown && origin !== null && key.origins.includes(origin))
      reply.headers({ 'access-control-allow-origin': origin, 'access-control-expose-headers': 'retry-after' })
    if (refused !== null) return sendAnswer(request, reply, refused)
    if (!isKnown) throw noSiteKey()
    if (origin === null || !key.origins.includes(origin)) throw originRefused()
    const access = await createSiteCall(routes, key, request.id)
    return reply.code(201).header('cache-control', 'no-store').send(access)
  } catch (error) {
    return sendAnswer(request, reply, pipeline.failed(error, request.id))
  }
}

function originOf({ headers: { origin } }: FastifyRequest): string | null {
  return origin === undefined || origin.length > MAX_ORIGIN ? null : origin
}

function originRefused(): Refusal<'forbidden'> {
  return new Refusal('forbidden', 'the site key is not for pages of this origin: an admin creates one that names it', {
    reason: 'origin_not_allowed',
  })
}
