import { connect, isIP, type Socket } from 'node:net'
import { type SecureContext, connect as tlsConnect } from 'node:tls'
import type { Time, Timer } from '@parley/kernel'
import type { StreamLimits } from '../transport/stream-limits.ts'
import type { Target } from '../transport/transport.ts'
import { markAsSignalling } from './signalling-class.ts'
import { checkSipIdentity } from './sip-identity.ts'
import { connectErrorCode, errorCode, errorText } from './socket-error.ts'

interface DialOptions {
  readonly target: Target
  /** Source address, or undefined: the system chooses. */
  readonly localAddress: string | undefined
  /** Needed for a TLS target. */
  readonly secureContext: SecureContext | undefined
  readonly time: Time
  readonly limits: Pick<StreamLimits, 'connectMs' | 'handshakeMs'>
}

type DialOutcome =
  | { readonly ok: true; readonly socket: Socket }
  | { readonly ok: false; readonly code: string; readonly detail: string }

/**
 * Opens one connection: TCP, then TLS with the certificate checked against `target.serverName`, which is also the SNI
 * unless it is an address (RFC 6066 section 3). `done` is called once, later; the returned function gives up.
 */
export function dial(options: DialOptions, done: (outcome: DialOutcome) => void): () => void {
  return new Dial(options, done).start()
}

class Dial {
  readonly #options: DialOptions
  readonly #done: (outcome: DialOutcome) => void
  #tcp: Socket | undefined
  #socket: Socket | undefined
  #timer: Timer | undefined
  #finished = false

  constructor(options: DialOptions, done: (outcome: DialOutcome) => void) {
    this.#options = options
    this.#done = done
  }

  start(): () => void {
    const { target, localAddress, limits } = this.#options
    this.#deadline(limits.connectMs, `no TCP connection in ${limits.connectMs} ms`)
    const tcp = connect({
      host: target.address,
      port: target.port,
      noDelay: true,
      ...(localAddress === undefined ? {} : { localAddress }),
    })
    this.#tcp = tcp
    this.#socket = tcp
    tcp.on('error', error => this.#fail(connectErrorCode(error), errorText(error)))
    tcp.on('close', () => this.#fail('closed', 'the peer closed the connection before it was established'))
    tcp.once('connect', () => {
      markAsSignalling(tcp)
      if (target.transport === 'tls') this.#secure(tcp)
      else this.#succeed(tcp)
    })
    return () => this.#fail('shutdown', 'the transport was closed')
  }

  #secure(tcp: Socket): void {
    const { target, secureContext, limits } = this.#options
    if (this.#finished || secureContext === undefined) return
    this.#deadline(limits.handshakeMs, `no TLS handshake in ${limits.handshakeMs} ms`)
    const name = target.serverName
    const secured = tlsConnect({
      socket: tcp,
      secureContext,
      servername: isIP(name) === 0 ? name : '',
      checkServerIdentity: (_host, certificate) => checkSipIdentity(name, certificate),
    })
    this.#socket = secured
    const fail = (error: unknown) =>
      this.#fail(errorCode(error) === 'ERR_TLS_CERT_ALTNAME_INVALID' ? 'tls_identity' : 'tls_failed', errorText(error))
    secured.on('error', fail)
    secured.once('secureConnect', () => this.#succeed(secured))
    secured.on('close', () => fail(new Error('the peer closed the connection during the TLS handshake')))
  }

  #deadline(ms: number, detail: string): void {
    this.#timer?.cancel()
    const { time } = this.#options
    this.#timer = time.at(time.now() + ms, () => this.#fail('timeout', detail))
  }

  #succeed(socket: Socket): void {
    if (this.#finish()) this.#done({ ok: true, socket })
  }

  #fail(code: string, detail: string): void {
    if (!this.#finish()) return
    this.#socket?.destroy()
    this.#tcp?.destroy()
    this.#done({ ok: false, code, detail })
  }

  #finish(): boolean {
    if (this.#finished) return false
    this.#finished = true
    this.#timer?.cancel()
    return true
  }
}
