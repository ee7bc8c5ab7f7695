import { parseNameAddr, type SipRequest } from '@parley/leg'

/** The carrier's verification of the caller (STIR/SHAKEN), as in the run resource. */
type CallerIdentity = {
  readonly verification: 'passed' | 'failed' | 'none'
  readonly attestation: 'A' | 'B' | 'C' | null
  readonly origid: string | null
}

const VERDICT = /^(TN-Validation-Passed|TN-Validation-Failed|No-TN-Validation)(?:-([ABC]))?$/i

/**
 * Reads `verstat` of P-Asserted-Identity or From (3GPP TS 24.229, ATIS-1000074), P-Attestation-Indicator and
 * P-Origination-ID. Null: the INVITE has no `verstat`.
 */
export function callerIdentityOf(invite: SipRequest): CallerIdentity | null {
  const asserted = invite.headers.get('P-Asserted-Identity')
  const party = asserted === undefined ? undefined : parseNameAddr(asserted)
  const verstat = [party?.uri, invite.from.uri]
    .map(uri => (uri === undefined ? undefined : verstatOf(uri)))
    .find(Boolean)
  const [, verdict, letter] = VERDICT.exec(verstat ?? '') ?? []
  if (verdict === undefined) return null
  const indicated = (letter ?? invite.headers.get('P-Attestation-Indicator') ?? '').trim().toUpperCase()
  const attestation = indicated === 'A' || indicated === 'B' || indicated === 'C' ? indicated : null
  const origid = invite.headers.get('P-Origination-ID')?.trim().slice(0, 128) ?? null
  const verification = /passed/i.test(verdict) ? 'passed' : /failed/i.test(verdict) ? 'failed' : 'none'
  return { verification, attestation, origid: origid === '' ? null : origid }
}

/** `verstat` as a parameter of the URI, or of its user part (`+1555;verstat=…`). */
function verstatOf(uri: SipRequest['from']['uri']): string | undefined {
  if ('params' in uri) {
    const own = uri.params.get('verstat')
    if (typeof own === 'string') return own
  }
  const written = 'user' in uri ? uri.user : 'opaque' in uri ? uri.opaque : undefined
  return /;verstat=([A-Za-z-]+)/i.exec(written ?? '')?.[1]
}
