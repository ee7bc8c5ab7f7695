import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { unreadable } from './request-fault.ts'

/** Limits of the server's connections. */
export interface ConnectionLimits {
  /** Open connections; further ones are closed at once. Default 10 000. */
  readonly max: number
  /** From the first byte of a request to the end of its headers, in ms. Default 10 000. */
  readonly headMs: number
  /** From the first byte of a request to its last, in ms. Default 30 000. */
  readonly requestMs: number
  /** How long a connection may stay open between requests, in ms. Default 60 000. */
  readonly keepAliveMs: number
  /** How long a connection may carry no data while a request is answered, in ms. Default 120 000. */
  readonly silentMs: number
  /** How long requests in progress may take once the server closes, in ms. Default 30 000. */
  readonly drainMs: number
}

export const CONNECTIONS: ConnectionLimits = {
  max: 10_000,
  headMs: 10_000,
  requestMs: 30_000,
  keepAliveMs: 60_000,
  silentMs: 120_000,
  drainMs: 30_000,
}

/** Answers bytes that are not an HTTP request, and closes the connection. */
export function onClientError(error: Error & { code?: string }, socket: Socket): void {
  if (socket.destroyed || !socket.writable || error.code === 'ECONNRESET') return void socket.destroy()
  const { status, reason, envelope } = unreadable(error.code)
  const body = JSON.stringify(envelope)
  socket.end(
    `HTTP/1.1 ${status} ${reason}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nCache-Control: no-store\r\nX-Request-Id: ${randomUUID()}\r\nConnection: close\r\n\r\n${body}`,
  )
}

/** Closes the server after the requests in progress; after `drainMs` their connections are closed as well. */
export async function drained(app: FastifyInstance, drainMs: number): Promise<void> {
  const timer = setTimeout(() => app.server.closeAllConnections(), drainMs)
  try {
    await app.close()
  } finally {
    clearTimeout(timer)
  }
}
