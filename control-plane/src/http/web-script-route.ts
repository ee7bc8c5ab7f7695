import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { FastifyInstance } from 'fastify'

/** Serves the browser's part of web calls, one module that pages of any origin may load. Nothing is served while it is not built. */
export async function serveWebScript(app: FastifyInstance, file: string): Promise<void> {
  const script = await readFile(file).catch(() => null)
  if (script === null) return
  const etag = `"${createHash('sha256').update(script).digest('base64url')}"`
  app.get('/web/parley-web.js', { config: { operation: 'web_script' } }, (request, reply) => {
    reply.headers({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=300',
      etag,
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      'x-content-type-options': 'nosniff',
    })
    return request.headers['if-none-match'] === etag ? reply.code(304).send() : reply.send(script)
  })
}
