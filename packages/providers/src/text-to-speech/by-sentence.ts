import { NARROWBAND } from '@parley/kernel'
import { readWav, resample } from '@parley/media'
import { ProviderError } from '../errors.ts'
import { sentences } from './sentences.ts'
import type { SpeechChunk, SpeechRequest } from './text-to-speech.ts'

/** Short enough to be synthesised within a fraction of a second, long enough for a natural intonation. */
const MAX_SENTENCE_CHARACTERS = 240

/**
 * Synthesises a text sentence by sentence with `render`, which returns a WAV file, or null when it was aborted; its audio
 * is resampled to `format`. Ends at once when `signal` aborts.
 */
export async function* speakBySentence(
  { text, format = NARROWBAND }: Pick<SpeechRequest, 'text' | 'format'>,
  signal: AbortSignal,
  render: (sentence: string) => Promise<Uint8Array | null>,
): AsyncGenerator<SpeechChunk, void, undefined> {
  for (const sentence of sentences(text, MAX_SENTENCE_CHARACTERS)) {
    // Punctuation alone would be a pause, and some programs fail on it.
    if (!/[\p{L}\p{N}]/u.test(sentence)) continue
    const wav = await untilAborted(signal, render(sentence))
    if (wav === null) return
    yield { samples: resample(...monoOf(wav), format.sampleRateHz), words: [] }
    if (signal.aborted) return
  }
}

function monoOf(wav: Uint8Array): [samples: Int16Array, sampleRateHz: number] {
  try {
    const { channels, sampleRate } = readWav(wav)
    return [channels[0]!, sampleRate]
  } catch (cause) {
    throw new ProviderError('voice_failed', 'The voice returned a WAV file that cannot be read.', {
      retryable: false,
      cause,
    })
  }
}

/** The result of `work`, or null as soon as `signal` aborts. A result after that is dropped. */
export async function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T | null> {
  const { promise: aborted, resolve } = Promise.withResolvers<null>()
  const onAbort = () => resolve(null)
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
