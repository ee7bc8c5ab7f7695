import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { unreadable } from './request-fault.ts'

/** What one sender can make the server hold, in ms unless said otherwise. */
export interface ConnectionLimits {
  /** Connections at once; more are closed as they come. Default 10 000. */
  readonly max: number
  /** From the first byte of a request to the end of its head. Default 10 000. */
  readonly headMs: number
  /** From the first byte of a request to its last. Default 30 000. */
  readonly requestMs: number
  /** How long a connection may stay open between requests. Default 60 000. */
  readonly keepAliveMs: number
  /** How long a connection may stay silent while a request is answered. Default 120 000. */
  readonly silentMs: number
  /** How long requests under way may take once the server closes. Default 30 000. */
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

/** Answers what cannot be read as HTTP, and ends the connection. */
export function onClientError(error: Error & { code?: string }, socket: Socket): void {
  if (socket.destroyed || !socket.writable || error.code === 'ECONNRESET') return void socket.destroy()
  const { status, reason, envelope } = unreadable(error.code)
  const body = JSON.stringify(envelope)
  socket.end(
    `HTTP/1.1 ${status} ${reason}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nCache-Control: no-store\r\nX-Request-Id: ${randomUUID()}\r\nConnection: close\r\n\r\n${body}`,
  )
}

/** Lets requests under way finish, then closes; what takes longer than `drainMs` is cut off. */
export async function drained(app: FastifyInstance, drainMs: number): Promise<void> {
  const timer = setTimeout(() => app.server.closeAllConnections(), drainMs)
  try {
    await app.close()
  } finally {
    clearTimeout(timer)
  }
}
