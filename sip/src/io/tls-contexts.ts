import { constants, createPrivateKey, X509Certificate } from 'node:crypto'
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

/** What we dial with: our certificate where the server asks for one, and the roots its own must lead to. */
export class ClientContexts {
  readonly #common: SecureContext
  readonly #byName = new Map<string, SecureContext>()

  /**
   * Throws `ParleyError` "bad_certificate" when something is no PEM, or the key belongs to another certificate: what
   * half-written files look like.
   */
  constructor(identity: TlsIdentity) {
    try {
      if (!new X509Certificate(identity.cert).checkPrivateKey(createPrivateKey(identity.key)))
        throw new Error('the key belongs to another certificate')
      const roots = identity.systemRoots === true ? rootCertificates : []
      const common = { ...serverContextOptions(identity), ca: [...certificatesOf(identity.ca), ...roots] }
      this.#common = createSecureContext(common)
      const { caByName, ciphersByName } = identity
      for (const name of new Set([...(caByName?.keys() ?? []), ...(ciphersByName?.keys() ?? [])])) {
        const ca = caByName?.get(name)
        const ciphers = ciphersByName?.get(name)
        const own = {
          ...common,
          ...(ca !== undefined && { ca: certificatesOf(ca) }),
          ...(ciphers !== undefined && { ciphers }),
        }
        this.#byName.set(name, createSecureContext(own))
      }
    } catch (error) {
      throw new ParleyError('bad_certificate', `certificate, key or CA cannot be used: ${errorText(error)}`, {
        cause: error,
      })
    }
  }

  /** For a server that has to prove `serverName`. */
  for(serverName: string): SecureContext {
    return this.#byName.get(serverName.toLowerCase()) ?? this.#common
  }
}

/** The certificates of a PEM text, each readable; throws when there is text, but no certificate. Node would say nothing. */
function certificatesOf(pem: string): string[] {
  if (pem.trim() === '') return []
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? []
  if (blocks.length === 0) throw new Error('no certificate in the CA file')
  for (const block of blocks) new X509Certificate(block)
  return blocks
}
