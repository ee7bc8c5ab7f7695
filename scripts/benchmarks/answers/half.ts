import { createHash } from 'node:crypto'

/** `tuning`: thresholds and phrases may be chosen on it. `held-out`: only scored. */
export type Half = 'tuning' | 'held-out'

/** The half that a voice, a line or a kind of noise belongs to. */
export function halfOf(name: string): Half {
  return createHash('sha256').update(`answers:${name}`).digest()[0]! % 2 === 0 ? 'tuning' : 'held-out'
}
