import { Concealment } from '../../../media/src/index.ts'
import { type Ms, samplesToMs } from '../../../packages/kernel/src/index.ts'
import { findHoles, speechMs } from './holes.ts'
import type { HeardCall } from './impaired-call.ts'
import type { Line } from './lines.ts'

const PACKET_MS: Ms = 20
/** Share of the speech that may be silence: what is lost in one run of more than three packets is muted. */
const MOST_UNHEARD = 0.005

/** What became of the packets of one call, and of the speech in them. */
export interface CallFigures {
  readonly packets_received: number
  /** Never arrived. */
  readonly packets_lost: number
  /** Arrived when their place had been filled. */
  readonly packets_late: number
  /** Refused as replayed, or by the re-order buffer. */
  readonly packets_twice: number
  /** Generated sound in packets of 20 ms. Silence of the sender, which needs none, is concealed, too. */
  readonly packets_concealed: number
  /** Share of the speech in place of which the listener heard silence. */
  readonly unheard: number
  /** Such silences of more than 40 ms. */
  readonly gaps_over_40_ms: number
  readonly longest_gap_ms: Ms
}

export function figuresOf({ format }: Line, clean: HeardCall, heard: HeardCall): CallFigures {
  const { statistics } = heard
  const holes = clean.utterances.map((utterance, i) => findHoles(utterance, heard.utterances[i]!, format))
  const spoken = clean.utterances.reduce((sum, utterance) => sum + speechMs(utterance, format), 0)
  const silent = holes.reduce((sum, { ms }) => sum + ms, 0)
  return {
    packets_received: statistics.packetsReceived,
    packets_lost: statistics.packetsLost,
    packets_late: statistics.packetsLate,
    packets_twice: statistics.packetsDuplicate + statistics.rejected.replayed,
    packets_concealed: Math.round(samplesToMs(statistics.concealedSamples, format) / PACKET_MS),
    unheard: Math.round((10_000 * silent) / spoken) / 10_000,
    gaps_over_40_ms: holes.reduce((sum, { long }) => sum + long, 0),
    longest_gap_ms: Math.round(Math.max(0, ...holes.map(({ longestMs }) => longestMs))),
  }
}

/** Why speech was not concealed; empty: it was. */
export function notConcealed({ unheard, gaps_over_40_ms }: CallFigures): string[] {
  return [
    ...(unheard > MOST_UNHEARD ? [`${(100 * unheard).toFixed(2)} % of the speech is silence`] : []),
    ...(gaps_over_40_ms > 0 ? [`${gaps_over_40_ms} silences of more than 40 ms in speech`] : []),
  ]
}

/** The planted fault: calls that `held` holds fill gaps with silence. */
export async function withoutConcealment<Result>(held: () => Promise<Result>): Promise<Result> {
  const { conceal } = Concealment.prototype
  Concealment.prototype.conceal = (into, offset, count) => {
    into.fill(0, offset, offset + count)
    return count
  }
  try {
    return await held()
  } finally {
    Concealment.prototype.conceal = conceal
  }
}
