import type { Socket } from 'node:net'
import { isIP, connect as tcpConnect } from 'node:net'
import { connect as tlsConnect } from 'node:tls'
import type { Ms, Time } from '@parley/kernel'
import type { Target } from '../target.ts'
import type { Lifetime } from './lifetime.ts'

interface PinnedConnect {
  readonly target: Target
  /** The connection goes to this address only; with TLS the certificate must match the target's host name. */
  readonly address: string
  readonly lifetime: Lifetime
  readonly time: Time
  readonly timeoutMs: Ms
  /** PEM certificates of authorities; undefined means those that Node trusts. */
  readonly ca: string | readonly string[] | undefined
}

/** Resolves with the connection after a verified TLS handshake, or with the reason why there is none. */
export function connectPinned(options: PinnedConnect): Promise<Socket | string> {
  const { time, lifetime } = options
  if (lifetime.endedBy !== undefined) return Promise.resolve(lifetime.endedBy)
  return new Promise(resolve => {
    const socket = openSocket(options)
    const timer = time.at(time.now() + options.timeoutMs, () => fail('connect timeout'))
    const onEnd = () => fail(lifetime.endedBy ?? 'closed')
    const settle = (result: Socket | string) => {
      timer.cancel()
      lifetime.signal.removeEventListener('abort', onEnd)
      resolve(result)
    }
    const fail = (reason: string) => {
      socket.destroy()
      settle(reason)
    }
    lifetime.signal.addEventListener('abort', onEnd)
    // The listener stays, because a later error without a listener would end the process.
    socket.on('error', (error: NodeJS.ErrnoException) => fail(error.code ?? error.message))
    socket.once('close', () => fail('closed'))
    socket.once(options.target.secure ? 'secureConnect' : 'connect', () => settle(socket))
  })
}

function openSocket({ target, address, ca }: PinnedConnect): Socket {
  const { host, port } = target
  const destination = { host: address, port, noDelay: true, keepAlive: true, autoSelectFamily: false }
  if (!target.secure) return tcpConnect(destination)
  return tlsConnect({
    ...destination,
    // SNI must not contain an address (RFC 6066 section 3); the certificate must then contain the address.
    servername: isIP(host) === 0 ? host : '',
    ALPNProtocols: ['http/1.1'],
    rejectUnauthorized: true,
    ...(ca === undefined ? {} : { ca: typeof ca === 'string' ? ca : [...ca] }),
  })
}
