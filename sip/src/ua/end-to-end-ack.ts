import type { Dialog } from '../dialog/dialog.ts'
import type { SipRequest } from '../message/message.ts'
import type { Flow, NextHop, Target } from '../transport/transport.ts'
import type { Body } from './session.ts'
import type { UaContext } from './ua-context.ts'

/**
 * The ACK to a 2xx (RFC 3261 section 13.2.2.4): a request of the dialog outside any transaction, sent once for every
 * time the 2xx arrives. It goes along the dialog's route, on its connection where that lives.
 */
export class EndToEndAck {
  readonly #ctx: UaContext
  readonly #request: SipRequest
  readonly #hop: NextHop | undefined
  #flow: Flow | undefined
  #targets: readonly Target[] | undefined

  /** `sequence`: the CSeq number of the INVITE; `flow`: the one its 2xx came on. */
  constructor(ctx: UaContext, dialog: Dialog, sequence: number, flow: Flow | undefined, body?: Body) {
    this.#ctx = ctx
    this.#hop = dialog.hop
    this.#flow = flow
    const withBody = body === undefined ? {} : { body: body.bytes, contentType: body.contentType }
    this.#request = dialog.request('ACK', sequence, withBody)
  }

  transmit(): void {
    const { sender } = this.#ctx.layer
    if (this.#flow !== undefined && sender.isLiveStream(this.#flow)) {
      this.#send({ flow: this.#flow }, 0)
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
    if (target !== undefined) this.#send({ target }, index + 1)
  }

  #send(to: { readonly flow: Flow } | { readonly target: Target }, next: number): void {
    const transport = 'flow' in to ? to.flow.transport : to.target.transport
    // 13.2.2.4: a transaction of its own, so a branch of its own.
    const via = this.#ctx.layer.clients.via(transport)
    if (via === undefined) return
    this.#ctx.layer.sender.send(
      to,
      { ...this.#request, via: [via] },
      {
        sent: flow => {
          if (flow.transport !== 'udp') this.#flow = flow
        },
        failed: () => {
          if ('flow' in to) {
            this.#flow = undefined
            this.transmit()
          } else this.#toTarget(next)
        },
      },
    )
  }
}
