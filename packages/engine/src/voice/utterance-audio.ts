import type { AudioFormat, Ms, Samples, Time } from '@parley/kernel'
import { ResamplingStream } from '@parley/media'
import type { SpeechChunk, SpokenText, TextToSpeech } from '@parley/providers'
import { EngineError } from '../errors.ts'
import { heardOf } from './heard-text.ts'
import { serviceFormat } from './service-format.ts'
import { WrittenWords } from './written-words.ts'

/** Timeouts for the first chunk of a sentence and between two chunks. */
const FIRST_CHUNK_MS: Ms = 5000
const NEXT_CHUNK_MS: Ms = 5000

export interface VoiceChoice {
  readonly voice: TextToSpeech
  /** BCP 47. */
  readonly language: string
  /** Id of a voice of the service; null: its first. */
  readonly voiceId: string | null
  /** How the agent's text is given to the voice; default as it is written. */
  readonly spokenText?: SpokenText
  /** 0 (even) to 2 (lively); default the service's. */
  readonly temperature?: number
}

/** The text that the voice is asked for. */
export function spokenForm(text: string, { spokenText }: Pick<VoiceChoice, 'spokenText'>): string {
  return spokenText === undefined ? text : new WrittenWords(spokenText.pieces(text)).spokenText
}

/** A sentence that is being synthesised. */
export interface Sentence {
  /** Of a model that speaks itself: the words that have arrived. */
  text: string
  /** How long a word counts while the sentence is incomplete and has no word times; null: no word counts until it is complete. */
  readonly wordMs: Ms | null
  /** Position of its first sample in the playout stream. */
  from: Samples
  samples: Samples
  complete: boolean
  words: SpeechChunk['words'][number][]
}

export function newSentence(text: string, from: Samples, wordMs: Ms | null = null): Sentence {
  return { text, wordMs, from, samples: 0, complete: false, words: [] }
}

/** Text of these sentences that was played up to `position`, in `format`. */
export function heardUpTo(sentences: readonly Sentence[], position: Samples, format: AudioFormat): string {
  return sentences
    .map(sentence => heardOf(sentence, position - sentence.from, format))
    .filter(text => text !== '')
    .join(' ')
}

/** How a sentence is synthesised. */
interface SentenceOptions {
  readonly speed: number
  /** Format of the call. The voice is asked for the best of its formats, and its audio is resampled. */
  readonly format: AudioFormat
  readonly time: Time
  readonly signal: AbortSignal
}

/** Audio of one sentence in the format of the call; throws `ParleyError` "voice_stalled" when a chunk takes too long. */
export async function* renderSentence(
  text: string,
  choice: VoiceChoice,
  options: SentenceOptions,
): AsyncGenerator<SpeechChunk, void, undefined> {
  const from = serviceFormat(choice.voice, options.format).sampleRateHz
  const to = options.format.sampleRateHz
  if (from === to) return yield* spokenSentence(text, choice, options)
  const resampling = new ResamplingStream(from, to)
  for await (const { samples, words } of spokenSentence(text, choice, options))
    yield { samples: resampling.push(samples), words }
  yield { samples: resampling.end(), words: [] }
}

/** Audio of one sentence in the voice's format. */
async function* spokenSentence(
  text: string,
  { voice, language, voiceId, spokenText, temperature }: VoiceChoice,
  { speed, format, time, signal }: SentenceOptions,
): AsyncGenerator<SpeechChunk, void, undefined> {
  const written = spokenText === undefined ? null : new WrittenWords(spokenText.pieces(text))
  const request = {
    text: written === null ? text : written.spokenText,
    language,
    format: serviceFormat(voice, format),
    ...(voiceId !== null && { voice: voiceId }),
    ...(speed !== 1 && { speed }),
    ...(temperature !== undefined && { temperature }),
  }
  const chunks = voice.synthesize(request, signal)[Symbol.asyncIterator]()
  let timeoutMs = FIRST_CHUNK_MS
  try {
    for (;;) {
      const next = await withinTime(chunks.next(), timeoutMs, time)
      if (next.done === true || signal.aborted) return
      timeoutMs = NEXT_CHUNK_MS
      yield written === null ? next.value : written.convert(next.value)
    }
  } finally {
    void chunks.return?.()?.catch(() => {})
  }
}

function withinTime<Value>(promise: Promise<Value>, ms: Ms, time: Time): Promise<Value> {
  return new Promise((resolve, reject) => {
    const timer = time.at(time.now() + ms, () =>
      reject(new EngineError('voice_stalled', `the voice delivered no audio for ${ms / 1000} s`)),
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
