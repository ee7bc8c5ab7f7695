import type { Ms, Samples } from '@parley/kernel'

/**
 * What callers say, so that both processes know it. Each ends in a vowel or a nasal, and its words' tones end with it: an
 * end on which a stopwatch and voice activity agree, and after which a recogniser has nothing to wait for (both tested).
 */
export const CALLER_LINES: readonly string[] = [
  'I would like a table for two.',
  'My name is Anna Miller.',
  'Tomorrow afternoon would be better.',
  'There are seven people coming.',
]

/** Least delay of the scripted model that runs inside the engine's process. */
export const LEAST_DELAY_MS: Ms = 200
/** Of services: from the end of what was said to its words, to a model's first token (at least), to a voice's first audio. */
export const SERVICE_DELAYS = { hearing: 150, thinking: 350, speaking: 130 } as const satisfies Record<string, Ms>
const FRAME_MS: Ms = 20
const FRAME: Samples = 160
/** Steps of the two-dimensional R2 low-discrepancy sequence. */
const EVENLY = 0.754877666
const AND_SO = 0.569840291

/**
 * What the scripted model waits before its first token in a call's turn number `turn`, from 1 on, `leastMs` or up to a frame more. Both ends send on grids of
 * 20 ms, which do not move against each other: with one and the same delay a call would meet one place between two frames
 * again and again, and be lucky or unlucky for good. Over some turns these meet all places alike.
 */
export function scriptedDelay(turn: number, leastMs: Ms): Ms {
  return leastMs + FRAME_MS * ((turn * EVENLY) % 1)
}

/** Silence before a line, so that speech ends at every phase of a frame. */
export function scriptedLead(turn: number): Samples {
  return Math.floor(FRAME * ((turn * AND_SO) % 1))
}
