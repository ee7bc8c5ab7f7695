import type { SessionKeys } from './key-derivation.ts'

/**
 * Encryption and authentication of RTP under one set of session keys. Opening takes two steps, so that no state and no
 * byte changes before a packet is known to be authentic.
 */
export interface RtpTransform {
  /** Bytes that `seal` adds. */
  readonly overhead: number
  /**
   * Protects the packet in the first `length` bytes, whose payload begins at `header`; there must be space for the tag.
   * Returns the new length.
   */
  seal(packet: Uint8Array, header: number, length: number, ssrc: number, index: number): number
  /** Whether the protected packet in the first `length` bytes is authentic as packet `index`. Leaves it unchanged. */
  authentic(packet: Uint8Array, header: number, length: number, ssrc: number, index: number): boolean
  /** Decrypts in place the packet that was just found `authentic`; returns the new length. */
  open(packet: Uint8Array, header: number, length: number, ssrc: number, index: number): number
}

/** Makes transforms of session keys: those of a media thread are native where the addon is built. */
export interface SrtpTransforms {
  gcm(keys: SessionKeys): RtpTransform
  /** `tagBytes`: 4 or 10. */
  counterMode(keys: SessionKeys, tagBytes: number): RtpTransform
}

/**
 * Encryption and authentication of RTCP, whose index is in the packet, with the E flag: encrypted (RFC 3711 section
 * 3.4).
 */
export interface RtcpTransform {
  readonly overhead: number
  /** Offset of flag and index in a protected packet of `length` bytes. */
  indexAt(length: number): number
  seal(packet: Uint8Array, length: number, ssrc: number, index: number): number
  authentic(packet: Uint8Array, length: number, ssrc: number, encrypted: boolean, index: number): boolean
  open(packet: Uint8Array, length: number, ssrc: number, encrypted: boolean, index: number): number
}
