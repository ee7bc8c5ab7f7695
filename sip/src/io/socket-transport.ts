import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { randomToken, type UnixMs } from '@parley/kernel'
import { SipError } from '../errors.ts'
import { DEFAULT_LIMITS } from '../message/parse-result.ts'
import { Admission } from '../transport/admission.ts'
import { DatagramBudget, DEFAULT_DATAGRAM_LIMITS } from '../transport/datagram-budget.ts'
import { DEFAULT_STREAM_LIMITS, type StreamLimits } from '../transport/stream-limits.ts'
import type {
  NextHop,
  SipTransport,
  SocketAddress,
  Target,
  TransportInput,
  TransportName,
  TransportOutput,
} from '../transport/transport.ts'
import { TransportEventQueue } from '../transport/transport-event-queue.ts'
import { DatagramChannel } from './datagram-channel.ts'
import { errorText } from './socket-error.ts'
import type { SocketTransportOptions, TlsIdentity } from './socket-transport-options.ts'
import { StreamListener } from './stream-listener.ts'
import { StreamPool } from './stream-pool.ts'
import { ClientContexts } from './tls-contexts.ts'

/** Current counts of a transport, for metrics and tests. */
export interface SocketTransportStats {
  /** Open connections, in both directions. */
  readonly established: number
  /** Accepted connections, handshakes included. */
  readonly accepted: number
  /** TLS handshakes in progress on accepted connections. */
  readonly handshakes: number
  /** Connections that we opened or are opening. */
  readonly dialled: number
  /** Connections refused by the limits since the start. */
  readonly refused: number
  /** Connections closed since the start to make room for others. */
  readonly evicted: number
  /** Datagrams dropped unread since the start, because their sources sent too many; an estimate of those that the kernel dropped. */
  readonly datagramsDropped: number
  /** When our certificate ends; null: none is used. */
  readonly certificateEndsAt: UnixMs | null
}

/** The SIP transport layer over real sockets: UDP, TCP and TLS (RFC 3261 section 18), keep-alives of RFC 5626. */
export class SocketTransport implements SipTransport {
  readonly #options: SocketTransportOptions
  readonly #bind: string
  readonly #limits: StreamLimits
  readonly #idPrefix: string
  readonly #inbox = new TransportEventQueue()
  readonly #admission: Admission
  readonly #isKnownAddress: (address: string) => boolean
  readonly #datagramBudget: DatagramBudget
  readonly #floodEndsBelow: number
  readonly #pool: StreamPool
  readonly #listeners = new Map<'tcp' | 'tls', StreamListener>()
  #datagrams: DatagramChannel | undefined
  #certificateEndsAt: UnixMs | null
  #closing: Promise<void> | undefined

