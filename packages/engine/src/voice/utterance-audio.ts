import { type Ms, ParleyError, type Samples, type Time } from '@parley/kernel'
import type { SpeechChunk, TextToSpeech } from '@parley/providers'
import { heardOf } from './heard-text.ts'

/** A voice that yields nothing for this long has failed: at first, and between two chunks. */
const FIRST_CHUNK_MS: Ms = 5000
const NEXT_CHUNK_MS: Ms = 5000

export interface VoiceChoice {
  readonly voice: TextToSpeech
  /** BCP 47. */
  readonly language: string
  /** A voice of the service; null: its first. */
  readonly voiceId: string | null
}

/** A sentence on its way from text to sound. */
export interface Sentence {
  readonly text: string
  /** Place of its first sample in the playout stream. */
  from: Samples
  samples: Samples
  complete: boolean
  words: SpeechChunk['words'][number][]
}

export function newSentence(text: string, from: Samples): Sentence {
  return { text, from, samples: 0, complete: false, words: [] }
}

/** What was heard of these sentences when the playout stood at `position`. */
export function heardUpTo(sentences: readonly Sentence[], position: Samples): string {
  return sentences
    .map(sentence => heardOf(sentence, position - sentence.from))
    .filter(text => text !== '')
    .join(' ')
}

/** Chunks of one sentence; throws `ParleyError` "voice_stalled" when the voice yields nothing for too long. */
export async function* renderSentence(
  text: string,
  { voice, language, voiceId }: VoiceChoice,
  speed: number,
  time: Time,
  signal: AbortSignal,
): AsyncGenerator<SpeechChunk, void, undefined> {
  const request = { text, language, ...(voiceId !== null && { voice: voiceId }), ...(speed !== 1 && { speed }) }
  const chunks = voice.synthesize(request, signal)[Symbol.asyncIterator]()
  let patience = FIRST_CHUNK_MS
  try {
    for (;;) {
      const next = await withinTime(chunks.next(), patience, time)
      if (next.done === true || signal.aborted) return
      patience = NEXT_CHUNK_MS
      yield next.value
    }
  } finally {
    void chunks.return?.()?.catch(() => {})
  }
}

function withinTime<Value>(promise: Promise<Value>, ms: Ms, time: Time): Promise<Value> {
  return new Promise((resolve, reject) => {
    const timer = time.at(time.now() + ms, () =>
      reject(new ParleyError('voice_stalled', `the voice gave nothing for ${ms / 1000} s`, { retryable: true })),
    )
    promise.then(
      value => {
        timer.cancel()
        resolve(value)
      },
      error => {
        timer.cancel()
        reject(error)
      },
    )
  })
}
