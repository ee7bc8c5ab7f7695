import { WIDEBAND } from '@parley/kernel'
import type { AudioCodec } from './audio-codec.ts'

/**
 * Linear 16-bit samples in network byte order (RFC 3551 section 4.5.11), at 16 kHz. It keeps no state. It carries audio between
 * processes of one machine, where 256 kbit/s cost nothing; no trunk is offered it.
 */
export const L16: AudioCodec<'L16'> = {
  name: 'L16',
  payloadType: 112,
  clockRate: 16_000,
  format: WIDEBAND,
  createEncoder: () => ({ encode: encodeL16 }),
  createDecoder: () => ({ decode: decodeL16 }),
}

/** Encodes as many of `count` samples as both sides hold; returns how many bytes. */
function encodeL16(src: Int16Array, srcOffset: number, count: number, dst: Uint8Array, dstOffset: number): number {
  const n = Math.max(0, Math.min(count, src.length - srcOffset, (dst.length - dstOffset) >> 1))
  for (let i = 0; i < n; i++) {
    const sample = src[srcOffset + i]!
    dst[dstOffset + 2 * i] = sample >> 8
    dst[dstOffset + 2 * i + 1] = sample
  }
  return 2 * n
}

/** Decodes as many of `count` bytes as make whole samples and fit; returns how many samples. */
function decodeL16(src: Uint8Array, srcOffset: number, count: number, dst: Int16Array, dstOffset: number): number {
  const n = Math.max(0, Math.min(count >> 1, (src.length - srcOffset) >> 1, dst.length - dstOffset))
  for (let i = 0; i < n; i++) dst[dstOffset + i] = (src[srcOffset + 2 * i]! << 8) | src[srcOffset + 2 * i + 1]!
  return n
}
