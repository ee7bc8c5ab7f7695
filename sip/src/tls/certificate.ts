import { createHash, type KeyObject, sign } from 'node:crypto'
import type { Random, UnixMs } from '@parley/kernel'
import { SipError } from '../errors.ts'
import { parseIpAddress } from '../transport/ip-address.ts'
import {
  bitString,
  boolean,
  explicit,
  implicit,
  integer,
  nullValue,
  objectIdentifier,
  octetString,
  sequence,
  setOf,
  time,
  utf8String,
} from './der.ts'

const SHA256_WITH_RSA = sequence(objectIdentifier('1.2.840.113549.1.1.11'), nullValue())
const COMMON_NAME = objectIdentifier('2.5.4.3')
const SUBJECT_KEY_IDENTIFIER = objectIdentifier('2.5.29.14')
const KEY_USAGE = objectIdentifier('2.5.29.15')
const SUBJECT_ALT_NAME = objectIdentifier('2.5.29.17')
const BASIC_CONSTRAINTS = objectIdentifier('2.5.29.19')
const AUTHORITY_KEY_IDENTIFIER = objectIdentifier('2.5.29.35')
const EXTENDED_KEY_USAGE = objectIdentifier('2.5.29.37')
const SERVER_AUTH = objectIdentifier('1.3.6.1.5.5.7.3.1')
const CLIENT_AUTH = objectIdentifier('1.3.6.1.5.5.7.3.2')

interface CertificateRequest {
  /** Common name of the subject; the same as `issuer.name` for a self-signed authority. */
  readonly subject: string
  readonly publicKey: KeyObject
  readonly issuer: { readonly name: string; readonly privateKey: KeyObject; readonly publicKey: KeyObject }
  readonly notBefore: UnixMs
  readonly notAfter: UnixMs
  /** An authority signs certificates; anything else is for TLS servers and clients by these names and addresses. */
  readonly use:
    | 'authority'
    | {
        readonly names: readonly string[]
        readonly addresses: readonly string[]
        /** Entries of type URI, such as `sip:example.com` (RFC 5922); default none. */
        readonly uris?: readonly string[]
      }
  readonly random: Random
}

/**
 * An X.509 v3 certificate (RFC 5280) in PEM, signed sha256WithRSAEncryption. Throws `SipError` "bad_name" when a
 * name is not ASCII or an address is no IP literal.
 */
export function issueCertificate(request: CertificateRequest): string {
  const toBeSigned = sequence(
    explicit(0, integer(Uint8Array.of(2))),
    integer(serialNumber(request.random)),
    SHA256_WITH_RSA,
    distinguishedName(request.issuer.name),
    sequence(time(request.notBefore), time(request.notAfter)),
    distinguishedName(request.subject),
    request.publicKey.export({ type: 'spki', format: 'der' }),
    explicit(3, sequence(...extensions(request))),
  )
  const signature = sign('sha256', toBeSigned, request.issuer.privateKey)
  return pem('CERTIFICATE', sequence(toBeSigned, SHA256_WITH_RSA, bitString(signature)))
}

function extensions(request: CertificateRequest): Uint8Array[] {
  const keyIdentifiers = [
    extension(SUBJECT_KEY_IDENTIFIER, false, octetString(keyIdentifier(request.publicKey))),
    extension(AUTHORITY_KEY_IDENTIFIER, false, sequence(implicit(0, keyIdentifier(request.issuer.publicKey)))),
  ]
  if (request.use === 'authority') {
    return [
      extension(BASIC_CONSTRAINTS, true, sequence(boolean(true), integer(Uint8Array.of(0)))),
      // keyCertSign and cRLSign, bits 5 and 6.
      extension(KEY_USAGE, true, bitString(Uint8Array.of(0b0000_0110), 1)),
      ...keyIdentifiers,
    ]
  }
  return [
    extension(BASIC_CONSTRAINTS, true, sequence()),
    // digitalSignature and keyEncipherment (some carriers still exchange keys by static RSA), bits 0 and 2.
    extension(KEY_USAGE, true, bitString(Uint8Array.of(0b1010_0000), 5)),
    extension(EXTENDED_KEY_USAGE, false, sequence(SERVER_AUTH, CLIENT_AUTH)),
    extension(SUBJECT_ALT_NAME, false, subjectAltName(request.use)),
    ...keyIdentifiers,
  ]
}

function extension(id: Uint8Array, critical: boolean, value: Uint8Array): Uint8Array {
  return sequence(id, ...(critical ? [boolean(true)] : []), octetString(value))
}

function subjectAltName(use: Exclude<CertificateRequest['use'], 'authority'>): Uint8Array {
  const { names, addresses, uris = [] } = use
  const dnsNames = names.map(name => {
    if (!/^[\x21-\x7e]{1,253}$/.test(name)) throw new SipError('bad_name', `"${name}" is not a host name`)
    return implicit(2, Buffer.from(name, 'latin1'))
  })
  const ipAddresses = addresses.map(address => {
    const bytes = parseIpAddress(address)
    if (bytes === undefined) throw new SipError('bad_name', `"${address}" is not an IP address`)
    return implicit(7, bytes)
  })
  return sequence(...dnsNames, ...uris.map(uri => implicit(6, Buffer.from(uri, 'latin1'))), ...ipAddresses)
}

function distinguishedName(commonName: string): Uint8Array {
  return sequence(setOf(sequence(COMMON_NAME, utf8String(commonName))))
}

/** 126 random bits below a one: positive, never zero, always 16 bytes. */
function serialNumber(random: Random): Uint8Array {
  const bytes = random.bytes(16)
  bytes[0] = (bytes[0]! & 0x3f) | 0x40
  return bytes
}

/** RFC 7093 section 2 method 1 on the whole SubjectPublicKeyInfo. */
function keyIdentifier(key: KeyObject): Uint8Array {
  return createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest()
    .subarray(0, 20)
}

function pem(label: string, der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`
}
