import { SipStateError } from '../errors.ts'
import { serialiseWarning } from '../message/warning.ts'
import type { HeaderPairs } from './session.ts'
import type { SessionCore } from './session-core.ts'

/** Headers of a refused offer, with the reason in Warning (RFC 3261 section 14.2). Throws "wrong_state" if `status` is not a refusal. */
export function offerRefusal(core: SessionCore, status: number, warning: string | undefined): HeaderPairs {
  if (!Number.isInteger(status) || status < 300 || status > 699) {
    throw new SipStateError(`rejectOffer with ${status}`, core.state)
  }
  return warning === undefined ? [] : [['Warning', serialiseWarning(399, 'parley', warning)]]
}
