/** A payload format of 8 kHz telephone audio, one byte per sample (RFC 3551 sections 4.5.14). Stateless: shared by all sessions. */
export interface PayloadCodec {
  readonly name: 'PCMU' | 'PCMA'
  /** Static payload type (RFC 3551 table 4). */
  readonly payloadType: 0 | 8
  /** The byte that decodes to digital silence. */
  readonly silence: number
  /** Encodes `count` samples from `src[srcOffset]` to `dst[dstOffset]`, as many as both hold; returns how many. */
  encode(src: Int16Array, srcOffset: number, count: number, dst: Uint8Array, dstOffset: number): number
  /** Decodes `count` bytes from `src[srcOffset]` to `dst[dstOffset]`, as many as both hold; returns how many. */
  decode(src: Uint8Array, srcOffset: number, count: number, dst: Int16Array, dstOffset: number): number
}

export declare function codecByName(name: 'PCMU' | 'PCMA'): PayloadCodec
