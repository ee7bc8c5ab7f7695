import type { SipRequest, SipResponse } from '../message/message.ts'
import type { ServerTransaction } from '../transaction/server-transactions.ts'
import { respond, type UaContext } from './ua-context.ts'

/** Most copies that wait for the response to their original. */
const MAX_WAITING = 4

interface Served {
  readonly method: string
  readonly sequence: number
  response: SipResponse | undefined
  readonly waiting: ServerTransaction[]
}

/**
 * The last request of the peer in a dialog. A copy of it with another branch, which a proxy or a peer with a new connection may
 * send, belongs to no transaction (RFC 3261 section 17.2.3): it runs nothing and gets the response of the original.
 */
export class RepeatedRequests {
  readonly #ctx: UaContext
  #last: Served | undefined

  constructor(ctx: UaContext) {
    this.#ctx = ctx
  }

  /** Answers a copy of the last request; undefined then. Otherwise the transaction to use in place of `transaction`. */
  admit(transaction: ServerTransaction): ServerTransaction | undefined {
    const { request, flow } = transaction
    const { method, cseq } = request
    if (this.#last?.sequence === cseq.sequence && this.#last.method === method) {
      this.#answerCopy(this.#last, transaction)
      return undefined
    }
    const served: Served = { method, sequence: cseq.sequence, response: undefined, waiting: [] }
    this.#last = served
    return {
      request,
      flow,
      respond: response => this.#respond(served, transaction, response),
      finish: () => transaction.finish(),
    }
  }

  #respond(served: Served, transaction: ServerTransaction, response: SipResponse): void {
    transaction.respond(response)
    if (response.status < 200 || served.response !== undefined) return
    served.response = response
    for (const copy of served.waiting.splice(0)) copy.respond(addressedTo(copy.request, response))
  }

  #answerCopy(served: Served, copy: ServerTransaction): void {
    if (served.response !== undefined) copy.respond(addressedTo(copy.request, served.response))
    else if (served.waiting.length < MAX_WAITING) served.waiting.push(copy)
    // 8.2.2.2: a request that arrived over several paths.
    else copy.respond(respond(this.#ctx, copy.request, 482))
  }
}

function addressedTo({ via }: SipRequest, response: SipResponse): SipResponse {
  return { ...response, via }
}
