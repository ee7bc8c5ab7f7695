import { decodePcma, decodePcmu, encodePcma, encodePcmu } from './g711.ts'

/** A payload format of 8 kHz telephone audio, one byte per sample (RFC 3551 section 4.5.14). Stateless: all sessions share it. */
export interface PayloadCodec {
  readonly name: 'PCMU' | 'PCMA'
  /** Static payload type (RFC 3551 table 4). */
  readonly payloadType: 0 | 8
  /** The byte that stands for digital silence. */
  readonly silence: number
  /** Encodes `count` samples from `src[srcOffset]` to `dst[dstOffset]`, as many as both hold; returns how many. */
  encode(src: Int16Array, srcOffset: number, count: number, dst: Uint8Array, dstOffset: number): number
  /** Decodes `count` bytes from `src[srcOffset]` to `dst[dstOffset]`, as many as both hold; returns how many. */
  decode(src: Uint8Array, srcOffset: number, count: number, dst: Int16Array, dstOffset: number): number
}

const PCMU: PayloadCodec = { name: 'PCMU', payloadType: 0, silence: 0xff, encode: encodePcmu, decode: decodePcmu }
const PCMA: PayloadCodec = { name: 'PCMA', payloadType: 8, silence: 0xd5, encode: encodePcma, decode: decodePcma }

export function codecByName(name: 'PCMU' | 'PCMA'): PayloadCodec {
  return name === 'PCMU' ? PCMU : PCMA
}
