import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Endpoint, type EndpointOptions, ensureLocalCertificate, receiveLeg } from '@parley/leg'
import { createResponse, HeaderList, type InviteSession, parseDatagram, type SipRequest, serialise } from '@parley/sip'

type LocalCertificateOptions = Parameters<typeof ensureLocalCertificate>[1]

/** Carriers of one test file that behave or misbehave on this machine's loopback addresses. */
export class Carriers {
  readonly #closers: (() => unknown)[] = []
  #homes = 0
  readonly #directory: string

  private constructor(directory: string) {
    this.#directory = directory
  }

  static async open(): Promise<Carriers> {
    return new Carriers(await mkdtemp(join(tmpdir(), 'parley-check-')))
  }

  /** A certificate of an authority of its own. */
  certificate(options?: LocalCertificateOptions) {
    return ensureLocalCertificate(join(this.#directory, `authority-${this.#homes++}`), options)
  }

  /** A carrier with Parley's own SIP stack. */
  async carrier(
    options: Pick<EndpointOptions, 'tls'> &
      Partial<Pick<EndpointOptions, 'guard'>> & { readonly onInvite?: (session: InviteSession, own: Endpoint) => void },
  ): Promise<Endpoint> {
    const { onInvite = (session, own) => void answering({})(session, own) } = options
    const endpoint: Endpoint = await Endpoint.open({
      guard: () => ({ action: 'accept' }),
      userAgentName: 'carrier',
      ...options,
      rtp: { ports: { from: 23_000, to: 23_499 }, threads: 1, packetIo: 'portable' },
      onInvite: session => onInvite(session, endpoint),
    })
    this.#closers.push(() => endpoint.close())
    return endpoint
  }

  /** A carrier over UDP that answers with exactly what the test says; null: nothing. Returns its port. */
  async rawCarrier(answer: (request: SipRequest) => RawAnswer | null): Promise<number> {
    const socket = await this.socket('127.0.0.1')
    socket.on('message', (bytes, from) => {
      const parsed = parseDatagram(bytes)
      if (!parsed.ok || parsed.message.kind !== 'request' || parsed.message.method === 'ACK') return
      const reply = answer(parsed.message)
      if (reply !== null) socket.send(bytesOf(parsed.message, reply, socket.address().port), from.port, from.address)
    })
    return socket.address().port
  }

  async socket(address: string, onMessage?: (bytes: Buffer, from: RemoteInfo) => void): Promise<Socket> {
    const socket = createSocket('udp4')
    socket.bind(0, address)
    await once(socket, 'listening')
    if (onMessage !== undefined) socket.on('message', onMessage)
    this.#closers.push(() => socket.close())
    return socket
  }

  defer(close: () => unknown): void {
    this.#closers.push(close)
  }

  async close(): Promise<void> {
    for (const close of this.#closers.splice(0).reverse()) await close()
    await rm(this.#directory, { recursive: true, force: true })
  }
}

interface RawAnswer {
  readonly status: number
  readonly headers?: readonly (readonly [string, string])[]
  readonly sdp?: string
}

function bytesOf(request: SipRequest, { status, headers = [], sdp }: RawAnswer, port: number): Uint8Array {
  const uri = { scheme: 'sip', user: 'carrier', password: undefined, host: '127.0.0.1', port, headers: [] } as const
  return serialise(
    createResponse(request, status, {
      toTag: 'carrier',
      contact: [{ displayName: undefined, uri: { ...uri, params: new Map() }, params: new Map() }],
      headers: headers.reduce((list, [name, value]) => list.with(name, value), HeaderList.empty),
      ...(sdp !== undefined && { body: Buffer.from(sdp), contentType: 'application/sdp' }),
    }),
  )
}

/** Answers calls as `options` say, and speaks. */
export function answering(options: Parameters<typeof receiveLeg>[2]) {
  return async (session: InviteSession, own: Endpoint): Promise<void> => {
    const leg = await receiveLeg(own, session, options)
    if (leg === null) return
    leg.onEvent(({ type }) => {
      if (type === 'answered') leg.play(new Int16Array(leg.format.sampleRateHz * 3).fill(1000))
    })
    leg.ring()
    leg.answer()
  }
}
