import type { Ms, UnixMs } from '@parley/kernel'
import { ntpMiddle, type RtcpCompound } from '../rtp/rtcp.ts'
import type { FarEndReception } from './media-session.ts'

/** Units of delays in reports, per millisecond. */
const DELAY_UNITS_PER_MS = 65.536
/** A longer round trip comes from a report that answers none of ours. */
const MAX_ROUND_TRIP_MS: Ms = 60_000
/** RTP clock rate of all codecs, per millisecond. */
const TICKS_PER_MS = 8

/** What the far end's reception reports say about our packets (RFC 3550 section 6.4.1). */
export class FarEndReports {
  /** Mean of the measured round trips, ms; null: none was measured. */
  roundTripMs: Ms | null = null
  roundTripMaxMs: Ms = 0
  /** Null: no report about our packets came. */
  reception: FarEndReception | null = null
  #roundTrips = 0

  /** Reads the blocks about the source `ssrc`. `wallClock`: the present time, on the clock of our sender reports. */
  read(received: RtcpCompound, ssrc: number, wallClock: UnixMs, packetsSent: number): void {
    for (let i = 0; i < received.blockCount; i++) {
      const block = received.blocks[i]!
      if (block.ssrc !== ssrc) continue
      const packetsLost = block.cumulativeLost
      const jitterMs = block.jitter / TICKS_PER_MS
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
