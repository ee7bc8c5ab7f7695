import { TransientMap } from '@parley/kernel'
import {
  type Flow,
  type SipMessage,
  type SipTransport,
  serialise,
  type TransportInput,
  type TransportName,
  type TransportOutput,
} from '@parley/sip'

/** A SIP message that was received, or written to its connection or socket. */
export interface ObservedMessage {
  readonly direction: 'in' | 'out'
  readonly callId: string
  readonly flow: Flow
  /** As sent; a received one as parsed: header names in canonical form, and the fields that every layer reads come first. */
  readonly text: () => string
}

/** A transport that reports every message that passes it. An error of the observer does not affect the calls. */
export class ObservedTransport implements SipTransport {
  readonly #inner: SipTransport
  readonly #observe: (message: ObservedMessage) => void
  /** Messages that were submitted and are not sent yet. */
  readonly #sending = new TransientMap<number, Uint8Array>()

  constructor(inner: SipTransport, observe: (message: ObservedMessage) => void) {
    this.#inner = inner
    this.#observe = observe
  }

  submit(output: TransportOutput): void {
    if (output.type === 'send') this.#sending.set(output.sendId, output.bytes)
    this.#inner.submit(output)
  }

  onInput(listener: (input: TransportInput) => void): void {
    this.#inner.onInput(input => {
      try {
        this.#note(input)
      } catch {
        // The observer's fault: the message is processed in any case.
      }
      listener(input)
    })
  }

  advertised(transport: TransportName): ReturnType<SipTransport['advertised']> {
    return this.#inner.advertised(transport)
  }

  #note(input: TransportInput): void {
    if (input.type === 'message' && input.result.ok) this.#received(input.result.message, input.flow)
    else if (input.type === 'sent') this.#sent(input.sendId, input.flow)
    else if (input.type === 'send-failed') this.#sending.delete(input.sendId)
  }

  #received(message: SipMessage, flow: Flow): void {
    const text = () => textOf(serialise(message))
    this.#observe({ direction: 'in', callId: message.callId, flow, text })
  }

  #sent(sendId: number, flow: Flow): void {
    const bytes = this.#sending.get(sendId)
    this.#sending.delete(sendId)
    if (bytes === undefined) return
    const text = textOf(bytes)
    const [, callId] = /^Call-ID: (.*)\r$/m.exec(text) ?? []
    if (callId !== undefined) this.#observe({ direction: 'out', callId, flow, text: () => text })
  }
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
}
