import { CappedMap } from './capped-map.ts'
import type { ServiceAnswer, ServiceRequest } from './service.ts'

const MAX_KEYS = 1000
const MAX_KEY = 256

interface Answered {
  readonly request: string
  readonly answer: ServiceAnswer
}

/** Answers by `Idempotency-Key`: a repeated request gets the stored answer without a second effect. Refusals are not stored. */
export class AnswersByKey {
  readonly #answered = new CappedMap<string, Answered>(MAX_KEYS)
  readonly #conflict: string

  /** `conflict`: message for a key that was used with another request. */
  constructor(conflict: string) {
    this.#conflict = conflict
  }

  once(request: ServiceRequest, make: () => ServiceAnswer): ServiceAnswer {
    const key = request.idempotencyKey
    if (key === null || key === '' || key.length > MAX_KEY) return make()
    const requestDigest = `${request.method} ${request.path}\n${request.content}`
    const before = this.#answered.get(key)
    if (before !== undefined)
      return before.request === requestDigest ? before.answer : { status: 409, body: { message: this.#conflict } }
    const answer = make()
    if (answer.status < 300) this.#answered.set(key, { request: requestDigest, answer })
    return answer
  }
}
