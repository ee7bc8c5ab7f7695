import { type AudioFormat, type Ms, msToSamples, type Samples, samplesToMs } from '@parley/kernel'
import { ProviderError, type ProviderFailure } from '../errors.ts'
import { isObject, objectOf, textIn } from '../json-object.ts'
import type { HeardWord } from '../speech-to-text/speech-to-text.ts'

/** Audio of one phrase, and what helps to recognise it. */
export interface Phrase {
  readonly samples: Int16Array
  readonly format: AudioFormat
  /** BCP 47 primary tag; null: the server detects it. */
  readonly language: string | null
  readonly keywords: readonly string[]
}

/** The answer to one request; times from the beginning of the phrase. */
export interface Transcription {
  readonly text: string
  /** Primary tag of the language that the server reports; null: none. */
  readonly language: string | null
  /** Null: the server reports no times of words. */
  readonly words: readonly { readonly text: string; readonly startMs: Ms; readonly endMs: Ms }[] | null
}

const WAV_HEADER_BYTES = 44
const MAX_PROMPT_CHARACTERS = 800
/** Tags of the languages that agents speak. */
const LANGUAGE_TAGS: Readonly<Record<string, string>> = { english: 'en', spanish: 'es', castilian: 'es' }
/** Whisper's own limits for a segment that is noise and not speech. */
const NOISE_PROBABILITY = 0.6
const NOISE_LOG_PROBABILITY = -1

