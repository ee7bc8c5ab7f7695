import { HeaderList } from '../../message/header-list.ts'
import type { NameAddr, SipMessage, SipRequest, SipResponse } from '../../message/message.ts'
import { createResponse } from '../../message/message-factory.ts'
import { serialise } from '../../message/serialise.ts'
import type { Flow, TransportInput, TransportName } from '../../transport/transport.ts'
import type { VirtualNetwork } from '../virtual-network.ts'
import type { VirtualTransport } from '../virtual-transport.ts'
import { sipUri } from './pair.ts'

export interface Reply {
  toTag?: string
  headers?: readonly (readonly [string, string])[]
  body?: string
  contactHost?: string
  recordRoute?: readonly NameAddr[]
}

/** A peer without state machines: sends exactly the messages of the test and records what it received. */
export class ScriptedPeer {
  readonly transport: VirtualTransport
  readonly heard: { readonly message: SipMessage; readonly flow: Flow }[] = []
  readonly host: string
  /** Called for every message; may reply. */
  onMessage: (message: SipMessage, flow: Flow) => void = () => {}
  /** Called for every STUN message; may answer. */
  onStun: (bytes: Uint8Array, flow: Flow) => void = () => {}
  readonly #encoder = new TextEncoder()
  #sendId = 1

  constructor(network: VirtualNetwork, address: string, host: string, listens?: readonly TransportName[]) {
    this.host = host
    this.transport = network.element({ address, host, ...(listens && { listens }) })
    this.transport.onInput((input: TransportInput) => {
      if (input.type === 'stun') this.onStun(input.bytes, input.flow)
      if (input.type !== 'message' || !input.result.ok) return
      this.heard.push({ message: input.result.message, flow: input.flow })
      this.onMessage(input.result.message, input.flow)
    })
  }

  get requests(): SipRequest[] {
    return this.heard.map(entry => entry.message).filter(message => message.kind === 'request')
  }

  get responses(): SipResponse[] {
    return this.heard.map(entry => entry.message).filter(message => message.kind === 'response')
  }

  methods(): string[] {
    return this.requests.map(request => request.method)
  }

  /** The last request of a method, with its flow. */
  last(method: string): { request: SipRequest; flow: Flow } {
    const entry = this.heard.findLast(({ message }) => message.kind === 'request' && message.method === method)
    if (entry === undefined || entry.message.kind !== 'request') throw new Error(`no ${method} was received`)
    return { request: entry.message, flow: entry.flow }
  }

  reply(to: { request: SipRequest; flow: Flow }, status: number, reply: Reply = {}): void {
    const { request, flow } = to
    let headers = HeaderList.empty
    for (const [name, value] of reply.headers ?? []) headers = headers.with(name, value)
    const contact: NameAddr = {
      displayName: undefined,
      uri: sipUri('peer', reply.contactHost ?? this.host, flow.transport),
      params: new Map(),
    }
    const response = createResponse(request, status, {
      ...(status === 100 ? {} : { toTag: reply.toTag ?? 'peer-tag' }),
      contact: [contact],
      headers,
      ...(reply.body === undefined ? {} : { body: this.#encoder.encode(reply.body), contentType: 'application/sdp' }),
    })
    this.sendMessage({ ...response, recordRoute: reply.recordRoute ?? [] }, { flow })
  }

  sendMessage(message: SipMessage, to: { flow: Flow } | { address: string; transport: TransportName }): void {
    this.sendBytes(serialise(message), to)
  }

  /** A message as text; lines may end in LF alone. */
  sendText(text: string, to: { flow: Flow } | { address: string; transport: TransportName }): void {
    this.sendBytes(this.#encoder.encode(text.replace(/\r?\n/g, '\r\n')), to)
  }

  sendBytes(bytes: Uint8Array, to: { flow: Flow } | { address: string; transport: TransportName }): void {
    const where =
      'flow' in to
        ? { flow: to.flow }
        : {
            target: {
              address: to.address,
              transport: to.transport,
              port: to.transport === 'tls' ? 5061 : 5060,
              serverName: 'a.test',
            },
          }
    this.transport.submit({ type: 'send', sendId: this.#sendId++, to: where, bytes })
  }
}

/** A request as a peer at `host` writes it. */
export function requestText(options: {
  method: string
  uri?: string
  host?: string
  via?: string
  branch?: string
  fromTag?: string
  toTag?: string
  callId?: string
  cseq?: number
  headers?: readonly string[]
  body?: string
}): string {
  const body = options.body ?? ''
  return [
    `${options.method} ${options.uri ?? 'sip:alice@a.test'} SIP/2.0`,
    `Via: ${options.via ?? `SIP/2.0/UDP ${options.host ?? '10.0.0.9'};rport`};branch=${options.branch ?? 'z9hG4bKraw1'}`,
    'Max-Forwards: 70',
    `From: <sip:peer@${options.host ?? '10.0.0.9'}>;tag=${options.fromTag ?? 'raw-tag'}`,
    `To: <sip:alice@a.test>${options.toTag === undefined ? '' : `;tag=${options.toTag}`}`,
    `Call-ID: ${options.callId ?? 'raw-call'}`,
    `CSeq: ${options.cseq ?? 1} ${options.method}`,
    `Contact: <sip:peer@${options.host ?? '10.0.0.9'}>`,
    ...(options.headers ?? []),
    `Content-Length: ${body.length}`,
    '',
    body,
  ].join('\r\n')
}
