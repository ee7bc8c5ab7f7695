import type { Ms, UnixMs } from '@parley/kernel'
import { ntpMiddle, type RtcpCompound } from '../rtp/rtcp.ts'
import type { FarEndReception } from './media-session.ts'

/** Units of delays in reports, per millisecond. */
const DELAY_UNITS_PER_MS = 65.536
/** A longer round trip comes from a report that answers none of ours. */
const MAX_ROUND_TRIP_MS: Ms = 60_000
/** Of the fraction lost in a report (RFC 3550 section 6.4.1). */
const FRACTION_UNITS = 256

/** What the far end's reception reports say about our packets (RFC 3550 section 6.4.1). */
export class FarEndReports {
  /** Mean of the measured round trips, ms; null: none was measured. */
  roundTripMs: Ms | null = null
  roundTripMaxMs: Ms = 0
  /** Null: no report about our packets came. */
  reception: FarEndReception | null = null
  /** Share of our packets that were lost since the report before the last one, 0 to 1. */
  recentLoss = 0
  #roundTrips = 0

  /**
   * Reads the blocks about the source `ssrc`; returns whether there was one. `wallClock`: the present time, on the clock of our sender
   * reports. `ticksPerMs`: RTP clock rate of what is sent.
   */
  read(received: RtcpCompound, ssrc: number, wallClock: UnixMs, packetsSent: number, ticksPerMs: number): boolean {
    let isReported = false
    for (let i = 0; i < received.blockCount; i++) {
      const block = received.blocks[i]!
      if (block.ssrc !== ssrc) continue
      const packetsLost = block.cumulativeLost
      const jitterMs = block.jitter / ticksPerMs
      isReported = true
      this.recentLoss = block.fractionLost / FRACTION_UNITS
      this.reception = {
        packetsLost,
        loss: packetsSent === 0 ? 0 : Math.min(1, Math.max(0, packetsLost / packetsSent)),
        jitterMs,
        jitterMaxMs: Math.max(jitterMs, this.reception?.jitterMaxMs ?? 0),
      }
      if (block.lastSenderReport !== 0) {
        this.#measured((ntpMiddle(wallClock) - block.lastSenderReport - block.delaySinceLastSenderReport) | 0)
      }
    }
    return isReported
  }

  /** `units`: 1/65536 s. Clock steps may make a short round trip negative (RFC 3550 section 6.4.1). */
  #measured(units: number): void {
    const ms = Math.max(0, units) / DELAY_UNITS_PER_MS
    if (units < -DELAY_UNITS_PER_MS * 10 || ms > MAX_ROUND_TRIP_MS) return
    const sum = (this.roundTripMs ?? 0) * this.#roundTrips + ms
    this.#roundTrips++
    this.roundTripMs = sum / this.#roundTrips
    this.roundTripMaxMs = Math.max(this.roundTripMaxMs, ms)
  }
}
