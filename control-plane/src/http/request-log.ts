import type { FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { AnsweredRequest } from './metrics.ts'

/**
 * One line per request, and per call of a tool: what was asked, by whom, what came of it. Never a body, a path, a query or
 * a header, since secrets travel in all of them; the request id is the only text that a sender chooses.
 */
export function logRequest(
  log: Logger,
  request: FastifyRequest,
  { operation, status, code, seconds, via }: AnsweredRequest & { readonly via: 'http' | 'tool' },
): void {
  const client = request.exchange.client
  const line = {
    request_id: request.id,
    via,
    operation,
    status,
    code: code ?? 'ok',
    ms: Math.round(seconds * 10_000) / 10,
    ...(client !== null && { tenant_id: client.principal.scope.tenant_id, key_id: client.keyId }),
  }
  // Health is asked every few seconds.
  if (operation === 'health' && status < 500) log.debug(line, 'request')
  else log.info(line, 'request')
}
