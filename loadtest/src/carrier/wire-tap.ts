import {
  type Flow,
  parseDatagram,
  type SipMessage,
  type SipResponse,
  type SipTransport,
  type SocketAddress,
  serialise,
  type TransportInput,
  type TransportName,
  type TransportOutput,
} from '@parley/sip'

/** The far end of a message: a flow, or for a request that opens one the address it goes to. */
export type FarEnd = { readonly transport: TransportName; readonly remote: SocketAddress }

/** Sees every message before the user agent (incoming) or the far end (outgoing) does, and may stop it. */
export interface WireObserver {
  /** "pass", "drop", or a response that is sent statelessly instead of the user agent's. */
  incoming(message: SipMessage, from: FarEnd): 'pass' | 'drop' | { readonly answer: SipResponse }
  /** `instead`: the message that is sent in its place. */
  outgoing(message: SipMessage, to: FarEnd): 'pass' | 'withhold' | { readonly instead: SipMessage }
}

/** A transport that shows every message on the wire to a tap, independently of the user agent. */
export class WireTap implements SipTransport {
  readonly #inner: SipTransport
  readonly #observer: WireObserver
  #listener: (input: TransportInput) => void = () => {}
  /** Ids of responses that the user agent did not send; negative, unlike its own. */
  #nextSendId = -1

  constructor(inner: SipTransport, observer: WireObserver) {
    this.#inner = inner
    this.#observer = observer
  }

  onInput(listener: (input: TransportInput) => void): void {
    this.#listener = listener
    this.#inner.onInput(input => this.#receive(input))
  }

  submit(output: TransportOutput): void {
    if (output.type === 'send') {
      const { to, sendId } = output
      const parsed = parseDatagram(output.bytes)
      const verdict = parsed.ok ? this.#observer.outgoing(parsed.message, farEnd(to)) : 'pass'
      if (verdict === 'withhold' && 'flow' in to) {
        // The user agent gets a success, as if it was sent; never synchronously.
        queueMicrotask(() => this.#listener({ type: 'sent', sendId, flow: to.flow }))
        return
      }
      if (typeof verdict === 'object') {
        return this.#inner.submit({ ...output, bytes: serialise(verdict.instead) })
      }
    }
    this.#inner.submit(output)
  }

  advertised(transport: TransportName): { readonly host: string; readonly port: number } | undefined {
    return this.#inner.advertised(transport)
  }

  #receive(input: TransportInput): void {
    if ((input.type === 'sent' || input.type === 'send-failed') && input.sendId < 0) return
    if (input.type !== 'message' || !input.result.ok) return this.#listener(input)
    const verdict = this.#observer.incoming(input.result.message, input.flow)
    if (verdict === 'pass') this.#listener(input)
    else if (verdict !== 'drop') this.#answer(verdict.answer, input.flow)
  }

  #answer(response: SipResponse, flow: Flow): void {
    this.#observer.outgoing(response, flow)
    this.#inner.submit({ type: 'send', sendId: this.#nextSendId--, to: { flow }, bytes: serialise(response) })
  }
}

function farEnd(to: Extract<TransportOutput, { type: 'send' }>['to']): FarEnd {
  if ('flow' in to) return to.flow
  const { transport, address, port } = to.target
  return { transport, remote: { address, port } }
}
