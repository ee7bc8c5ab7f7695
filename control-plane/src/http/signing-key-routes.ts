import type { Database } from '@parley/store'
import type { FastifyInstance } from 'fastify'
import type { Pipeline } from '../pipeline/pipeline.ts'
import { sendAnswer, setRateLimitHeaders } from './exchange.ts'

/**
 * Serves the public keys of certificates as a JSON web key set (RFC 7517) at `/.well-known/parley-keys.json`. No API key is needed:
 * requests count against the rate limit of their address.
 */
export function serveSigningKeys(app: FastifyInstance, pipeline: Pipeline, database: Pick<Database, 'signing'>): void {
  app.get('/.well-known/parley-keys.json', { config: { operation: 'signing_keys' } }, async (request, reply) => {
    const { rateLimit, refused } = pipeline.admitAddress(request.ip, request.id)
    setRateLimitHeaders(reply, rateLimit)
    if (refused !== null) return sendAnswer(request, reply, refused)
    const keys = await database.signing.publicKeys()
    return reply
      .headers({
        'content-type': 'application/jwk-set+json; charset=utf-8',
        'cache-control': 'public, max-age=300',
        'access-control-allow-origin': '*',
      })
      .send(JSON.stringify({ keys: keys.map(key => ({ ...key, use: 'sig', alg: 'EdDSA' })) }))
  })
}
