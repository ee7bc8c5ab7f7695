import { constants } from 'node:crypto'
import { createSecureContext, rootCertificates, type SecureContext, type SecureContextOptions } from 'node:tls'
import { ParleyError } from '@parley/kernel'
import { errorText } from './socket-error.ts'
import type { TlsIdentity } from './socket-transport-options.ts'

/** A peer that asks to renegotiate makes us pay for handshakes at will; nobody needs it. */
const SECURE_OPTIONS = constants.SSL_OP_NO_RENEGOTIATION

/** What the listener is made of: our certificate, TLS 1.2 and up, Node's ciphers, no client certificate asked for. */
export function serverContextOptions(identity: TlsIdentity): SecureContextOptions {
  return { cert: identity.cert, key: identity.key, minVersion: 'TLSv1.2', secureOptions: SECURE_OPTIONS }
}

/**
 * What we dial with: our certificate where the server asks for one, and the roots its own must lead to. Throws
 * `ParleyError` "bad_certificate" when the identity is no PEM, or the key belongs to another certificate.
 */
export function clientContext(identity: TlsIdentity): SecureContext {
  const ca = identity.systemRoots === true ? [identity.ca, ...rootCertificates] : [identity.ca]
  try {
    return createSecureContext({ ...serverContextOptions(identity), ca })
  } catch (error) {
    throw new ParleyError('bad_certificate', `certificate, key or CA cannot be used: ${errorText(error)}`, {
      cause: error,
    })
  }
}
