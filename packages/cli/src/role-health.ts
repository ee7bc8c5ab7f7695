import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Database } from '@parley/store'
import type { Registry } from 'prom-client'
import { httpListenFault } from './start-faults.ts'

interface RoleHealthOptions {
  readonly bind: string
  /** 0: any free port. */
  readonly port: number
  readonly database: Pick<Database, 'ping'>
  readonly registry: Registry
  /** Whether the process accepts no new work. */
  readonly isDraining: () => boolean
}

interface RoleHealth {
  /** Base URL on this machine. */
  readonly url: string
  close(): Promise<void>
}

/** Serves `/healthz`, `/readyz` and `/metrics` in a process without the API. Throws `port_taken`, `listen_failed`. */
export async function serveRoleHealth({ bind, port, ...parts }: RoleHealthOptions): Promise<RoleHealth> {
  const server = createServer((request, response) => {
    answer(request.url ?? '', response, parts).catch(() => response.destroy())
  })
  server.requestTimeout = 10_000
  server.maxHeadersCount = 50
  await listening(server, bind, port)
  const { port: bound } = server.address() as AddressInfo
  return {
    url: `http://${bind}:${bound}`,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function answer(
  path: string,
  response: ServerResponse,
  { database, registry, isDraining }: Omit<RoleHealthOptions, 'bind' | 'port'>,
): Promise<void> {
  const json = (status: number, body: unknown) =>
    void response
      .writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
      .end(JSON.stringify(body))
  if (path === '/healthz') return json(200, { status: 'ok' })
  if (path === '/metrics')
    return void response.writeHead(200, { 'content-type': registry.contentType }).end(await registry.metrics())
  if (path !== '/readyz') return json(404, { error: 'unknown path: use /healthz, /readyz or /metrics' })
  const isReachable = await database.ping().then(
    () => true,
    () => false,
  )
  const reasons = isDraining() ? ['draining'] : isReachable ? [] : ['database_unavailable']
  json(reasons.length === 0 ? 200 : 503, { ready: reasons.length === 0, reasons })
}

function listening(server: Server, bind: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', cause => reject(httpListenFault(cause, { bind, port })))
    server.listen(port, bind, resolve)
  })
}
