import { SipMessageError } from '../errors.ts'
import { parseDigits, skipClass, TOKEN } from './characters.ts'
import { headerToken } from './header-text.ts'
import { parseParams } from './params.ts'
import { quote } from './quoted-string.ts'
import { splitList } from './split-list.ts'

/** One value of a Reason header (RFC 3326). */
interface ReasonValue {
  /** "SIP", "Q.850", … as written. */
  readonly protocol: string
  readonly cause: number | undefined
  readonly text: string | undefined
}

/** All readable values of one Reason line. */
export function parseReason(value: string): ReasonValue[] {
  const values: ReasonValue[] = []
  for (const element of splitList(value)) {
    const end = skipClass(TOKEN, element, 0)
    const params = parseParams(element, end)
    if (end === 0 || params === undefined) continue
    values.push({
      protocol: element.slice(0, end),
      cause: parseDigits(params.get('cause') ?? '', 5),
      text: params.get('text') ?? undefined,
    })
  }
  return values
}

/** `SIP;cause=200;text="Call completed elsewhere"`. Throws SipMessageError for what cannot be written. */
export function serialiseReason(reason: { protocol: string; cause?: number; text?: string }): string {
  let value = headerToken(reason.protocol, 'Reason protocol')
  if (reason.cause !== undefined) {
    if (!Number.isInteger(reason.cause) || reason.cause < 0) {
      throw new SipMessageError('bad_field', `Reason cause must be a non-negative integer, not ${reason.cause}`)
    }
    value += `;cause=${reason.cause}`
  }
  return reason.text === undefined ? value : `${value};text=${quote(reason.text, 'Reason text')}`
}
