import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** An HTTP server for orders that holds its responses until `answer` is called. */
export interface SlowOrderServer {
  readonly origin: string
  /** Number of requests so far. */
  readonly orders: number
  /** Answers all waiting requests, and later ones at once. */
  answer(): void
  close(): Promise<void>
}

/** Listens on a free port of 127.0.0.1. */
export async function openSlowOrderServer(): Promise<SlowOrderServer> {
  const waiting: ServerResponse[] = []
  let [orders, isOpen] = [0, false]
  const respond = (response: ServerResponse) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end('{"number":"seven"}')
  const server = createServer((request, response) => {
    request.resume().on('error', () => {})
    response.on('error', () => {})
    orders++
    if (isOpen) respond(response)
    else waiting.push(response)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve)
  })
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get orders() {
      return orders
    },
    answer() {
      isOpen = true
      for (const response of waiting.splice(0)) respond(response)
    },
    close() {
      server.closeAllConnections()
      return new Promise(resolve => void server.close(() => resolve()))
    },
  }
}