  private constructor(options: SocketTransportOptions) {
    this.#options = options
    this.#bind = options.bind ?? '127.0.0.1'
    this.#limits = { ...DEFAULT_STREAM_LIMITS, ...options.limits }
    this.#idPrefix = randomToken(options.random, 10)
    this.#admission = new Admission(this.#limits)
    this.#isKnownAddress = options.isKnownAddress ?? (() => false)
    const { time, random } = options
    const datagramLimits = { ...DEFAULT_DATAGRAM_LIMITS, ...options.datagramLimits }
    this.#floodEndsBelow = datagramLimits.perSource / 2
    const onFlood = (address: string) => this.#datagrams?.thin(address)
    this.#datagramBudget = new DatagramBudget(
      datagramLimits,
      { isKnownAddress: this.#isKnownAddress, onFlood },
      time.now(),
    )
    this.#pool = new StreamPool(
      {
        time,
        random,
        limits: this.#limits,
        messageLimits: options.messageLimits ?? DEFAULT_LIMITS,
        bind: this.#bind,
        idPrefix: this.#idPrefix,
        inbox: this.#inbox,
      },
      options.tls === undefined ? undefined : new ClientContexts(options.tls),
    )
    this.#certificateEndsAt = options.tls === undefined ? null : endOf(options.tls)
  }

  /**
   * Listens as asked. Rejects with `SipError` "listen_failed" when an address or port is not available (nothing stays
   * open then), "bad_options" when `tlsPort` is given without `tls`, "bad_certificate" when `tls` cannot be used.
   */
  static async open(options: SocketTransportOptions): Promise<SocketTransport> {
    if (typeof options.tlsPort === 'number' && options.tls === undefined)
      throw new SipError('bad_options', 'tlsPort needs a certificate: give tls as well')
    const transport = new SocketTransport(options)
    try {
      await transport.#listen()
    } catch (error) {
      await transport.close()
      throw new SipError('listen_failed', `cannot listen on ${transport.#bind}: ${errorText(error)}`, { cause: error })
    }
    return transport
  }

  onInput(listener: (input: TransportInput) => void): void {
    this.#inbox.listen(listener)
  }

  submit(output: TransportOutput): void {
    if (this.#closing !== undefined) return
    this.#inbox.hold(() => {
      if (output.type === 'resolve') this.#resolve(output.resolveId, output.hop)
      else if (output.type === 'close-flow') this.#pool.closeFlow(output.flow)
      else if (output.type === 'keep-within') this.#pool.keepWithin(output.flow, output.withinMs)
      else this.#send(output.sendId, output.to, output.bytes)
    })
  }

  advertised(transport: TransportName): { readonly host: string; readonly port: number } | undefined {
    const address = this.address(transport)
    if (address === undefined) return undefined
    const bind = isIP(this.#bind) === 6 ? `[${this.#bind}]` : this.#bind
    return { host: this.#options.advertisedHost ?? bind, port: address.port }
  }

  /** Where a transport listens; undefined when it does not. */
  address(transport: TransportName): SocketAddress | undefined {
    if (transport === 'udp') return this.#datagrams?.address
    return this.#listeners.get(transport)?.address
  }

  /**
   * New handshakes, accepted and dialled, use the new identity; open connections are not affected. Throws
   * `SipError` "bad_certificate", and nothing has changed then.
   */
  replaceCertificate(tls: TlsIdentity): void {
    const contexts = new ClientContexts(tls)
    this.#listeners.get('tls')?.replaceCertificate(tls)
    this.#pool.replaceSecureContexts(contexts)
    this.#certificateEndsAt = endOf(tls)
  }

  stats(): SocketTransportStats {
    return {
      established: this.#pool.established,
      accepted: this.#admission.accepted,
      handshakes: this.#admission.handshakes,
      dialled: this.#pool.dialled,
      refused: this.#admission.refused,
      evicted: this.#admission.evicted,
      datagramsDropped: this.#datagramBudget.dropped,
      certificateEndsAt: this.#certificateEndsAt,
    }
  }

  /**
   * Ends every flow (`flow-closed` "shutdown") and every send that waits, then reports nothing more. Resolves when no
   * socket is left: peers have `lingerMs`, at most 250 ms, to take what was sent. Never rejects, may be called again.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const listeners = [...this.#listeners.values()]
    for (const listener of listeners) listener.stop()
    this.#pool.shutDown()
    this.#inbox.close()
    const { time } = this.#options
    const timer = time.at(time.now() + Math.min(this.#limits.lingerMs, 250), () => this.#pool.cut())
    await this.#pool.drained()
    timer.cancel()
    await Promise.all([...listeners.map(listener => listener.destroy()), this.#datagrams?.close()])
  }

  async #listen(): Promise<void> {
    const { udpPort, tcpPort, tlsPort, messageLimits = DEFAULT_LIMITS, time } = this.#options
    if (typeof udpPort === 'number') {
      this.#datagrams = await DatagramChannel.open({
        bind: this.#bind,
        port: udpPort,
        idPrefix: this.#idPrefix,
        messageLimits,
        budget: this.#datagramBudget,
        floodEndsBelow: this.#floodEndsBelow,
        control: this.#options.datagramControl,
        time,
        inbox: this.#inbox,
      })
    }
    if (typeof tcpPort === 'number') await this.#listenStream('tcp', tcpPort, undefined)
    if (typeof tlsPort === 'number') await this.#listenStream('tls', tlsPort, this.#options.tls)
  }

  async #listenStream(transport: 'tcp' | 'tls', port: number, tls: TlsIdentity | undefined): Promise<void> {
    const listener = await StreamListener.open({
      bind: this.#bind,
      port,
      tls,
      admission: this.#admission,
      isKnownAddress: this.#isKnownAddress,
      handshakeMs: this.#limits.handshakeMs,
      time: this.#options.time,
      onConnection: (socket, onAnswer) => this.#pool.accept(socket, transport, onAnswer),
    })
    this.#listeners.set(transport, listener)
  }

  #send(sendId: number, to: Extract<TransportOutput, { type: 'send' }>['to'], bytes: Uint8Array): void {
    if ('flow' in to && to.flow.transport !== 'udp') {
      this.#pool.sendOn(to.flow, { sendId, bytes })
      return
    }
    const target = 'flow' in to ? to.flow.remote : to.target
    if (isIP(target.address) === 0 || !(target.port >= 1 && target.port <= 65_535)) {
      const detail = `${target.address}:${target.port} is no address and port`
      this.#inbox.put({ type: 'send-failed', sendId, code: 'unreachable', detail })
    } else if ('target' in to && isStream(to.target)) {
      this.#pool.sendTo(to.target, { sendId, bytes })
    } else if (this.#datagrams === undefined) {
      const detail = 'this transport has no UDP socket'
      this.#inbox.put({ type: 'send-failed', sendId, code: 'not_listening', detail })
    } else {
      this.#datagrams.send(sendId, bytes, target)
    }
  }

  #resolve(resolveId: number, hop: NextHop): void {
    const resolved = (targets: readonly Target[]) => this.#inbox.put({ type: 'resolved', resolveId, targets })
    this.#options.resolver.resolve(hop).then(resolved, () => resolved([]))
  }
}

function endOf(tls: TlsIdentity): UnixMs {
  return new X509Certificate(tls.cert).validToDate.getTime()
}

function isStream(target: Target): target is Target & { readonly transport: 'tcp' | 'tls' } {
  return target.transport !== 'udp'
}
