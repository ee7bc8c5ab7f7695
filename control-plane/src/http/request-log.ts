import type { PrincipalRef } from '@parley/contract'
import type { FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { AnsweredRequest } from './metrics.ts'

/**
 * Logs one line per request and per tool call: operation, status, error code, duration and key or member. Bodies, paths, queries and
 * headers are never logged, since all of them may hold secrets; the request id is the only text that the client chooses.
 */
export function logRequest(
  log: Logger,
  request: FastifyRequest,
  { operation, status, code, seconds, via }: AnsweredRequest & { readonly via: 'http' | 'tool' },
): void {
  const { client, traceId } = request.exchange
  const line = {
    request_id: request.id,
    via,
    operation,
    status,
    code: code ?? 'ok',
    ms: Math.round(seconds * 10_000) / 10,
    ...(traceId !== null && { trace_id: traceId }),
    ...(client !== null && { tenant_id: client.principal.scope.tenant_id, ...whoOf(client.principal.ref) }),
  }
  // Monitoring requests the health every few seconds.
  if (operation === 'health' && status < 500) log.debug(line, 'request')
  else log.info(line, 'request')
}

function whoOf({ kind, id }: PrincipalRef) {
  return kind === 'user' ? { user_id: id } : { key_id: id }
}
