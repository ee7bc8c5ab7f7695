import { Dialog } from '../dialog/dialog.ts'
import { type SipResponse, tagOf } from '../message/message.ts'
import type { ClientTransaction } from '../transaction/client-transaction.ts'
import type { Flow } from '../transport/transport.ts'
import { sendBye } from './bye.ts'
import type { CallIdentity } from './call-identity.ts'
import { COMPLETED_ELSEWHERE, createCancel } from './cancel.ts'
import { EndToEndAck } from './end-to-end-ack.ts'
import { MAX_FORKS } from './invite-acks.ts'
import type { UaContext } from './ua-context.ts'

/**
 * INVITEs that got no response in time, so that the next target was tried: what still comes never becomes the call. A
 * provisional response is answered by CANCEL (RFC 3261 section 9.1), a 2xx by ACK and BYE at once.
 */
export class LateAnswers {
  readonly #ctx: UaContext
  readonly #identity: CallIdentity
  readonly #cancelled = new Set<ClientTransaction>()
  /** By Call-ID and To tag. */
  readonly #acks = new Map<string, EndToEndAck>()

  constructor(ctx: UaContext, identity: CallIdentity) {
    this.#ctx = ctx
    this.#identity = identity
  }

  receive(invite: ClientTransaction, response: SipResponse, flow: Flow): void {
    if (response.status < 200) this.#cancel(invite)
    else if (response.status < 300) this.#end(invite, response, flow)
  }

  #cancel(invite: ClientTransaction): void {
    if (this.#cancelled.has(invite)) return
    this.#cancelled.add(invite)
    this.#ctx.layer.clients.startCancel(createCancel(invite.request, COMPLETED_ELSEWHERE), invite, {
      onResponse: () => {},
      onFailure: () => {},
    })
  }

  #end(invite: ClientTransaction, response: SipResponse, flow: Flow): void {
    const { request } = invite
    const key = `${request.callId} ${tagOf(response.to)}`
    const known = this.#acks.get(key)
    if (known !== undefined) return known.transmit()
    if (this.#acks.size >= MAX_FORKS) return
    const dialog = Dialog.ofClient(request, response, this.#identity.serverName)
    const ack = new EndToEndAck(this.#ctx, {
      dialog,
      identity: this.#identity,
      invite: { sequence: request.cseq.sequence, credentials: [] },
      flow,
    })
    this.#acks.set(key, ack)
    ack.transmit()
    sendBye(this.#ctx, { dialog, identity: this.#identity, flow, reason: COMPLETED_ELSEWHERE }, () => {})
  }
}
