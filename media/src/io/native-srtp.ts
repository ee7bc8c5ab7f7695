import type { SessionKeys } from '../srtp/key-derivation.ts'
import type { SrtpTransforms } from '../srtp/srtp-transform.ts'
import type { NativeAddon } from './native-packet-io.ts'

const GCM_TAG_BYTES = 16

/**
 * Transforms in C++: counter mode by the processor's instructions where it has them; otherwise, or without `hardware`, as GCM always, by ciphers of
 * Node's OpenSSL that keep their key. Hashes begin after the block of the key.
 */
export function nativeTransforms({ RtpTransform }: NativeAddon, hardware = true): SrtpTransforms {
  const make = ({ encryption, authentication, salt }: SessionKeys, overhead: number) =>
    Object.assign(new RtpTransform(encryption, authentication, salt, overhead, hardware), { overhead })
  return {
    gcm: keys => make(keys, GCM_TAG_BYTES),
    counterMode: make,
  }
}
