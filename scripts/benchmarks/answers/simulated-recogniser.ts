import { type Random, randomUint32, SeededRandom } from '@parley/kernel'
import type { SpokenText } from './callee-audio.ts'

/** Delay of a word after its end, and of the final transcript after the last word. */
const SHORTEST_DELAY_MS = 220
const DELAY_SPREAD_MS = 180
const FINAL_DELAY_MS = 450
/** Share of words that are wrong or missing, by SNR. */
const ERROR_SHARES: readonly (readonly [number, number])[] = [
  [7, 0.25],
  [12, 0.12],
  [17, 0.08],
  [25, 0.06],
]
const CLEAN_SHARE = 0.04

export interface Transcript {
  readonly atMs: number
  readonly isFinal: boolean
  readonly words: readonly { readonly text: string; readonly startMs: number; readonly endMs: number }[]
}

/** What a streaming recogniser delivers for spoken words: each with a delay, some wrong, more in noise. */
export function transcriptsOf(words: readonly SpokenText[], snrDb: number | null, seed: number): Transcript[] {
  const random = new SeededRandom(seed ^ 0x5eed)
  const share = ERROR_SHARES.find(([below]) => snrDb !== null && snrDb < below)?.[1] ?? CLEAN_SHARE
  const out: Transcript[] = []
  let heard: { text: string; startMs: number; endMs: number }[] = []
  let atMs = 0
  for (const word of words) {
    const { isLast, ...times } = word
    atMs = Math.max(atMs, word.endMs + SHORTEST_DELAY_MS + DELAY_SPREAD_MS * uniform(random))
    if (uniform(random) >= share) heard = [...heard, times]
    // Half of the errors lose the word, the others hear another one.
    else if (uniform(random) < 0.5)
      heard = [...heard, { ...times, text: words[Math.floor(uniform(random) * words.length)]!.text }]
    out.push({ atMs, isFinal: false, words: heard })
    if (!isLast) continue
    atMs += FINAL_DELAY_MS
    out.push({ atMs, isFinal: true, words: heard })
    heard = []
  }
  return out
}

function uniform(random: Random): number {
  return randomUint32(random) / 2 ** 32
}
