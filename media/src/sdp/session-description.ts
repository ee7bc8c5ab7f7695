/** An SDP body after parsing (RFC 8866), as much of it as audio calls need; unknown lines are ignored, not refused. */
export interface SessionDescription {
  readonly origin: {
    readonly username: string
    readonly sessionId: string
    readonly version: string
    readonly address: string
  }
  readonly sessionName: string
  /** `t=` as written, "0 0" when the line was missing: an answer repeats the offer's (RFC 3264 section 6). */
  readonly timing: string
  /** Session-level connection address, or null. */
  readonly connection: string | null
  readonly direction: 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive' | null
  readonly media: readonly MediaDescription[]
}

export interface MediaDescription {
  /** Lower-cased: "audio", "video", "image", … */
  readonly kind: string
  /** 0: refused or withdrawn. */
  readonly port: number
  /** As written: "RTP/AVP", "RTP/SAVP", "UDP/TLS/RTP/SAVPF", "udptl", … */
  readonly protocol: string
  readonly formats: readonly string[]
  readonly connection: string | null
  readonly direction: 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive' | null
  /** RTP formats with their rtpmap (static ones filled in) and fmtp. */
  readonly codecs: readonly SdpCodec[]
  readonly ptimeMs: number | null
  readonly maxptimeMs: number | null
  /** `a=crypto` lines that could be read (RFC 4568); others are left out. */
  readonly crypto: readonly CryptoAttribute[]
  /** Any `a=crypto` line was there, readable or not. */
  readonly hasCrypto: boolean
  readonly rtcpMux: boolean
  readonly rtcp: { readonly port: number; readonly address: string | null } | null
}

export interface SdpCodec {
  readonly payloadType: number
  /** Upper-cased, "PCMU"; "TELEPHONE-EVENT". */
  readonly name: string
  readonly clockRate: number
  readonly channels: number
  readonly fmtp: string | null
}

export interface CryptoAttribute {
  readonly tag: number
  /** As written; may be a suite we do not have. */
  readonly suite: string
  readonly keyAndSalt: Uint8Array
  /** `2^20` style lifetimes resolved; null when absent. */
  readonly lifetimePackets: bigint | null
  /** Master key identifier in the packets under this key, `length` bytes; null: none. */
  readonly mki: { readonly value: bigint; readonly length: number } | null
  readonly sessionParameters: readonly string[]
}
