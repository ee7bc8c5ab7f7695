import type { Body } from '@parley/sip'
import type { ReofferPurpose } from './leg.ts'
import type { Negotiation } from './negotiation.ts'

/** Queue of our own re-offers: one in progress at a time (RFC 3264 section 4). */
export class Reoffers {
  readonly #negotiation: Negotiation
  readonly #send: (offer: Body) => void
  readonly #queue: ReofferPurpose[] = []
  #inProgress = false

  constructor(negotiation: Negotiation, send: (offer: Body) => void) {
    this.#negotiation = negotiation
    this.#send = send
  }

  add(purpose: ReofferPurpose): void {
    this.#queue.push(purpose)
    this.#next()
  }

  /** Ends the re-offer in progress, returns its purpose and sends the next one. Undefined: none was in progress. */
  done(): ReofferPurpose | undefined {
    if (!this.#inProgress) return undefined
    this.#inProgress = false
    const purpose = this.#queue.shift()
    this.#next()
    return purpose
  }

  #next(): void {
    const purpose = this.#queue[0]
    if (purpose === undefined || this.#inProgress) return
    this.#inProgress = true
    this.#send(this.#negotiation.offer(changeFor(purpose)))
  }
}

function changeFor(purpose: ReofferPurpose): Parameters<Negotiation['offer']>[0] {
  switch (purpose) {
    case 'hold':
      return { direction: 'sendonly' }
    case 'resume':
      return { direction: 'sendrecv' }
    case 'rekey':
      return { rekey: true }
    case 'refresh':
      return {}
  }
}
