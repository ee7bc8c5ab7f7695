/**
 * Encryption and authentication of RTP under one set of session keys. Opening takes two steps, so that nothing is
 * remembered or written of a packet before it is known to be authentic.
 */
export interface RtpTransform {
  /** Bytes that `seal` adds. */
  readonly overhead: number
  /** Protects the packet in the first `length` bytes, its payload beginning at `header`; room is there. The new length. */
  seal(packet: Uint8Array, header: number, length: number, ssrc: number, index: number): number
  /** Whether the protected packet in the first `length` bytes is authentic as packet `index`; it is left as it was. */
  authentic(packet: Uint8Array, header: number, length: number, ssrc: number, index: number): boolean
  /** Decrypts in place the packet that was just found `authentic`; the new length. */
  open(packet: Uint8Array, header: number, length: number, ssrc: number, index: number): number
}

/** The same for RTCP, whose index travels in the packet with the flag E: it is encrypted (RFC 3711 section 3.4). */
export interface RtcpTransform {
  readonly overhead: number
  /** Where flag and index stand in a protected packet of `length` bytes. */
  indexAt(length: number): number
  seal(packet: Uint8Array, length: number, ssrc: number, index: number): number
  authentic(packet: Uint8Array, length: number, ssrc: number, encrypted: boolean, index: number): boolean
  open(packet: Uint8Array, length: number, ssrc: number, encrypted: boolean, index: number): number
}
