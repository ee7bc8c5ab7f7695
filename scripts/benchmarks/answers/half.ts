import { createHash } from 'node:crypto'

/** `tuning`: thresholds and phrases may be chosen on it. `held-out`: only scored. */
export type Half = 'tuning' | 'held-out'

const HALVES = new Map<string, Half>()

/** The half that a voice, a line or a kind of noise belongs to. */
export function halfOf(name: string): Half {
  const known = HALVES.get(name)
  if (known !== undefined) return known
  const half = createHash('sha256').update(`answers:${name}`).digest()[0]! % 2 === 0 ? 'tuning' : 'held-out'
  HALVES.set(name, half)
  return half
}
