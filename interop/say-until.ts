import { eventually } from './placed-call.ts'

/** A person who is not understood says it again: on a busy machine packets come too late for some words. */
const SAY_AGAIN_MS = 15_000
const WITHIN_MS = 120_000

/** Speaks, again after 15 s, until `heard` has each of `words`; rejects after two minutes. */
export async function sayUntil(words: readonly string[], speak: () => void, heard: () => string): Promise<void> {
  let saidAt = Number.NEGATIVE_INFINITY
  await eventually(
    async () => {
      const text = heard()
      if (!isUnderstood(words, text) && performance.now() - saidAt > SAY_AGAIN_MS) {
        speak()
        saidAt = performance.now()
      }
      return text
    },
    text => isUnderstood(words, text),
    WITHIN_MS,
  )
}

function isUnderstood(words: readonly string[], text: string): boolean {
  return words.every(word => text.includes(word))
}
