import { randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Pipeline } from '../pipeline/pipeline.ts'
import { sendAnswer, setRateLimitHeaders } from './exchange.ts'

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

interface Asset {
  readonly type: string
  readonly plain: Buffer
  /** Null: there is no compressed copy. */
  readonly zipped: Buffer | null
}

/** The files of the built console. */
interface ConsoleFiles {
  /** The page; `{{nonce}}` stands for the nonce of its policy. */
  readonly page: string
  readonly assets: ReadonlyMap<string, Asset>
}

/** Reads the built console; null: the directory has none. */
export async function readConsole(directory: string): Promise<ConsoleFiles | null> {
  const page = await readFile(join(directory, 'index.html'), 'utf8').catch(() => null)
  if (page === null) return null
  const folder = join(directory, 'assets')
  const names = await readdir(folder)
  const assets = new Map<string, Asset>()
  for (const name of names) {
    const type = MEDIA_TYPES[name.slice(name.lastIndexOf('.') + 1)]
    if (type === undefined) continue
    const zipped = names.includes(`${name}.gz`) ? await readFile(join(folder, `${name}.gz`)) : null
    assets.set(name, { type, plain: await readFile(join(folder, name)), zipped })
  }
  return { page, assets }
}

/**
 * Serves the console: its page for every path below `/console`, its files under `/console/assets`, whose names change with their
 * content. No key is needed: the page sends the user's key with its requests to the API. The page counts against the rate limit
 * of its address; the files, which a page loads all at once, do not.
 */
export function serveConsole(app: FastifyInstance, pipeline: Pipeline, files: ConsoleFiles): void {
  const config = { operation: 'console' }
  const onRequest = async (request: FastifyRequest, reply: FastifyReply) => {
    const { rateLimit, refused } = pipeline.admitAddress(request.ip, request.id)
    setRateLimitHeaders(reply, rateLimit)
    return refused === null ? undefined : sendAnswer(request, reply, refused)
  }
  const page = async (_: FastifyRequest, reply: FastifyReply) => {
    const nonce = randomBytes(16).toString('base64url')
    return reply
      .headers({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'content-security-policy': policyWith(nonce),
        'permissions-policy': 'camera=(), geolocation=(), microphone=(self)',
        'cross-origin-opener-policy': 'same-origin',
        ...FILE_HEADERS,
      })
      .send(files.page.replaceAll('{{nonce}}', nonce))
  }
  const asset = async (request: FastifyRequest, reply: FastifyReply) => {
    const found = files.assets.get((request.params as { name: string }).name)
    if (found === undefined) return reply.code(404).header('cache-control', 'no-store').send()
    reply.headers({
      'content-type': found.type,
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'accept-encoding',
      ...FILE_HEADERS,
    })
    if (found.zipped === null || !/\bgzip\b/.test(request.headers['accept-encoding'] ?? ''))
      return reply.send(found.plain)
    return reply.header('content-encoding', 'gzip').send(found.zipped)
  }
  app.get('/console', { config, onRequest }, page)
  app.get('/console/*', { config, onRequest }, page)
  app.get('/console/assets/:name', { config }, asset)
}

const FILE_HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex',
}

/** Scripts and requests of this origin only. The nonce allows the style element of the waveform. Recordings play from `blob:` URLs. */
function policyWith(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "media-src 'self' blob:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}
