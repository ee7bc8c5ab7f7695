import { constants, createPrivateKey, X509Certificate } from 'node:crypto'
import { createSecureContext, rootCertificates, type SecureContext, type SecureContextOptions } from 'node:tls'
import { SipError } from '../errors.ts'
import { errorText } from './socket-error.ts'
import type { TlsIdentity } from './socket-transport-options.ts'

/** A peer that asks to renegotiate makes us pay for handshakes at will; nobody needs it. */
const SECURE_OPTIONS = constants.SSL_OP_NO_RENEGOTIATION

/** Secure context of the listener: our certificate, TLS 1.2 and up, Node's ciphers, no client certificate requested. */
export function serverContextOptions(identity: TlsIdentity): SecureContextOptions {
  return { cert: identity.cert, key: identity.key, minVersion: 'TLSv1.2', secureOptions: SECURE_OPTIONS }
}

/** Secure context for dialling: our certificate, in case the server requests one, and the trusted roots. */
export class ClientContexts {
  readonly #common: SecureContext
  readonly #byName = new Map<string, SecureContext>()

  /**
   * Throws `SipError` "bad_certificate" when something is not PEM, or the key belongs to another certificate, which happens with
   * half-written files.
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
      throw new SipError('bad_certificate', `certificate, key or CA cannot be used: ${errorText(error)}`, {
        cause: error,
      })
    }
  }

  /** Secure context for dialling a server that has to prove `serverName`. */
  for(serverName: string): SecureContext {
    return this.#byName.get(serverName.toLowerCase()) ?? this.#common
  }
}

/** The certificates of a PEM text. Throws if there is text but no readable certificate, which Node would ignore. */
function certificatesOf(pem: string): string[] {
  if (pem.trim() === '') return []
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? []
  if (blocks.length === 0) throw new Error('no certificate in the CA file')
  for (const block of blocks) new X509Certificate(block)
  return blocks
}
