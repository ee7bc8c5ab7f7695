import type { FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { Answered } from './metrics.ts'

/**
 * One line per request, and per call of a tool: what was asked, by whom, what came of it. Never a body, a path, a query or
 * a header, since secrets travel in all of them; the request id is the only text that a sender chooses.
 */
export function logRequest(
  log: Logger,
  request: FastifyRequest,
  { operation, status, code, seconds, via }: Answered & { readonly via: 'http' | 'tool' },
): void {
  const caller = request.exchange.caller
  const line = {
    request_id: request.id,
    via,
    operation,
    status,
    code: code ?? 'ok',
    ms: Math.round(seconds * 10_000) / 10,
    ...(caller !== null && { tenant_id: caller.principal.scope.tenant_id, key_id: caller.keyId }),
  }
  // Health is asked every few seconds.
  if (operation === 'health' && status < 500) log.debug(line, 'request')
  else log.info(line, 'request')
}
