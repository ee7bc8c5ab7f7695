import { systemRandom, systemTime } from '@parley/kernel'
import { HeaderList } from '../message/header-list.ts'
import type { SipRequest, SipUri } from '../message/message.ts'
import { createResponse } from '../message/message-factory.ts'
import { parseNameAddr } from '../message/name-addr.ts'
import { serialise } from '../message/serialise.ts'
import { parseUri } from '../message/uri.ts'
import type { Flow } from '../transport/transport.ts'
import type { InviteSession, SessionEvent } from '../ua/session.ts'
import { UserAgent } from '../ua/user-agent.ts'
import type { Endpoint, TransportFixture } from './socket-transport.fixture.ts'
import { SocketTransport } from './socket-transport.ts'
import type { SocketTransportOptions } from './socket-transport-options.ts'

const encoder = new TextEncoder()

interface CarrierReply {
  readonly status: number
  readonly headers?: readonly (readonly [string, string])[]
  /** Record-Route and Contact of the answer: the destination of the caller's further requests. */
  readonly hop?: string
}

/** The far end of a trunk on real sockets: answers as scripted and records the received methods with their flows. */
export class Carrier {
  readonly endpoint: Endpoint
  readonly heard: { readonly method: string; readonly request: SipRequest; readonly flow: Flow }[] = []

  constructor(endpoint: Endpoint, reply: (request: SipRequest) => CarrierReply) {
    this.endpoint = endpoint
    endpoint.onTold = input => {
      if (input.type !== 'message' || !input.result.ok || input.result.message.kind !== 'request') return
      const request = input.result.message
      this.heard.push({ method: request.method, request, flow: input.flow })
      if (request.method !== 'ACK') endpoint.send(input.flow, response(request, reply(request)))
    }
  }

  get methods(): string[] {
    return this.heard.map(({ method }) => method)
  }

  /** Resolves with the last request once `count` requests of `method` have arrived. */
  async until(method: string, count = 1): Promise<{ readonly request: SipRequest; readonly flow: Flow }> {
    const all = () => this.heard.filter(entry => entry.method === method)
    await this.endpoint.untilTrue(() => all().length >= count)
    return all().at(-1)!
  }

  cut(flow: Flow): void {
    this.endpoint.transport.submit({ type: 'close-flow', flow })
  }
}

function response(request: SipRequest, reply: CarrierReply): Uint8Array {
  const { status, headers = [], hop } = reply
  const answers = request.method === 'INVITE' && status === 200
  const made = createResponse(request, status, {
    toTag: 'carrier',
    headers: headers.reduce((list, [name, value]) => list.with(name, value), HeaderList.empty),
    ...(hop !== undefined && { contact: [parseNameAddr(`<${hop}>`)!] }),
    ...(answers && { body: encoder.encode('answer'), contentType: 'application/sdp' }),
  })
  return serialise({ ...made, recordRoute: hop === undefined ? [] : [parseNameAddr(`<${hop};lr>`)!] })
}

/** A caller with a real user agent on real sockets. */
export class Caller {
  readonly agent: UserAgent
  readonly transport: SocketTransport

  private constructor(transport: SocketTransport) {
    this.transport = transport
    this.agent = new UserAgent({
      time: systemTime,
      random: systemRandom,
      transport,
      guard: () => ({ action: 'drop' }),
      onInvite: () => {},
    })
  }

  static async open(
    bench: TransportFixture,
    options: Pick<SocketTransportOptions, 'tls' | 'resolver'> & Partial<SocketTransportOptions>,
  ): Promise<Caller> {
    const transport = await SocketTransport.open({
      tlsPort: 0,
      tcpPort: 0,
      udpPort: 0,
      time: systemTime,
      random: systemRandom,
      ...options,
    })
    const caller = new Caller(transport)
    bench.defer(() => transport.close())
    return caller
  }

  call(target: string): CallerCall {
    return new CallerCall(
      this.agent.invite({
        uri: parseUri(target) as SipUri,
        from: parseNameAddr('<sip:caller@caller.example>')!,
        body: { contentType: 'application/sdp', bytes: encoder.encode('offer') },
      }),
    )
  }
}

class CallerCall {
  readonly session: InviteSession
  readonly answered: Promise<unknown>
  readonly ended: Promise<Extract<SessionEvent, { type: 'ended' }>['end']>

  constructor(session: InviteSession) {
    this.session = session
    const answered = Promise.withResolvers<void>()
    const ended = Promise.withResolvers<Extract<SessionEvent, { type: 'ended' }>['end']>()
    this.answered = answered.promise
    this.ended = ended.promise
    session.onEvent(event => {
      if (event.type === 'answered') answered.resolve()
      else if (event.type === 'ended') {
        ended.resolve(event.end)
        answered.reject(new Error(`the call ended: ${event.end.detail}`))
      }
    })
    answered.promise.catch(() => {})
  }
}
