import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemRandom, systemTime } from '@parley/kernel'
import type { Flow, Target, TransportInput } from '../transport/transport.ts'
import { ensureLocalCertificate, type LocalCertificate } from './local-authority.ts'
import { SocketTransport, type SocketTransportStats } from './socket-transport.ts'
import type { SocketTransportOptions } from './socket-transport-options.ts'
import { SystemResolver } from './system-resolver.ts'

/** A whole OPTIONS request, its Call-ID `id`. */
export function options(id: string, body = ''): Buffer {
  return Buffer.from(
    [
      'OPTIONS sip:parley@127.0.0.1 SIP/2.0',
      `Via: SIP/2.0/TLS 127.0.0.1:5061;branch=z9hG4bK${id}`,
      'Max-Forwards: 70',
      'From: <sip:peer@127.0.0.1>;tag=a',
      'To: <sip:parley@127.0.0.1>',
      `Call-ID: ${id}`,
      'CSeq: 1 OPTIONS',
      `Content-Length: ${Buffer.byteLength(body)}`,
      '',
      body,
    ].join('\r\n'),
  )
}

/** One turn of the event loop. */
export function turn(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}

type InputOf<Type extends TransportInput['type']> = Extract<TransportInput, { type: Type }>

/** A transport on loopback that records its events. */
export class Endpoint {
  readonly transport: SocketTransport
  readonly told: TransportInput[] = []
  /** Called with every event before it is recorded. */
  onTold: (input: TransportInput) => void = () => {}
  #nextSendId = 1
  #wake: (() => void)[] = []

  constructor(transport: SocketTransport) {
    this.transport = transport
    transport.onInput(input => {
      this.told.push(input)
      this.onTold(input)
      for (const wake of this.#wake.splice(0)) wake()
    })
  }

  /** The address of this endpoint for another one to send to. */
  target(transport: 'udp' | 'tcp' | 'tls', serverName = 'localhost'): Target {
    return { ...this.transport.address(transport)!, transport, serverName }
  }

  send(to: Target | Flow, bytes: Uint8Array): number {
    const sendId = this.#nextSendId++
    this.transport.submit({
      type: 'send',
      sendId,
      to: 'serverName' in to && 'id' in to ? { flow: to } : { target: to },
      bytes,
    })
    return sendId
  }

  all<Type extends TransportInput['type']>(type: Type): InputOf<Type>[] {
    return this.told.filter((input): input is InputOf<Type> => input.type === type)
  }

  /** The first `count` inputs of a type, as soon as there are this many. */
  async until<Type extends TransportInput['type']>(type: Type, count = 1): Promise<InputOf<Type>[]> {
    await this.untilTrue(() => this.all(type).length >= count)
    return this.all(type).slice(0, count)
  }

  async untilTrue(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>(resolve => this.#wake.push(resolve))
  }

  /** Polls in every turn of the event loop, because no event reports that a socket is completely closed. */
  async untilStats(expected: Partial<SocketTransportStats>): Promise<void> {
    const differs = () => {
      const stats = this.transport.stats()
      return Object.entries(expected).some(([name, value]) => stats[name as keyof SocketTransportStats] !== value)
    }
    while (differs()) await turn()
  }

  callIds(): string[] {
    return this.all('message').map(input => (input.result.ok ? input.result.message.callId : input.result.fault.code))
  }
}

/** Certificates by authority, made once for all tests of a file: RSA keys take their time. */
const certificates = new Map<string, Promise<LocalCertificate>>()

async function makeCertificate(): Promise<LocalCertificate> {
  const home = await mkdtemp(join(tmpdir(), 'parley-transport-'))
  try {
    return await ensureLocalCertificate(home)
  } finally {
    await rm(home, { recursive: true })
  }
}

/** The transports and peers of one test; `close` closes them all. */
export class TransportFixture {
  readonly #authority: string
  readonly #closers: (() => unknown)[] = []

  constructor(authority = 'ours') {
    this.#authority = authority
  }

  certificate(): Promise<LocalCertificate> {
    const made = certificates.get(this.#authority) ?? makeCertificate()
    certificates.set(this.#authority, made)
    return made
  }

  async endpoint(changes: Partial<SocketTransportOptions> = {}): Promise<Endpoint> {
    const transport = await SocketTransport.open({
      udpPort: 0,
      tcpPort: 0,
      tlsPort: 0,
      tls: await this.certificate(),
      resolver: new SystemResolver({ time: systemTime }),
      time: systemTime,
      random: systemRandom,
      ...changes,
    })
    this.#closers.push(() => transport.close())
    return new Endpoint(transport)
  }

  /** A bare TCP client that keeps what it reads. */
  async rawClient(port: number, from = '127.0.0.1'): Promise<TcpPeer> {
    const socket = connect({ port, host: '127.0.0.1', localAddress: from })
    const peer = new TcpPeer(socket)
    this.#closers.push(() => socket.destroy())
    await once(socket, 'connect')
    return peer
  }

  /** A bare TCP server; with `allowHalfOpen` it does not end its side when the peer ended its own. */
  async rawServer(onConnection: (socket: Socket) => void, allowHalfOpen = false): Promise<Target> {
    const sockets = new Set<Socket>()
    const server: Server = createServer({ allowHalfOpen }, socket => {
      sockets.add(socket)
      socket.on('error', () => {})
      onConnection(socket)
    })
    this.#closers.push(async () => {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    return { address: '127.0.0.1', port, transport: 'tcp', serverName: 'localhost' }
  }

  defer(closer: () => unknown): void {
    this.#closers.push(closer)
  }

  async close(): Promise<void> {
    await Promise.all(this.#closers.splice(0).map(closer => closer()))
  }
}

/** The far end of a connection without any SIP: what came, and how it ended. */
export class TcpPeer {
  readonly socket: Socket
  readonly closed: Promise<unknown>
  received = ''
  #wake: (() => void)[] = []

  constructor(socket: Socket) {
    this.socket = socket
    this.closed = new Promise(resolve => socket.once('close', resolve))
    socket.on('error', () => {})
    socket.on('data', chunk => {
      this.received += chunk.toString('latin1')
      for (const wake of this.#wake.splice(0)) wake()
    })
  }

  async until(condition: (received: string) => boolean): Promise<void> {
    while (!condition(this.received)) await new Promise<void>(resolve => this.#wake.push(resolve))
  }
}
