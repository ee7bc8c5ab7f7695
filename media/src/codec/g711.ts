import { NARROWBAND } from '@parley/kernel'
import type { AudioCodec } from './audio-codec.ts'

/** mu-law (RFC 3551 section 4.5.14). It keeps no state: all streams share it. */
export const PCMU: AudioCodec<'PCMU'> = {
  name: 'PCMU',
  payloadType: 0,
  clockRate: 8000,
  format: NARROWBAND,
  createEncoder: () => ({ encode: encodePcmu }),
  createDecoder: () => ({ decode: decodePcmu }),
}

/** A-law (RFC 3551 section 4.5.14). It keeps no state. */
export const PCMA: AudioCodec<'PCMA'> = {
  name: 'PCMA',
  payloadType: 8,
  clockRate: 8000,
  format: NARROWBAND,
  createEncoder: () => ({ encode: encodePcma }),
  createDecoder: () => ({ decode: decodePcma }),
}

/**
 * ITU-T G.711 between 16-bit linear samples and companded bytes, by table. All four functions process as many
 * elements as `count`, the source and the destination allow, and return how many.
 */

/** Index: the sample's upper 14 bits, as unsigned. */
const MU_LAW_BY_SAMPLE = new Uint8Array(1 << 14)
/** Index: the sample's upper 12 bits, as unsigned. */
const A_LAW_BY_SAMPLE = new Uint8Array(1 << 12)
const SAMPLE_BY_MU_LAW = new Int16Array(256)
const SAMPLE_BY_A_LAW = new Int16Array(256)

fillTables()

export function encodePcmu(
  src: Int16Array,
  srcOffset: number,
  count: number,
  dst: Uint8Array,
  dstOffset: number,
): number {
  const n = Math.min(count, src.length - srcOffset, dst.length - dstOffset)
  for (let i = 0; i < n; i++) dst[dstOffset + i] = MU_LAW_BY_SAMPLE[(src[srcOffset + i]! >> 2) & 0x3fff]!
  return Math.max(0, n)
}

export function decodePcmu(
  src: Uint8Array,
  srcOffset: number,
  count: number,
  dst: Int16Array,
  dstOffset: number,
): number {
  const n = Math.min(count, src.length - srcOffset, dst.length - dstOffset)
  for (let i = 0; i < n; i++) dst[dstOffset + i] = SAMPLE_BY_MU_LAW[src[srcOffset + i]!]!
  return Math.max(0, n)
}

export function encodePcma(
  src: Int16Array,
  srcOffset: number,
  count: number,
  dst: Uint8Array,
  dstOffset: number,
): number {
  const n = Math.min(count, src.length - srcOffset, dst.length - dstOffset)
  for (let i = 0; i < n; i++) dst[dstOffset + i] = A_LAW_BY_SAMPLE[(src[srcOffset + i]! >> 4) & 0xfff]!
  return Math.max(0, n)
}

export function decodePcma(
  src: Uint8Array,
  srcOffset: number,
  count: number,
  dst: Int16Array,
  dstOffset: number,
): number {
  const n = Math.min(count, src.length - srcOffset, dst.length - dstOffset)
  for (let i = 0; i < n; i++) dst[dstOffset + i] = SAMPLE_BY_A_LAW[src[srcOffset + i]!]!
  return Math.max(0, n)
}

function fillTables(): void {
  for (let i = 0; i < MU_LAW_BY_SAMPLE.length; i++) MU_LAW_BY_SAMPLE[i] = compressMuLaw((i << 18) >> 18)
  for (let i = 0; i < A_LAW_BY_SAMPLE.length; i++) A_LAW_BY_SAMPLE[i] = compressALaw((i << 20) >> 20)
  for (let code = 0; code < 256; code++) {
    SAMPLE_BY_MU_LAW[code] = expandMuLaw(code)
    SAMPLE_BY_A_LAW[code] = expandALaw(code)
  }
}

/** G.711 table 2: magnitude + 33, segment by its highest bit, four bits below that, everything inverted. */
function compressMuLaw(sample14: number): number {
  // One's complement of negatives, so that the decision levels of both signs mirror each other.
  const biased = Math.min((sample14 < 0 ? ~sample14 : sample14) + 33, 0x1fff)
  const segment = 26 - Math.clz32(biased)
  const step = (biased >> (segment + 1)) & 0x0f
  return ~((sample14 < 0 ? 0x80 : 0) | (segment << 4) | step) & 0xff
}

function expandMuLaw(code: number): number {
  const bits = ~code & 0xff
  const magnitude = ((((bits & 0x0f) << 1) + 33) << ((bits >> 4) & 7)) - 33
  return (bits & 0x80 ? -magnitude : magnitude) << 2
}

/** G.711 table 1: two equal lowest segments, then doubling ones; even bits inverted, positive has the top bit. */
function compressALaw(sample12: number): number {
  const magnitude = sample12 < 0 ? ~sample12 : sample12
  const segment = magnitude < 32 ? magnitude >> 4 : 28 - Math.clz32(magnitude)
  const step = (segment === 0 ? magnitude : magnitude >> (segment - 1)) & 0x0f
  return ((sample12 < 0 ? 0 : 0x80) | (segment << 4) | step) ^ 0x55
}

function expandALaw(code: number): number {
  const bits = code ^ 0x55
  const segment = (bits >> 4) & 7
  const step = ((bits & 0x0f) << 1) + 1
  const magnitude = segment === 0 ? step : (step + 32) << (segment - 1)
  return (bits & 0x80 ? magnitude : -magnitude) << 3
}
