import type { ObservedMessage } from '@parley/leg'
import { parseDatagram, type SipMessage, type SipRequest, type SipResponse, type SocketAddress } from '@parley/sip'

/** A check sends and receives a few dozen messages. */
const MAX_MESSAGES = 500

interface Logged {
  readonly direction: ObservedMessage['direction']
  readonly remote: SocketAddress
  readonly message: SipMessage
}

/** The SIP messages of a check. */
export class MessageLog {
  readonly #messages: Logged[] = []

  /** For `EndpointOptions.observe`. */
  readonly observe = ({ direction, flow, text }: ObservedMessage): void => {
    if (this.#messages.length >= MAX_MESSAGES) return
    const parsed = parseDatagram(Buffer.from(text()))
    if (parsed.ok) this.#messages.push({ direction, remote: flow.remote, message: parsed.message })
  }

  clear(): void {
    this.#messages.length = 0
  }

  /** Whether a request with this method was sent to the address. */
  wasSent(method: string, { address, port }: SocketAddress): boolean {
    return this.#messages.some(
      ({ direction, remote, message }) =>
        direction === 'out' &&
        message.kind === 'request' &&
        message.method === method &&
        remote.address === address &&
        remote.port === port,
    )
  }

  /** The INVITEs of a call as they were sent, oldest first. */
  invites(callId: string): readonly SipRequest[] {
    return this.#messages.flatMap(({ direction, message }) =>
      direction === 'out' && message.kind === 'request' && message.method === 'INVITE' && message.callId === callId
        ? [message]
        : [],
    )
  }

  /** The responses to the INVITEs of a call, oldest first. */
  responses(callId: string): readonly SipResponse[] {
    return this.#messages.flatMap(({ direction, message }) =>
      direction === 'in' && message.kind === 'response' && message.cseq.method === 'INVITE' && message.callId === callId
        ? [message]
        : [],
    )
  }
}
