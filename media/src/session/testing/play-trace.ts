import type { SrtpTransforms } from '../../srtp/srtp-transform.ts'
import { portableTransforms } from '../../srtp/transform-for-key.ts'
import { type MediaPath, PortableMediaPath } from '../media-path.ts'
import type { SrtpSuite } from '../media-session.ts'
import { PathRig } from './path-rig.ts'
import { PathTrace, type Roughness } from './path-trace.ts'

export interface PlayedTrace {
  readonly seed: number
  /** Of 20 ms. */
  readonly steps: number
  readonly roughness: Roughness
  readonly suite: SrtpSuite | null
  /** The path that is compared with the portable one, and the transforms of its calls. */
  readonly path: MediaPath
  readonly transforms: SrtpTransforms
  /** Called after each step, before the comparison. */
  readonly disturb?: (step: number, rigs: PlayedRigs, trace: PathTrace) => void
}

export interface PlayedRigs {
  readonly portable: PathRig
  readonly native: PathRig
}

/**
 * Plays one seeded trace through the portable path and another one. After each step it compares everything that can be seen:
 * sent bytes, heard audio, recorded bytes, edges of voice, events, statistics, and the state of the call. Throws at the first
 * difference.
 */
export function playTrace({ seed, steps, roughness, suite, path, transforms, disturb }: PlayedTrace): PlayedRigs {
  const portable = new PathRig(new PortableMediaPath(), portableTransforms, seed)
  const native = new PathRig(path, transforms, seed)
  const trace = new PathTrace(seed, [portable, native], roughness, suite)
  for (let step = 0; step < steps; step++) {
    trace.step()
    disturb?.(step, { portable, native }, trace)
    compare(portable, native, `suite ${suite}, seed ${seed}, step ${step}`)
  }
  trace.close()
  compare(portable, native, `suite ${suite}, seed ${seed}, close`)
  return { portable, native }
}

function compare(portable: PathRig, native: PathRig, where: string): void {
  const [expected, actual] = [portable.takeOutput(), native.takeOutput()]
  const at = expected.findIndex((line, i) => line !== actual[i])
  if (at < 0 && expected.length === actual.length) return
  throw new Error(`the paths differ at ${where}:\nportable ${expected[at]}\nnative   ${actual[at]}`)
}
