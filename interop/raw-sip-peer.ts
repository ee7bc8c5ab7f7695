import { createSocket, type Socket } from 'node:dgram'
import { type AddressInfo, createServer, type Socket as TcpSocket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { onTestFinished } from 'vitest'

/** What a raw peer was sent. */
export interface RawRequest {
  readonly method: string
  readonly text: string
  reply(
    status: number,
    headers?: readonly string[],
    options?: { readonly toTag?: string; readonly body?: string },
  ): void
}

/**
 * A SIP peer that records every message that it receives and answers as the test orders. A retransmission, which comes where this
 * process was busy for longer than 500 ms, gets the last answer again and is not recorded. Only inside a test.
 */
export class RawSipPeer {
  readonly address: string
  port = 0
  readonly requests: RawRequest[] = []
  readonly responses: string[] = []
  /** Called for every request; answers it or not. Default: no answer. */
  onRequest: (request: RawRequest) => void = () => {}
  readonly #udp: Socket = createSocket('udp4')
  #wake: (() => void)[] = []
  /** By what makes a request a retransmission: the last answer; undefined: none was given. */
  readonly #answers = new Map<string, string | undefined>()

  private constructor(address: string) {
    this.address = address
    this.#udp.on('message', (bytes, from) =>
      this.#take(bytes.toString('latin1'), reply =>
        this.#udp.send(Buffer.from(reply, 'latin1'), from.port, from.address),
      ),
    )
  }

  /** Listens on a TCP port of `address`, and on the same UDP port. */
  static async open(address = '127.0.0.1'): Promise<RawSipPeer> {
    const peer = new RawSipPeer(address)
    const sockets = new Set<TcpSocket>()
    const server = createServer(socket => {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('data', chunk => peer.#take(chunk.toString('latin1'), reply => socket.write(reply, 'latin1')))
    })
    // First the TCP port: those are what others of this machine use up, connections included.
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, address, resolve))
    peer.port = (server.address() as AddressInfo).port
    await new Promise<void>((resolve, reject) => peer.#udp.once('error', reject).bind(peer.port, address, resolve))
    onTestFinished(() => {
      peer.#udp.close()
      for (const socket of sockets) socket.destroy()
      server.close()
    })
    return peer
  }

  uri(transport: 'udp' | 'tcp' = 'udp'): string {
    return `sip:callee@${this.address}:${this.port};transport=${transport}`
  }

  /** All messages that it received. */
  get received(): string {
    return [...this.requests.map(({ text }) => text), ...this.responses].join('\n')
  }

  methods(): string[] {
    return this.requests.map(({ method }) => method)
  }

  /** Waits until `fits` is true; false when it is not within `ms`. */
  async until(fits: () => boolean, ms = 5000): Promise<boolean> {
    const deadline = performance.now() + ms
    while (!fits()) {
      if (performance.now() > deadline) return false
      await Promise.race([
        new Promise<void>(resolve => this.#wake.push(resolve)),
        new Promise(resolve => setTimeout(resolve, 50)),
      ])
    }
    return true
  }

  /** Sends `text` as one datagram. */
  send(text: string, port: number, address = '127.0.0.1'): void {
    this.#udp.send(Buffer.from(text, 'latin1'), port, address)
  }

  #take(text: string, write: (reply: string) => void): void {
    for (const message of text.split(/(?=^(?:SIP\/2\.0 \d{3}|[A-Z]+ sips?:\S+ SIP\/2\.0)\b)/m)) {
      const method = /^([A-Z]+) sips?:/.exec(message)?.[1]
      if (method === undefined) {
        if (message.startsWith('SIP/2.0')) this.responses.push(message)
        continue
      }
      const transaction = `${method} ${/;branch=([^;\s]+)/.exec(message)?.[1]}`
      if (this.#answers.has(transaction)) {
        const answer = this.#answers.get(transaction)
        if (answer !== undefined) write(answer)
        continue
      }
      this.#answers.set(transaction, undefined)
      const request: RawRequest = {
        method,
        text: message,
        reply: (status, headers, options) => {
          const answer = response(message, status, headers, options)
          this.#answers.set(transaction, answer)
          write(answer)
        },
      }
      this.requests.push(request)
      this.onRequest(request)
    }
    for (const wake of this.#wake.splice(0)) wake()
  }
}

/** A response to `request`, which another socket than the addressed one may send in the same transaction. */
export function response(
  request: string,
  status: number,
  headers: readonly string[] = [],
  options: { readonly toTag?: string; readonly body?: string } = {},
): string {
  const copied = request.split('\r\n').filter(line => /^(Via|From|Call-ID|CSeq|Record-Route):/i.test(line))
  const to = /^To: .*$/m.exec(request)?.[0].trimEnd() ?? ''
  const tagged = status === 100 || /;tag=/.test(to) ? to : `${to};tag=${options.toTag ?? 'raw'}`
  const body = options.body ?? ''
  return [
    `SIP/2.0 ${status} Raw`,
    ...copied,
    tagged,
    ...headers,
    ...(body === '' ? [] : ['Content-Type: application/sdp']),
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n')
}

/** A TLS client that writes any text and collects what it receives. */
export async function rawTlsClient(
  port: number,
  ca: string,
): Promise<{ write(text: string): void; received(): string }> {
  const socket = connectTls({ host: '127.0.0.1', port, ca, servername: 'localhost' })
  let received = ''
  socket.on('data', chunk => {
    received += chunk.toString('latin1')
  })
  socket.on('error', () => {})
  await new Promise(resolve => socket.once('secureConnect', resolve))
  onTestFinished(() => void socket.destroy())
  return { write: text => void socket.write(text, 'latin1'), received: () => received }
}