/** The body of a request to `/audio/transcriptions`: `multipart/form-data` with the phrase as a WAV file. */
export function transcriptionBody(
  { samples, format, language, keywords }: Phrase,
  { model, boundary }: { readonly model: string; readonly boundary: string },
): Buffer {
  const prompt = keywords.join(', ').slice(0, MAX_PROMPT_CHARACTERS)
  const fields = [
    ['model', model],
    ...(language === null ? [] : [['language', language]]),
    ['response_format', 'verbose_json'],
    ['timestamp_granularities[]', 'word'],
    ['timestamp_granularities[]', 'segment'],
    ['temperature', '0'],
    ...(prompt === '' ? [] : [['prompt', prompt]]),
  ]
  const parts = fields.map(
    ([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  const file = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="phrase.wav"\r\nContent-Type: audio/wav\r\n\r\n`
  return Buffer.concat([
    Buffer.from(parts.join('') + file),
    wavFile(samples, format.sampleRateHz),
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ])
}

function wavFile(samples: Int16Array, sampleRateHz: number): Buffer {
  const file = Buffer.alloc(WAV_HEADER_BYTES + 2 * samples.length)
  file.write('RIFF', 0, 'latin1')
  file.writeUInt32LE(file.length - 8, 4)
  file.write('WAVEfmt ', 8, 'latin1')
  file.writeUInt32LE(16, 16)
  file.writeUInt16LE(1, 20)
  file.writeUInt16LE(1, 22)
  file.writeUInt32LE(sampleRateHz, 24)
  file.writeUInt32LE(2 * sampleRateHz, 28)
  file.writeUInt16LE(2, 32)
  file.writeUInt16LE(16, 34)
  file.write('data', 36, 'latin1')
  file.writeUInt32LE(2 * samples.length, 40)
  for (const [at, sample] of samples.entries()) file.writeInt16LE(sample, WAV_HEADER_BYTES + 2 * at)
  return file
}

/**
 * Reads an answer: `text`, and `words` and `segments` where the server has them. Segments that the server considers noise are left out.
 * Throws `ProviderError` "recogniser_failed" for anything else.
 */
export function readTranscription(body: string): Transcription {
  const answer = objectOf(body)
  if (answer === null || typeof answer.text !== 'string')
    throw new ProviderError('recogniser_failed', 'The recogniser answered with something that is no transcription.')
  const segments = Array.isArray(answer.segments) ? answer.segments.filter(isObject) : []
  const noise = segments.filter(isNoise)
  // Some servers report words inside the segments.
  const listed = Array.isArray(answer.words) ? answer.words : segments.flatMap(({ words }) => words ?? [])
  const words = listed.flatMap(readWord)
  const isInNoise = (atMs: Ms) =>
    noise.some(({ start, end }) => atMs >= Number(start) * 1000 && atMs < Number(end) * 1000)
  const text =
    noise.length === 0
      ? answer.text
      : segments
          .filter(one => !isNoise(one))
          .map(one => textIn(one, 'text'))
          .join(' ')
  return {
    text: text.replace(/\s+/g, ' ').trim(),
    language: languageNamed(textIn(answer, 'language')),
    words: words.length === 0 ? null : words.filter(({ startMs, endMs }) => !isInNoise((startMs + endMs) / 2)),
  }
}

/** Servers report the language by its English name ("spanish") or by its tag. */
function languageNamed(name: string): string | null {
  const tag = name.toLowerCase()
  if (/^[a-z]{2}$/.test(tag)) return tag
  return LANGUAGE_TAGS[tag] ?? null
}

function isNoise({ no_speech_prob: noSpeech, avg_logprob: certainty }: Readonly<Record<string, unknown>>): boolean {
  return (
    typeof noSpeech === 'number' &&
    noSpeech > NOISE_PROBABILITY &&
    typeof certainty === 'number' &&
    certainty < NOISE_LOG_PROBABILITY
  )
}

function readWord(word: unknown): { text: string; startMs: Ms; endMs: Ms }[] {
  if (!isObject(word)) return []
  const text = textIn(word, 'word').trim()
  const { start, end } = word
  const isTimed = typeof start === 'number' && typeof end === 'number' && start >= 0 && end >= start
  return text === '' || !isTimed ? [] : [{ text, startMs: start * 1000, endMs: end * 1000 }]
}

/** Where a phrase lies on the call's clock. */
interface PhrasePlace {
  readonly format: AudioFormat
  /** Position of the first sample of the phrase. */
  readonly from: Samples
  /** Begin and end of the voice in it. */
  readonly voiceFrom: Samples
  readonly voiceTo: Samples
}

/** The words of a transcription on the call's clock, in order. Without times they are spread over the voice by their length. */
export function wordsOf({ text, words }: Pick<Transcription, 'text' | 'words'>, place: PhrasePlace): HeardWord[] {
  const timed = words ?? spread(text, place)
  let last = place.from
  return timed.map(word => {
    const startSample = Math.max(last, place.from + Math.round(msToSamples(word.startMs, place.format)))
    const endSample = Math.max(startSample + 1, place.from + Math.round(msToSamples(word.endMs, place.format)))
    last = startSample
    return { text: word.text, startSample, endSample }
  })
}

function spread(
  text: string,
  { format, from, voiceFrom, voiceTo }: PhrasePlace,
): { text: string; startMs: Ms; endMs: Ms }[] {
  const words = text.split(/\s+/).filter(word => word !== '')
  const total = words.reduce((sum, word) => sum + word.length, 0)
  const startMs = samplesToMs(voiceFrom - from, format)
  const durationMs = samplesToMs(Math.max(0, voiceTo - voiceFrom), format)
  let before = 0
  return words.map(word => {
    const at = startMs + (durationMs * before) / total
    before += word.length
    return { text: word, startMs: at, endMs: startMs + (durationMs * before) / total }
  })
}

/** The error for an answer with an error status. The server's text is left out, because it may contain the key. */
export function transcriptionFailure(status: number): ProviderFailure {
  const because = `(HTTP ${status})`
  if (status === 401 || status === 403)
    return new ProviderError('recogniser_refused', `The recogniser refused the request ${because}.`)
  if (status === 404)
    return new ProviderError('recogniser_refused', `The recogniser has no such model or path ${because}.`)
  if (status === 429 || status === 503)
    return new ProviderError('recogniser_busy', `The recogniser is busy ${because}.`)
  if (status === 502 || status === 504)
    return new ProviderError('recogniser_unreachable', `The recogniser is not reachable ${because}.`)
  return new ProviderError('recogniser_failed', `The recogniser answered with an error ${because}.`, {
    retryable: status === 408 || status >= 500,
  })
}
