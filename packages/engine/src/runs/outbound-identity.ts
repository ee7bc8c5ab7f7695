import { type HeaderPairs, type NameAddr, type SipUri, serialiseUri } from '@parley/sip'
import type { TrunkDetails } from '@parley/store'
import { type NumberingTrunk, writtenNumber } from './trunk-numbers.ts'

interface CallingTrunk extends NumberingTrunk {
  readonly termination_uri: string
}

/** RFC 3323 section 4.1.1.3. */
const ANONYMOUS: NameAddr = {
  displayName: 'Anonymous',
  uri: {
    scheme: 'sip',
    user: 'anonymous',
    password: undefined,
    host: 'anonymous.invalid',
    port: undefined,
    params: new Map(),
    headers: [],
  },
  params: new Map(),
}

/**
 * From of an outbound call, and the headers that say who calls: P-Asserted-Identity and Privacy (RFC 3325), Diversion (RFC 5806).
 * `caller`: the run's number in E.164; null: it has none.
 */
export function outboundIdentity(
  caller: string | null,
  trunk: CallingTrunk,
): { readonly from: NameAddr; readonly headers: HeaderPairs } {
  const { details, termination_uri: host } = trunk
  const { privacy = [], diversion } = details
  const address = (number: string) => `<${serialiseUri(numberAt(writtenNumber(number, trunk), host))}>`
  const asserted = assertedNumber(details, caller)
  const headers: [string, string][] = []
  if (asserted !== null) headers.push(['P-Asserted-Identity', address(asserted)])
  if (privacy.length > 0) headers.push(['Privacy', privacy.join(';')])
  if (diversion !== undefined) headers.push(['Diversion', `${address(diversion)};reason=unconditional;counter=1`])
  const user = details.identity ?? writtenNumber(caller ?? 'anonymous', trunk)
  const named: NameAddr = { displayName: undefined, uri: numberAt(user, host), params: new Map() }
  return { from: privacy.includes('id') ? ANONYMOUS : named, headers }
}

function assertedNumber({ asserted_identity: asserted }: TrunkDetails, caller: string | null): string | null {
  return asserted === 'caller' ? caller : (asserted ?? null)
}

/** A number at a carrier's host, as in a Request-URI. */
export function numberAt(number: string, host: string): SipUri {
  const params = new Map([['user', 'phone']])
  return { scheme: 'sip', user: number, password: undefined, host, port: undefined, params, headers: [] }
}
