import type { SrtpTransforms } from '../srtp/srtp-transform.ts'
import type { NativeAddon } from './native-packet-io.ts'

const GCM_TAG_BYTES = 16

/** Transforms in C++: ciphers of Node's OpenSSL that keep their key, and hashes that begin after the block of the key. */
export function nativeTransforms({ RtpTransform }: NativeAddon): SrtpTransforms {
  const make = (keys: Parameters<SrtpTransforms['gcm']>[0], overhead: number) =>
    Object.assign(new RtpTransform(keys.encryption, keys.authentication, keys.salt, overhead), { overhead })
  return {
    gcm: keys => make(keys, GCM_TAG_BYTES),
    counterMode: make,
  }
}
