import type { Seq16 } from '@parley/kernel'

const CYCLE = 0x10000
const HALF = 0x8000

/**
 * The 48-bit packet index (rollover counter * 2^16 + sequence) that `sequence` most likely belongs to, `highest` being
 * the highest authentic one so far or -1 (RFC 3711 section 3.3.1 and appendix A).
 * No index is below 0, so while the rollover counter is 0 a far jump is always taken as forward.
 */
export function guessIndex(highest: number, sequence: Seq16): number {
  if (highest < 0) return sequence
  const last = highest % CYCLE
  const cycle = highest - last
  if (last < HALF) return sequence - last > HALF && cycle > 0 ? cycle - CYCLE + sequence : cycle + sequence
  return last - HALF > sequence ? cycle + CYCLE + sequence : cycle + sequence
}

/** The rollover counter within a packet index; 0 for -1. */
export function rolloverOf(index: number): number {
  return index < 0 ? 0 : Math.floor(index / CYCLE)
}
