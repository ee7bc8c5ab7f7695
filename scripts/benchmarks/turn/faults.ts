import type { Ms } from '@parley/kernel'

/** Planted faults of the turn benchmark, each of which one of its figures must show. */
export const PLANTED_FAULTS = ['hole', 'stall', 'pause', 'busy'] as const

/**
 * hole: the voice leaves out 60 ms inside its answer. stall: the engine stands still for 150 ms once. pause: the callers pause inside
 * their last line for longer than the silence that ends a turn. busy: the engine's main thread works for a tenth of a core besides.
 */
export type PlantedFault = (typeof PLANTED_FAULTS)[number]

export const STALL_MS: Ms = 150
const HOLE_MS: Ms = 60
/** The engine asks for an answer within it, and it is over before the answer comes. */
const PAUSE_MS: Ms = 360
const BUSY_MS: Ms = 2
const BUSY_EVERY_MS: Ms = 20
const SAMPLES_PER_MS = 8

/** The audio with 60 ms of nothing in place of its loudest. */
export function withHole(audio: Int16Array): Int16Array {
  const from = extremeWindow(audio, HOLE_MS, (energy, best) => energy > best)
  return audio.map((sample, i) => (i >= from && i < from + HOLE_MS * SAMPLES_PER_MS ? 0 : sample))
}

/** The line with a pause where it is quietest in its middle. */
export function withPause(line: Int16Array): Int16Array {
  const third = Math.floor(line.length / 3)
  const at = third + extremeWindow(line.subarray(third, 2 * third), 20, (energy, best) => energy < best)
  const paused = new Int16Array(line.length + PAUSE_MS * SAMPLES_PER_MS)
  paused.set(line.subarray(0, at))
  paused.set(line.subarray(at), at + PAUSE_MS * SAMPLES_PER_MS)
  return paused
}

/** Takes a tenth of a core of this thread until the process ends. */
export function keepBusy(): void {
  setInterval(() => {
    for (const until = performance.now() + BUSY_MS; performance.now() < until; );
  }, BUSY_EVERY_MS)
}

/** Where the window of `ms` whose energy is better than that of all others begins. */
function extremeWindow(audio: Int16Array, ms: Ms, isBetter: (energy: number, best: number) => boolean): number {
  const length = ms * SAMPLES_PER_MS
  let at = 0
  let best: number | null = null
  for (let from = 0; from + length <= audio.length; from += SAMPLES_PER_MS) {
    let energy = 0
    for (let i = from; i < from + length; i++) energy += audio[i]! * audio[i]!
    if (best !== null && !isBetter(energy, best)) continue
    best = energy
    at = from
  }
  return at
}
