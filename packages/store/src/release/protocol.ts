/** The public half of a key that signs certificates, as a JSON web key (RFC 8037). */
export interface PublicSigningKey {
  readonly kty: 'OKP'
  readonly crv: 'Ed25519'
  /** Raw public key, 32 bytes, in base64url. */
  readonly x: string
  /** The thumbprint of RFC 7638. */
  readonly kid: string
}

/** Keys that sign certificates: they belong to the platform. */
export interface SigningAcrossTenants {
  /** All public keys, newest first. */
  publicKeys(): Promise<readonly PublicSigningKey[]>
}
