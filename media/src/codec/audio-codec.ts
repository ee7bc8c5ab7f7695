import type { AudioFormat } from '@parley/kernel'

/**
 * An RTP payload format for audio. One file defines it and one line of `codecs.ts` registers it. Encoders and decoders may
 * keep state: each direction of a session has its own.
 */
export interface AudioCodec<Name extends string = string> {
  /** Encoding name (RFC 3551 section 6), as in `a=rtpmap`, upper case. */
  readonly name: Name
  /** Static payload type (RFC 3551 table 4); of a codec without one, the dynamic type that our offers give it. */
  readonly payloadType: number
  /** RTP clock rate, Hz, as in `a=rtpmap`; not always the sample rate (G722). */
  readonly clockRate: number
  /** Channels in `a=rtpmap`; default those of `format`. */
  readonly channels?: number
  /** Our format parameters in `a=fmtp`; default none. */
  readonly fmtp?: string
  /** Format of the audio that encoders take and decoders return. */
  readonly format: AudioFormat
  /** `peerFmtp`: format parameters of the peer, null (default) without; they say what it wants to receive. */
  createEncoder(peerFmtp?: string | null): AudioEncoder
  createDecoder(): AudioDecoder
}

/** The sending direction of one stream. */
export interface AudioEncoder {
  /**
   * Encodes `count` samples from `src[srcOffset]` to `dst[dstOffset]`, as many as both hold; returns how many bytes. 0: no packet.
   * `isSilence`: nothing plays; default false. An encoder may send less for it.
   */
  encode(
    src: Int16Array,
    srcOffset: number,
    count: number,
    dst: Uint8Array,
    dstOffset: number,
    isSilence?: boolean,
  ): number
  /** The peer reports that this share of the packets is lost on their way to it, 0 to 1. Absent: the codec has no redundancy. */
  reportLoss?(share: number): void
}

/** The receiving direction of one stream. */
export interface AudioDecoder {
  /** Decodes `count` bytes from `src[srcOffset]` to `dst[dstOffset]`, as many as both hold; returns how many samples. */
  decode(src: Uint8Array, srcOffset: number, count: number, dst: Int16Array, dstOffset: number): number
  /**
   * Decodes the lost packet before the one at `src`, of `samples` samples, from the redundancy that the latter carries, and before
   * the latter is decoded; returns how many samples. Absent: the codec has no redundancy.
   */
  recover?(
    src: Uint8Array,
    srcOffset: number,
    count: number,
    dst: Int16Array,
    dstOffset: number,
    samples: number,
  ): number
}
