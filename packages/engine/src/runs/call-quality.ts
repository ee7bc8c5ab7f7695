import type { MediaStatistics } from '@parley/leg'

/** `quality` of the run resource: how the far end's audio arrived here. */
interface CallQuality {
  readonly jitter_ms: number
  /** 0 to 1. */
  readonly loss: number
  /** 1 to 5, by the E-model from loss and jitter. */
  readonly mos: number
}

/** Bpl of G.711 with concealment, random loss (ITU-T G.113 appendix I). */
const LOSS_ROBUSTNESS = 25.1
/** R of a clean narrow-band call (ITU-T G.107). */
const CLEAN_R = 93.2
/** One-way delay with a jitter buffer of usual depth, without jitter. */
const BASE_DELAY_MS = 60

/** Null: no packet was received. */
export function qualityOf({
  packetsReceived,
  packetsLost,
  packetsLate,
  jitterMs,
}: MediaStatistics): CallQuality | null {
  if (packetsReceived === 0) return null
  const missed = Math.max(0, packetsLost) + packetsLate
  const loss = Math.min(1, missed / (packetsReceived + missed))
  return { jitter_ms: round(jitterMs), loss: Math.round(loss * 1e6) / 1e6, mos: mosOf(loss, jitterMs) }
}

/** Mean opinion score (ITU-T G.107, annex B), to hundredths. */
function mosOf(loss: number, jitterMs: number): number {
  const percent = 100 * loss
  const delayMs = BASE_DELAY_MS + 2 * jitterMs
  const delay = 0.024 * delayMs + (delayMs > 177.3 ? 0.11 * (delayMs - 177.3) : 0)
  const equipment = (95 * percent) / (percent + LOSS_ROBUSTNESS)
  const r = Math.min(100, Math.max(0, CLEAN_R - delay - equipment))
  const mos = 1 + 0.035 * r + r * (r - 60) * (100 - r) * 7e-6
  return round(Math.min(5, Math.max(1, mos)))
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}
