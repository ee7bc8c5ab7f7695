import { type Time, VirtualTime } from '@parley/kernel'
import type { EgressRequest, EgressResult } from '../protocol.ts'
import { type Answerer, LocalServer, type LocalServerOptions } from '../testing/local-server.ts'
import { OutboundHttp, type OutboundHttpOptions } from './outbound-http.ts'

export const never: AbortSignal = new AbortController().signal

const opened: { close(): Promise<void> }[] = []

/** Call after each test: closes its servers and clients. */
export async function closeAll(): Promise<void> {
  await Promise.all(opened.splice(0).map(each => each.close()))
}

/** Starts a server that `closeAll` closes. */
export async function serving(answer: Answerer, options?: LocalServerOptions): Promise<LocalServer> {
  const server = await LocalServer.start(answer, options)
  opened.push(server)
  return server
}

/** A client in virtual time that may reach `shop.test` (127.0.0.1) at the ports of the servers. `closeAll` closes it. */
export function clientOf(
  servers: readonly LocalServer[],
  options: Partial<OutboundHttpOptions> = {},
): { client: OutboundHttp; time: VirtualTime } {
  const time = new VirtualTime()
  const client = clientIn(time, {
    allow: servers.map(server => ({ host: 'shop.test', port: server.port })),
    resolve: async () => ['127.0.0.1'],
    ...options,
  })
  return { client, time }
}

export function clientIn(time: Time, options: Omit<OutboundHttpOptions, 'time'>): OutboundHttp {
  const client = new OutboundHttp({ ...options, time })
  opened.push(client)
  return client
}

/** Sends a request: by default GET with a timeout of one second. */
export function send(client: OutboundHttp, url: string, request: Partial<EgressRequest> = {}): Promise<EgressResult> {
  return client.send({ method: 'GET', url, timeoutMs: 1000, ...request }, never)
}

export function urlOf(server: LocalServer, path = '/', scheme = 'http'): string {
  return `${scheme}://shop.test:${server.port}${path}`
}

/** Status and text of an answer, or the result itself if there is no answer. */
export function statusAndText(result: EgressResult): readonly [number, string] | EgressResult {
  return result.type === 'answered' ? [result.status, Buffer.from(result.body).toString('utf8')] : result
}
