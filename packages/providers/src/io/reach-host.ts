import { connect as connectPlain, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Ms } from '@parley/kernel'
import type { HostLookup } from './host-lookup.ts'

const TIMEOUT_MS: Ms = 5000
const TLS = ['https:', 'wss:']

/**
 * Connects to the host of a service and closes, without a request: the first stream of a process then waits neither for TLS and its root
 * certificates to load nor for a name that nobody has asked for. A stream in advance would not do, because services bill and count streams.
 * Resolves when the connection stands or has failed, after 5 s at the latest; failures are ignored, because the stream reports them.
 */
export function reachHost(url: string, lookup?: HostLookup): Promise<void> {
  const { protocol, hostname, port } = new URL(url)
  const isTls = TLS.includes(protocol)
  const host = hostname.replace(/^\[|\]$/g, '')
  const to = { host, port: Number(port) || (isTls ? 443 : 80), ...(lookup !== undefined && { lookup }) }
  return new Promise(resolve => {
    const done = () => {
      socket.destroy()
      resolve()
    }
    // The same as a stream's: it names the host, and not an address, to the server.
    const socket: Socket = isTls
      ? connectTls({ ...to, ...(/[a-z]/i.test(host) && !host.includes(':') && { servername: host }) }, done)
      : connectPlain(to, done)
    socket.setTimeout(TIMEOUT_MS, done)
    socket.on('error', done)
  })
}
