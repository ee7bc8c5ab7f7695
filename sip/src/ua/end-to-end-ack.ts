import type { Dialog } from '../dialog/dialog.ts'
import type { SipRequest } from '../message/message.ts'
import type { Destination } from '../transaction/message-sender.ts'
import type { Flow, NextHop, Target } from '../transport/transport.ts'
import type { CallIdentity } from './call-identity.ts'
import type { ClientRequest } from './client-request.ts'
import { headersWith } from './custom-headers.ts'
import { streamFor } from './large-request.ts'
import type { Body, HeaderPairs } from './session.ts'
import type { UaContext } from './ua-context.ts'

interface AckSpec {
  readonly dialog: Dialog
  readonly identity: CallIdentity
  /** The INVITE that got the 2xx. */
  readonly invite: Pick<ClientRequest, 'sequence' | 'credentials'>
  /** The flow its 2xx came on. */
  readonly flow: Flow | undefined
  readonly body?: Body | undefined
}

/**
 * The ACK to a 2xx (RFC 3261 section 13.2.2.4): a request of the dialog outside any transaction, sent once for every
 * time the 2xx arrives. It goes along the dialog's route, on its connection if that is open.
 */
export class EndToEndAck {
  readonly #ctx: UaContext
  readonly #request: SipRequest
  readonly #identity: CallIdentity
  readonly #credentials: HeaderPairs
  readonly #hop: NextHop | undefined
  #flow: Flow | undefined
  #targets: readonly Target[] | undefined

  constructor(ctx: UaContext, spec: AckSpec) {
    const { dialog, body } = spec
    this.#ctx = ctx
    this.#hop = dialog.hop
    this.#flow = spec.flow
    this.#identity = spec.identity
    this.#credentials = spec.invite.credentials
    const withBody = body === undefined ? {} : { body: body.bytes, contentType: body.contentType }
    this.#request = dialog.request('ACK', spec.invite.sequence, withBody)
  }

  transmit(): void {
    const { sender } = this.#ctx.layer
    if (this.#flow !== undefined && sender.isLiveStream(this.#flow)) {
      this.#send({ flow: this.#flow }, () => {
        this.#flow = undefined
        this.transmit()
      })
      return
    }
    if (this.#targets !== undefined) this.#toTarget(0)
    else if (this.#hop !== undefined) {
      sender.resolve(this.#hop, targets => {
        this.#targets = targets
        this.#toTarget(0)
      })
    }
  }

  #toTarget(index: number): void {
    const target = this.#targets?.[index]
    if (target === undefined) return
    const way = { hop: this.#hop, identity: this.#identity }
    const stream = streamFor(this.#ctx, this.#request, target, way)
    if (stream === undefined) this.#send({ target }, () => this.#toTarget(index + 1))
    else {
      this.#send({ target: stream }, () => {
        this.#ctx.streamRefusals.add(target)
        this.#toTarget(index)
      })
    }
  }

  #send(to: Destination, otherwise: () => void): void {
    const transport = 'flow' in to ? to.flow.transport : to.target.transport
    // 13.2.2.4: a transaction of its own, so a branch of its own.
    const via = this.#ctx.layer.clients.via(transport)
    if (via === undefined) return
    // 13.2.2.4: repeats the INVITE's credentials, but only to the host for which they were made.
    const ours = this.#identity.ownsDestination(to)
    const headers = headersWith(ours ? this.#credentials : [], this.#request.headers)
    this.#ctx.layer.sender.send(
      to,
      { ...this.#request, headers, via: [via] },
      {
        sent: flow => {
          if (flow.transport !== 'udp') this.#flow = flow
        },
        failed: otherwise,
      },
    )
  }
}
