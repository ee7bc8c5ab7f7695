import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type TLSSocket, type Server as TlsServer } from 'node:tls'
import type { Time } from '@parley/kernel'
import type { Admission, AdmissionSlot } from '../transport/admission.ts'
import { unmapAddress } from '../transport/ip-address.ts'
import type { SocketAddress } from '../transport/transport.ts'
import { OpenSockets } from './open-sockets.ts'
import { markAsSignalling } from './signalling-class.ts'
import type { TlsIdentity } from './socket-transport-options.ts'
import { serverContextOptions } from './tls-contexts.ts'

interface StreamListenerOptions {
  readonly bind: string
  readonly port: number
  /** Present: the listener speaks TLS. */
  readonly tls: TlsIdentity | undefined
  readonly admission: Admission
  /** Whether the address is a trunk's, or one that we called. */
  readonly isKnownAddress: (address: string) => boolean
  readonly handshakeMs: number
  readonly time: Time
  /** An admitted connection, secured where the listener speaks TLS. `onAnswer` is to be called when a message is sent on it. */
  onConnection(socket: Socket, onAnswer: () => void): void
}

/**
 * A TCP or TLS listener with limits: connections beyond them are dropped before a byte is read, or take the place of an older
 * one, and a TLS handshake has a fixed time from start to end, however many bytes the peer sends.
 */
export class StreamListener {
  readonly #options: StreamListenerOptions
  readonly #server: Server
  readonly #tls: TlsServer | undefined
  readonly #sockets = new OpenSockets()
  /** Set when it listens: to ask the socket costs a system call. */
  #address: SocketAddress = { address: '', port: 0 }
  #stopped: Promise<void> | undefined
  /** By remote address and port: handshakes in progress. */
  readonly #handshakes = new Map<string, { readonly slot: AdmissionSlot; readonly finished: () => void }>()

  private constructor(options: StreamListenerOptions) {
    this.#options = options
    this.#tls = options.tls === undefined ? undefined : this.#tlsServer(options.tls)
    this.#server = createServer({ noDelay: true, allowHalfOpen: false }, socket => this.#accept(socket))
  }

  /** Rejects with the system's error when the port is not available. */
  static async open(options: StreamListenerOptions): Promise<StreamListener> {
    const listener = new StreamListener(options)
    await new Promise<void>((resolve, reject) => {
      listener.#server.once('error', reject)
      listener.#server.listen({ host: options.bind, port: options.port, backlog: 1024 }, resolve)
    })
    const { address, port } = listener.#server.address() as AddressInfo
    listener.#address = { address, port }
    listener.#server.removeAllListeners('error')
    // Out of file descriptors while accepting: the connection is lost, the listener goes on.
    listener.#server.on('error', () => {})
    return listener
  }

  get address(): SocketAddress {
    return this.#address
  }

  /** New handshakes use the new certificate; open connections are not affected. */
  replaceCertificate(tls: TlsIdentity): void {
    this.#tls?.setSecureContext(serverContextOptions(tls))
  }

  /** Stops listening at once. Connections live on. */
  stop(): void {
    this.#stopped ??= new Promise(resolve => this.#server.close(() => resolve()))
  }

  /** Cuts every connection that is left; resolves when nothing of the listener remains. */
  async destroy(): Promise<void> {
    this.stop()
    this.#sockets.cut()
    await Promise.all([this.#stopped, this.#sockets.drained()])
  }

  #accept(socket: Socket): void {
    socket.on('error', () => {})
    const { remoteAddress, remotePort } = socket
    // A peer that reset in the backlog leaves a socket without an address.
    const slot = remoteAddress === undefined ? undefined : this.#admit(socket, remoteAddress)
    if (slot === undefined) {
      // A reset spares us the TIME_WAIT of connections we did not want.
      socket.resetAndDestroy()
      return
    }
    const key = `${remoteAddress}|${remotePort}`
    socket.once('close', () => slot.release())
    this.#sockets.add(socket)
    markAsSignalling(socket)
    if (this.#tls === undefined) this.#options.onConnection(socket, () => slot.answered())
    else this.#secure(this.#tls, socket, key, slot)
  }

  #admit(socket: Socket, remoteAddress: string): AdmissionSlot | undefined {
    const { admission, isKnownAddress } = this.#options
    const address = unmapAddress(remoteAddress)
    return admission.admit({
      address,
      handshake: this.#tls !== undefined,
      isKnown: isKnownAddress(address),
      evict: () => socket.destroy(),
    })
  }

  #secure(tls: TlsServer, socket: Socket, key: string, slot: AdmissionSlot): void {
    const { time, handshakeMs } = this.#options
    const timer = time.at(time.now() + handshakeMs, () => socket.destroy())
    const finished = () => {
      timer.cancel()
      this.#handshakes.delete(key)
      slot.handshakeDone()
    }
    this.#handshakes.set(key, { slot, finished })
    socket.once('close', finished)
    tls.emit('connection', socket)
  }

  #tlsServer(identity: TlsIdentity): TlsServer {
    // Node's own handshake timer restarts with every byte: `handshakeMs` bounds the whole handshake instead.
    const server = createTlsServer({ ...serverContextOptions(identity), handshakeTimeout: 0 })
    server.on('secureConnection', socket => this.#secured(socket))
    server.on('tlsClientError', (_error, socket) => {
      socket.destroy()
    })
    return server
  }

  #secured(socket: TLSSocket): void {
    const key = `${socket.remoteAddress}|${socket.remotePort}`
    const handshake = this.#handshakes.get(key)
    if (handshake === undefined) {
      socket.destroy()
      return
    }
    handshake.finished()
    this.#options.onConnection(socket, () => handshake.slot.answered())
  }
}
