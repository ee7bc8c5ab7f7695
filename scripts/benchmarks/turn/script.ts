import type { Ms, Samples } from '@parley/kernel'

/**
 * The callers' lines, known to both processes. Each ends in a vowel or a nasal, together with the tones of its last word, so that
 * the turn meter and voice activity detection agree on its end and the recogniser has nothing to wait for (both tested).
 */
export const CALLER_LINES: readonly string[] = [
  'I would like a table for two.',
  'My name is Anna Miller.',
  'Tomorrow afternoon would be better.',
  'There are seven people coming.',
]

/** Shortest delay of the scripted model inside the engine's process. */
export const MIN_DELAY_MS: Ms = 200
/** Delays of services: of words after speech, of a model's first token (at least), and of a voice's first audio. */
export const SERVICE_DELAYS = { hearing: 150, thinking: 350, speaking: 130 } as const satisfies Record<string, Ms>
const FRAME_MS: Ms = 20
const FRAME: Samples = 160
/** Steps of the two-dimensional R2 low-discrepancy sequence: one dimension for delays, one for ends of speech. */
const R2_DELAY_STEP = 0.754877666
const R2_LEAD_STEP = 0.569840291

/**
 * Delay of the scripted model before its first token in turn `turn` of a call (from 1), between `leastMs` and a frame more. Both
 * ends send on fixed grids of 20 ms. With a constant delay every answer of a call would fall on the same phase of a frame; these
 * delays are spread evenly over all phases.
 */
export function scriptedDelay(turn: number, leastMs: Ms): Ms {
  return leastMs + FRAME_MS * ((turn * R2_DELAY_STEP) % 1)
}

/** Silence before a line, so that speech ends at every phase of a frame. */
export function scriptedLead(turn: number): Samples {
  return Math.floor(FRAME * ((turn * R2_LEAD_STEP) % 1))
}
