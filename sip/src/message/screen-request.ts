import type { SipRequest } from './message.ts'
import type { Fault } from './parse-result.ts'

/** What a user agent can do, as far as it decides which requests it takes (RFC 3261 section 8.2). */
export interface Abilities {
  readonly methods: readonly string[]
  /** Option tags that may stand in Require. */
  readonly extensions: readonly string[]
  /** Media types of bodies, lower-cased. */
  readonly mediaTypes: readonly string[]
}

export interface Objection {
  /** 405, 416, 420, 415, 406, … */
  readonly status: number
  readonly fault: Fault
  /** Header fields that the answer has to carry: Allow, Unsupported, Accept, … */
  readonly headers: readonly (readonly [name: string, value: string])[]
}

/** Why a well-formed request cannot be taken, in the order of RFC 3261 section 8.2; undefined when it can. */
export function screenRequest(_request: SipRequest, _abilities: Abilities): Objection | undefined {
  throw new Error('being written')
}
