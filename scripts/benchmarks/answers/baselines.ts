import type { Observation } from './observe.ts'

/** A baseline knows people and machines only; `unknown`: it did not decide. */
export interface BaselineVerdict {
  readonly machine: boolean | null
  readonly atMs: number | null
}

interface Stretch {
  readonly startMs: number
  readonly endMs: number
}

/**
 * The classic algorithm of Asterisk's AMD application, by its documentation, with the defaults of amd.conf: initial silence of 2500 ms,
 * a greeting of 1500 ms, more than 3 words (of at least 100 ms, with at least 50 ms between), or 5000 ms in all are a machine; 800 ms of silence after the
 * greeting is a person.
 */
export function asteriskAmd(sounds: readonly Observation[], answeredMs: number): BaselineVerdict {
  const stretches = talkIn(sounds, answeredMs, 50).filter(({ startMs, endMs }) => endMs - startMs >= 100)
  const [first] = stretches
  if (first === undefined || first.startMs > 2500) return { machine: true, atMs: 2500 }
  let greetingFrom = first.startMs
  for (const [i, { startMs, endMs }] of stretches.entries()) {
    if (i >= 3) return { machine: true, atMs: startMs + 100 }
    if (i > 0 && startMs - stretches[i - 1]!.endMs >= 800) break
    if (endMs - greetingFrom > 1500) return { machine: true, atMs: greetingFrom + 1500 }
    const next = stretches[i + 1]
    if (next === undefined || next.startMs - endMs >= 800) return { machine: false, atMs: endMs + 800 }
    greetingFrom = Math.min(greetingFrom, startMs)
  }
  return { machine: true, atMs: 5000 }
}

/** Talk of at most 2 s before a silence of 1 s is a person; longer talk, or none in 5 s, is a machine. */
export function silenceRule(sounds: readonly Observation[], answeredMs: number): BaselineVerdict {
  const stretches = talkIn(sounds, answeredMs, 1000)
  const [first] = stretches
  if (first === undefined || first.startMs > 5000) return { machine: true, atMs: 5000 }
  if (first.endMs - first.startMs > 2000) return { machine: true, atMs: first.startMs + 2000 }
  return { machine: false, atMs: first.endMs + 1000 }
}

/** Talk since the answer, with gaps shorter than `gapMs` bridged. */
function talkIn(sounds: readonly Observation[], answeredMs: number, gapMs: number): Stretch[] {
  const out: { startMs: number; endMs: number }[] = []
  let startMs: number | null = null
  for (const { input } of sounds) {
    if (input.type === 'voice-started') startMs = Math.max(0, input.startedAt - answeredMs)
    if (input.type !== 'voice-stopped' || startMs === null) continue
    const endMs = input.stoppedAt - answeredMs
    const last = out.at(-1)
    if (last !== undefined && startMs - last.endMs < gapMs) last.endMs = endMs
    else if (endMs > 0) out.push({ startMs, endMs })
    startMs = null
  }
  if (startMs !== null) out.push({ startMs, endMs: Number.POSITIVE_INFINITY })
  return out
}
