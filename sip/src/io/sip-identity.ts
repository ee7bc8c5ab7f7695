import { isIP } from 'node:net'
import { checkServerIdentity, type PeerCertificate } from 'node:tls'
import { sipDomainsOf } from '../tls/sip-domains.ts'

/**
 * Undefined if the certificate proves `name`: by a `sip:` URI of subjectAltName, which is compared as a whole (RFC 5922 sections
 * 7.1 and 7.2), else by its DNS names and addresses as for HTTPS. RFC 5922 would not accept wildcards and would ignore DNS names
 * beside a `sip:` URI; carriers rely on both (decision 0077).
 */
export function checkSipIdentity(name: string, certificate: PeerCertificate): Error | undefined {
  if (isIP(name) === 0 && sipDomainsOf(certificate.subjectaltname ?? '').includes(name.toLowerCase())) return undefined
  return checkServerIdentity(name, certificate)
}
