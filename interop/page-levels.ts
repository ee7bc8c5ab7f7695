import type { PageLog } from './page-probe.ts'
import { rms } from './wide-speech.ts'

/** Louder is sound. */
const SOUND = 0.005
/** Silence that ends a sentence, ms; shorter is a pause in it. */
const PAUSE_MS = 700

/** The levels of a recording as those of a page: the microphone's channel, then the agent's. */
export function levelsOf(microphone: Int16Array, agent: Int16Array, sampleRate: number): PageLog['levels'] {
  const step = sampleRate / 100
  return Array.from({ length: Math.floor(microphone.length / step) }, (_, i) => {
    const at = [i * step, (i + 1) * step] as const
    return [10 * (i + 1), rms(microphone.subarray(...at)), rms(agent.subarray(...at))] as const
  })
}

interface Span {
  readonly from: number
  to: number
}

/** When the microphone (1) or the agent (2) sounded, ms; pauses shorter than `pauseMs` count as sound. */
function spans(levels: PageLog['levels'], side: 1 | 2, pauseMs = PAUSE_MS): Span[] {
  const found: Span[] = []
  for (const level of levels) {
    if (level[side] < SOUND) continue
    const last = found.at(-1)
    if (last !== undefined && level[0] - last.to < pauseMs) last.to = level[0]
    else found.push({ from: level[0], to: level[0] })
  }
  return found
}

/** For each sentence into the microphone that began while the agent spoke: time until the agent was silent, ms. */
export function interruptions(levels: PageLog['levels']): number[] {
  const agent = spans(levels, 2)
  return spans(levels, 1).flatMap(({ from }) => {
    const spoken = agent.find(span => span.from < from && span.to > from)
    return spoken === undefined ? [] : [spoken.to - from]
  })
}

/** For each sentence into the microphone: time from its last sound to the first sound of the agent's answer in the page, ms. */
export function turnGaps(levels: PageLog['levels']): number[] {
  const agent = spans(levels, 2)
  return spans(levels, 1).flatMap(({ to }) => {
    const answer = agent.find(span => span.from > to)
    return answer === undefined ? [] : [answer.from - to]
  })
}
