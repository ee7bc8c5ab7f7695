import type { Body } from '@parley/sip'
import type { ReofferPurpose } from './leg.ts'
import type { Negotiation } from './negotiation.ts'

/** Our own re-offers, one under way at a time (RFC 3264 section 4), the others waiting in order. */
export class Reoffers {
  readonly #negotiation: Negotiation
  readonly #send: (offer: Body) => void
  readonly #waiting: ReofferPurpose[] = []
  #underWay = false

  constructor(negotiation: Negotiation, send: (offer: Body) => void) {
    this.#negotiation = negotiation
    this.#send = send
  }

  add(purpose: ReofferPurpose): void {
    this.#waiting.push(purpose)
    this.#next()
  }

  /** The one under way has its outcome; returns what it was for, and sends the next. */
  done(): ReofferPurpose | undefined {
    if (!this.#underWay) return undefined
    this.#underWay = false
    const purpose = this.#waiting.shift()
    this.#next()
    return purpose
  }

  #next(): void {
    const purpose = this.#waiting[0]
    if (purpose === undefined || this.#underWay) return
    this.#underWay = true
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
