import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { authOperations, type OpenApiDocument, openApiSteps, operations, streams } from '@parley/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Pipeline } from '../pipeline/pipeline.ts'
import { sendAnswer, setRateLimitHeaders } from './exchange.ts'

/** A response body that never changes. */
interface StaticText {
  readonly plain: Buffer
  readonly zipped: Buffer
  readonly etag: string
}

/**
 * Serves `/openapi.json` and the page `/docs` that shows it; scripts and styles come from this server. No key is needed:
 * requests count against the rate limit of their address. The document and the page are made at the first
 * request for them: together they take half a second of CPU.
 */
export function serveReference(app: FastifyInstance, pipeline: Pipeline, publicUrl: string | null): void {
  const document = madeOnce(async () => staticText(JSON.stringify(await apiDocument(publicUrl ?? '/'))))
  const page = madeOnce(rendered)
  const script = madeOnce(async () => staticText((await page()).script))
  const onRequest = async (request: FastifyRequest, reply: FastifyReply) => {
    const { rateLimit, refused } = pipeline.admitAddress(request.ip, request.id)
    setRateLimitHeaders(reply, rateLimit)
    return refused === null ? undefined : sendAnswer(request, reply, refused)
  }
  app.get('/openapi.json', { config: { operation: 'openapi' }, onRequest }, async (request, reply) =>
    sendStatic(request, reply.header('content-type', 'application/json; charset=utf-8'), await document()),
  )
  const docs = { config: { operation: 'docs' }, onRequest }
  app.get('/docs', docs, (_, reply) => reply.redirect('/docs/', 301))
  app.get('/docs/', docs, async (_, reply) => {
    const { html, headers } = await page()
    return reply.header('content-type', 'text/html; charset=utf-8').headers(headers).send(html)
  })
  app.get('/docs/js/scalar.js', docs, async (request, reply) =>
    sendStatic(request, reply.header('content-type', 'text/javascript; charset=utf-8'), await script()),
  )
}

/** Makes a value at the first call and returns it from then on; after a failure the next call tries again. */
function madeOnce<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | null = null
  return () => {
    made ??= make().catch(error => {
      made = null
      throw error
    })
    return made
  }
}

/** Live calls share this thread: it serves them between two operations. */
async function apiDocument(baseUrl: string): Promise<OpenApiDocument> {
  const steps = openApiSteps([...operations, ...streams, ...Object.values(authOperations)], baseUrl)
  for (;;) {
    await nextTurn()
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

async function staticText(text: string): Promise<StaticText> {
  const plain = Buffer.from(text)
  const etag = createHash('sha256').update(plain).digest('base64url').slice(0, 27)
  return { plain, zipped: await promisify(gzip)(plain), etag: `"${etag}"` }
}

function sendStatic(request: FastifyRequest, reply: FastifyReply, { plain, zipped, etag }: StaticText): FastifyReply {
  reply.header('etag', etag).header('cache-control', 'no-cache').header('vary', 'accept-encoding')
  if (request.headers['if-none-match']?.includes(etag)) return reply.code(304).send()
  if (!/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) return reply.send(plain)
  return reply.header('content-encoding', 'gzip').send(zipped)
}

/** The page and its script, rendered once by the package, so that the package's other routes (with CORS) are not served. */
async function rendered() {
  const { default: fastify } = await import('fastify')
  const { default: apiReference } = await import('@scalar/fastify-api-reference')
  const app = fastify()
  await app.register(apiReference, {
    routePrefix: '/docs',
    configuration: {
      url: '/openapi.json',
      pageTitle: 'Parley API',
      withDefaultFonts: false,
      telemetry: false,
      hideClientButton: true,
      // The tools offer to upload the document to servers of third parties.
      showDeveloperTools: 'never',
      agent: { disabled: true },
      mcp: { disabled: true },
    },
  })
  const html = (await app.inject('/docs/')).body
  const script = (await app.inject('/docs/js/scalar.js')).body
  await app.close()
  const inline = /<script type="text\/javascript">([\s\S]*?)<\/script>/.exec(html)?.[1] ?? ''
  const hash = createHash('sha256').update(inline).digest('base64')
  const policy = [
    "default-src 'none'",
    `script-src 'self' 'sha256-${hash}'`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
  const headers = {
    'content-security-policy': policy,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  }
  return { html, script, headers }
}
