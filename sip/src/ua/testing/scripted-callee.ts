import type { SipRequest } from '../../message/message.ts'
import { serialiseNameAddr } from '../../message/name-addr.ts'
import type { SessionEvent } from '../session.ts'
import { type Heard, type Pair, sipUri } from './pair.ts'
import { type Reply, ScriptedPeer } from './scripted-peer.ts'

/** A scripted peer at 10.0.0.9 that "a" has called. */
export class ScriptedCallee {
  readonly pair: Pair
  readonly peer: ScriptedPeer
  readonly caller: Heard
  /** The URI of its Contact. */
  contactHost = 'peer.test'
  #sequence = 100

  constructor(pair: Pair, options: Partial<Parameters<Pair['call']>[0]> = {}) {
    this.pair = pair
    this.peer = new ScriptedPeer(pair.network, '10.0.0.9', 'peer.test')
    this.caller = pair.call({ uri: sipUri('x', 'peer.test', pair.transport), ...options })
    pair.time.advance(100)
  }

  get invite(): SipRequest {
    return this.peer.last('INVITE').request
  }

  /** Answers the last INVITE. */
  reply(status: number, reply: Reply = {}): void {
    this.peer.reply(this.peer.last('INVITE'), status, reply)
    this.pair.time.advance(100)
  }

  answer(reply: Reply = {}): this {
    this.reply(200, { body: 'answer', ...reply })
    return this
  }

  /** A request of the peer in the dialog; returns the status of the response. */
  send(
    method: string,
    options: { headers?: readonly string[]; body?: string; toTag?: string; sequence?: number } = {},
  ): number {
    const { invite } = this
    const sequence = options.sequence ?? this.#sequence++
    const body = options.body ?? ''
    const { flow } = this.peer.last('INVITE')
    const text = [
      `${method} sip:alice@a.test SIP/2.0`,
      `Via: SIP/2.0/${flow.transport.toUpperCase()} peer.test;rport;branch=z9hG4bK${invite.callId}${sequence}`,
      'Max-Forwards: 70',
      `From: ${serialiseNameAddr({ ...invite.to, params: new Map([['tag', options.toTag ?? 'peer-tag']]) })}`,
      `To: ${serialiseNameAddr(invite.from)}`,
      `Call-ID: ${invite.callId}`,
      `CSeq: ${sequence} ${method}`,
      `Contact: <sip:peer@${this.contactHost}>`,
      ...(options.headers ?? []),
      ...(body === '' || options.headers?.some(line => line.startsWith('Content-Type'))
        ? []
        : ['Content-Type: application/sdp']),
      `Content-Length: ${body.length}`,
      '',
      body,
    ].join('\r\n')
    this.peer.sendText(text, { flow })
    this.pair.time.advance(100)
    return this.responseTo(sequence)?.status ?? 0
  }

  responseTo(sequence: number) {
    return this.peer.responses.findLast(({ cseq }) => cseq.sequence === sequence)
  }

  get lastResponse() {
    return this.responseTo(this.#sequence - 1)
  }

  events<Type extends SessionEvent['type']>(type: Type): Extract<SessionEvent, { type: Type }>[] {
    return this.caller.events.filter((event): event is Extract<SessionEvent, { type: Type }> => event.type === type)
  }
}
