import type { MediaStatistics } from '@parley/leg'

/** `quality` of the run resource: how audio arrived, here and at the far end. */
interface CallQuality {
  /** Mean over the call. */
  readonly jitter_ms: number
  readonly jitter_max_ms: number
  /** 0 to 1. */
  readonly loss: number
  /** 1 to 5, by the E-model from loss, jitter and round trip. */
  readonly mos: number
  /** The same for each 10 s of the call, in order. */
  readonly mos_intervals: readonly number[]
  /** Mean of the measured round trips; null: the far end sent no RTCP. */
  readonly round_trip_ms: number | null
  /** Reception of our audio, as the far end reported it; null: it reported nothing. */
  readonly far_end: { readonly loss: number; readonly jitter_ms: number; readonly jitter_max_ms: number } | null
  /** How often a source of RTP that had been replaced took its place back. */
  readonly media_conflicts: number
}

/** Bpl of G.711 with concealment, random loss (ITU-T G.113 appendix I). */
const LOSS_ROBUSTNESS = 25.1
/** R of a clean narrow-band call (ITU-T G.107). */
const CLEAN_R = 93.2
/** Delay in the far end's packets and jitter buffer, without jitter. */
const DEVICE_DELAY_MS = 40
/** Of a network whose round trip was not measured. */
const USUAL_ROUND_TRIP_MS = 40

/** Null: no packet was received. */
export function qualityOf(statistics: MediaStatistics): CallQuality | null {
  const { packetsReceived, packetsLost, packetsLate, jitterMeanMs, jitterMaxMs, farEnd } = statistics
  if (packetsReceived === 0) return null
  const missed = Math.max(0, packetsLost) + packetsLate
  const loss = missed / (packetsReceived + missed)
  const roundTripMs = statistics.roundTrip?.meanMs ?? null
  return {
    jitter_ms: round(jitterMeanMs),
    jitter_max_ms: round(jitterMaxMs),
    loss: roundShare(loss),
    mos: mosOf(loss, jitterMeanMs, roundTripMs),
    mos_intervals: statistics.intervals.map(({ received, lost, jitterMs }) =>
      mosOf(lost / (received + lost), jitterMs, roundTripMs),
    ),
    round_trip_ms: roundTripMs === null ? null : round(roundTripMs),
    far_end:
      farEnd === null
        ? null
        : {
            loss: roundShare(farEnd.loss),
            jitter_ms: round(farEnd.jitterMs),
            jitter_max_ms: round(farEnd.jitterMaxMs),
          },
    media_conflicts: statistics.mediaConflicts,
  }
}

/** Mean opinion score (ITU-T G.107, annex B), to hundredths. */
function mosOf(loss: number, jitterMs: number, roundTripMs: number | null): number {
  const percent = 100 * loss
  const delayMs = DEVICE_DELAY_MS + (roundTripMs ?? USUAL_ROUND_TRIP_MS) / 2 + 2 * jitterMs
  const delay = 0.024 * delayMs + (delayMs > 177.3 ? 0.11 * (delayMs - 177.3) : 0)
  const equipment = (95 * percent) / (percent + LOSS_ROBUSTNESS)
  const r = Math.min(100, Math.max(0, CLEAN_R - delay - equipment))
  const mos = 1 + 0.035 * r + r * (r - 60) * (100 - r) * 7e-6
  return round(Math.min(5, Math.max(1, mos)))
}

function roundShare(value: number): number {
  return Math.round(Math.min(1, value) * 1e6) / 1e6
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}
