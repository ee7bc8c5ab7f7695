import { authOperations, type Operation, parseInput, Refusal } from '@parley/contract'
import type { Database } from '@parley/store'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Platform } from '../context.ts'
import { LINK_PATH } from '../people/person-links.ts'
import { type OpenedSession, SignIn } from '../people/sign-in.ts'
import { successAnswer } from '../pipeline/answer.ts'
import { invalidRequest } from '../pipeline/parse-request.ts'
import type { Pipeline } from '../pipeline/pipeline.ts'
import { credentialsOf, sessionCookie } from './credentials.ts'
import { sendAnswer, setRateLimitHeaders } from './exchange.ts'
import { LINK_PAGE, LINK_PAGE_HEADERS } from './link-page.ts'
import { identify } from './operation-routes.ts'
import { isOwnOrigin } from './own-origin.ts'
import { answerTo } from './request-fault.ts'

/** Longest life of a session; the database ends it. */
const SESSION_SECONDS = 30 * 24 * 3600
const SMALL_BODY_BYTES = 4096

interface AuthRoutesOptions {
  readonly pipeline: Pipeline
  readonly database: Database
  readonly platform: Platform
}

/** Serves signing in and out of the console: `/auth/session`, `/auth/login`, `/auth/logout`, and the page of a link. */
export function serveAuth(app: FastifyInstance, { pipeline, database, platform }: AuthRoutesOptions): void {
  const signIn = new SignIn({ database, platform, onFailed: error => pipeline.report(error, 'login-link') })
  const { openSession, readSession, login, logout } = authOperations
  const serve = (operation: Operation, act: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>) =>
    app.route({
      method: operation.method,
      url: operation.path,
      bodyLimit: SMALL_BODY_BYTES,
      config: { operation: operation.id },
      onRequest: async (request, reply) => refuseForeignPage(request, reply, pipeline.baseUrl),
      handler: async (request, reply) => {
        try {
          return await act(request, reply)
        } catch (error) {
          return sendAnswer(request, reply, pipeline.failed(error, request.id))
        }
      },
    })

  serve(openSession, async (request, reply) => {
    const { token, name } = bodyOf(openSession, request)
    if (request.headers.authorization !== undefined) {
      if (token !== undefined) throw invalidRequest([{ path: '/token', message: 'is not accepted with an API key' }])
      const client = await admittedClient(request, reply, pipeline)
      if (client === null) return reply
      return sendSession(request, reply, pipeline.baseUrl, await signIn.ofKey(client, request.id))
    }
    if (!admitSignIn(request, reply, pipeline)) return reply
    if (token === undefined)
      throw new Refusal('unauthenticated', 'send an API key in the Authorization header, or the token of a link')
    return sendSession(request, reply, pipeline.baseUrl, await signIn.byLink(token, name ?? null, request.id))
  })

  serve(readSession, async (request, reply) => {
    const client = await admittedClient(request, reply, pipeline)
    if (client === null) return reply
    return sendAnswer(request, reply, successAnswer(200, JSON.stringify(await signIn.current(client))))
  })

  serve(login, async (request, reply) => {
    if (!admitSignIn(request, reply, pipeline)) return reply
    signIn.sendLinks(bodyOf(login, request).email)
    return sendAnswer(request, reply, successAnswer(202, '{}'))
  })

  serve(logout, async (request, reply) => {
    bodyOf(logout, request)
    const { client } = await pipeline.identify(credentialsOf(request, pipeline.baseUrl), request.id)
    const ended = client === null ? null : await signIn.end(client, request.id)
    if (ended !== null) pipeline.publish('people', ended)
    reply.header('set-cookie', sessionCookie(pipeline.baseUrl, null, 0))
    return sendAnswer(request, reply, successAnswer(200, '{}'))
  })

  app.get(LINK_PATH, { config: { operation: 'auth.link' } }, (request, reply) => {
    const { rateLimit, refused } = pipeline.admitAddress(request.ip, request.id)
    setRateLimitHeaders(reply, rateLimit)
    if (refused !== null) return sendAnswer(request, reply, refused)
    return reply.headers(LINK_PAGE_HEADERS).send(LINK_PAGE)
  })
}

/** A page of another origin may neither open a session nor end one. */
function refuseForeignPage(request: FastifyRequest, reply: FastifyReply, baseUrl: string): FastifyReply | undefined {
  const { origin } = request.headers
  if (origin === undefined || isOwnOrigin(origin, baseUrl)) return undefined
  const refusal = new Refusal('forbidden', 'pages of this server only may sign in and out: the Origin is another')
  return sendAnswer(request, reply, answerTo(refusal))
}

/** The client of the request; null when the request was refused and answered. */
async function admittedClient(request: FastifyRequest, reply: FastifyReply, pipeline: Pipeline) {
  const client = await identify(request, reply, pipeline)
  if (client === null) return null
  const { rateLimit, refused } = await pipeline.admit(null, client, request.id)
  setRateLimitHeaders(reply, rateLimit)
  if (refused === null) return client
  sendAnswer(request, reply, refused)
  return null
}

/** Counts an attempt to sign in; false when it was refused and answered. */
function admitSignIn(request: FastifyRequest, reply: FastifyReply, pipeline: Pipeline): boolean {
  const { rateLimit, refused } = pipeline.admitSignIn(request.ip, request.id)
  setRateLimitHeaders(reply, rateLimit)
  if (refused === null) return true
  sendAnswer(request, reply, refused)
  return false
}

function bodyOf<Body extends Operation['body'] & object>(
  operation: Operation & { readonly body: Body },
  request: FastifyRequest,
) {
  const parsed = parseInput(operation, { body: request.body })
  if (!parsed.ok) throw invalidRequest(parsed.issues)
  return parsed.input.body as NonNullable<(typeof parsed.input)['body']>
}

function sendSession(
  request: FastifyRequest,
  reply: FastifyReply,
  baseUrl: string,
  { body, token }: OpenedSession,
): FastifyReply {
  reply.header('set-cookie', sessionCookie(baseUrl, token, SESSION_SECONDS))
  return sendAnswer(request, reply, successAnswer(201, JSON.stringify(body)))
}
