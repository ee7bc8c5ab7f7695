import { type AudioFormat, type Ms, NARROWBAND, WIDEBAND } from '../../../packages/kernel/src/index.ts'

/** A kind of call: what its sessions are opened with. */
export interface Line {
  readonly name: string
  readonly codec: 'PCMU' | 'G722' | 'OPUS'
  /** Of the peer's description. */
  readonly fmtp: string | null
  readonly format: AudioFormat
  /** How late a packet may come; undefined: as on telephone networks. */
  readonly holdMs?: Ms
}

const OPUS_FMTP = 'minptime=10;useinbandfec=1'

export const LINES: readonly Line[] = [
  { name: 'G.711', codec: 'PCMU', fmtp: null, format: NARROWBAND },
  { name: 'G.722', codec: 'G722', fmtp: null, format: WIDEBAND },
  { name: 'Opus', codec: 'OPUS', fmtp: OPUS_FMTP, format: WIDEBAND },
  { name: 'Opus, web call', codec: 'OPUS', fmtp: OPUS_FMTP, format: WIDEBAND, holdMs: 120 },
]

/** Impairment of a network in both directions; shares from 0 to 1. */
export interface Impairment {
  readonly loss?: number
  /** Added to the latency of each packet, uniform from 0 on. */
  readonly jitterMs?: Ms
  /** Share of packets that come 30 ms late, behind later ones. */
  readonly reorder?: number
  readonly duplicate?: number
}

/** Everything at once: the network on which speech must be concealed without a hole. */
export const WORST: Impairment = { loss: 0.05, jitterMs: 60, reorder: 0.02, duplicate: 0.02 }

export const IMPAIRMENTS: readonly Impairment[] = [
  {},
  ...[0.01, 0.03, 0.05, 0.1].map(loss => ({ loss })),
  ...[20, 40, 60, 100].map(jitterMs => ({ jitterMs })),
  { reorder: 0.05 },
  { duplicate: 0.05 },
  WORST,
]
