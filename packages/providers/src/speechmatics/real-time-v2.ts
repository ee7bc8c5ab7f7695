import { bearer } from '../bearer.ts'
import { isObject, type JsonObject, objectOf, textIn } from '../json-object.ts'
import { encodingFor, SERVICE_FORMATS } from '../service-encoding.ts'
import { expectedWords } from '../speech-to-text/expected-words.ts'
import { numberIn, reasonOf, timeIn } from '../speech-to-text/service-message.ts'
import type {
  RecogniserService,
  ServiceEvent,
  ServiceProtocol,
  ServiceWire,
  ServiceWord,
} from '../speech-to-text/service-protocol.ts'
import type { SpeechStreamOptions } from '../speech-to-text/speech-to-text.ts'
import { UtteranceWords } from '../speech-to-text/utterance-words.ts'
import { primaryTag } from '../text-to-speech/request.ts'

/** Seconds from the end of a word to its final result; the service takes 0.7 to 4. */
const MAX_DELAY_S = { fast: 1, accurate: 2 } as const
/** Seconds of silence that end an utterance; the service takes up to 2, and less than the delay. */
const SILENCE_S = { fast: 0.5, accurate: 0.8 } as const
/** Each expected word makes the service start later. */
const MAX_TERMS = 50
/** Results read of one message. */
const MAX_RESULTS = 2000

const LANGUAGES =
  'en es fr de it pt nl ar ba eu be bg ca hr cs da eo et fi gl el he hi hu id ga ko lv lt ms mt mr mn no fa pl ro ru sk sl sw sv ta tr ug uk ur vi cy'

/** Speechmatics' real-time models "enhanced" and "standard": words with times and punctuation, no turn detection. `endpointingMs`: silence that ends an utterance, default 500. */
export function speechmaticsRealTime(model = 'enhanced'): RecogniserService {
  return {
    id: `speechmatics/${model}`,
    languages: LANGUAGES.split(' '),
    formats: SERVICE_FORMATS,
    protocol: realTimeV2,
    baseUrl: 'wss://eu.rt.speechmatics.com',
    path: () => '/v2',
    headers: bearer,
    wire: options => realTimeV2Wire(model, options),
    failure: (_code, reason) => speechmaticsFailure(reason),
  }
}

const END_OF_STREAM = JSON.stringify({ message: 'EndOfStream' })

/** Speechmatics' Realtime API `/v2`: its messages and requests. */
export const realTimeV2: ServiceProtocol = {
  name: 'Speechmatics',
  minMessageMs: 40,
  padsLastMessage: false,
  maxMessageMs: 250,
  reportsReady: true,
  // There is no keep-alive message, and an utterance ends only when its silence was sent.
  keepAlive: { afterMs: 100, message: null },
  noMessageTimeoutMs: null,
  stall: { afterMs: 5000, byVoice: false },
  finalizeMessage: JSON.stringify({ message: 'ForceEndOfUtterance' }),
  closeMessage: END_OF_STREAM,
  openReader: () => {
    const reader = new TranscriptReader()
    return message => reader.read(message)
  },
}

/** The last message counts the messages of audio. */
function realTimeV2Wire(model: string, options: SpeechStreamOptions): ServiceWire {
  let sent = 0
  return {
    opening: [JSON.stringify(startRecognition(model, options))],
    encode: message => {
      if (typeof message !== 'string') sent++
      return message === END_OF_STREAM ? JSON.stringify({ message: 'EndOfStream', last_seq_no: sent }) : message
    },
  }
}

/** The first message of a connection. */
export function startRecognition(model: string, options: SpeechStreamOptions): JsonObject {
  const { keywords, mode = 'fast', endpointingMs, format } = options
  const encoding = encodingFor(format)
  const terms = expectedWords(keywords).slice(0, MAX_TERMS)
  const delay = MAX_DELAY_S[mode]
  const silence = endpointingMs === undefined ? SILENCE_S[mode] : endpointingMs / 1000
  return {
    message: 'StartRecognition',
    audio_format: {
      type: 'raw',
      encoding: encoding.kind === 'mu-law' ? 'mulaw' : 'pcm_s16le',
      sample_rate: encoding.format.sampleRateHz,
    },
    transcription_config: {
      ...languageOf(options),
      operating_point: model,
      enable_partials: true,
      max_delay: delay,
      max_delay_mode: 'flexible',
      conversation_config: { end_of_utterance_silence_trigger: Math.min(delay - 0.1, Math.max(0.1, silence)) },
      ...(terms.length > 0 && { additional_vocab: terms.map(content => ({ content })) }),
    },
  }
}

/** Spanish has a domain in which English is heard as well; a stream has one domain. */
function languageOf({ language, otherLanguages = [], vocabulary }: SpeechStreamOptions): JsonObject {
  const all = [language, ...otherLanguages].map(primaryTag)
  if (all.includes('en') && all.includes('es')) return { language: 'es', domain: 'bilingual-en' }
  return { language: primaryTag(language), ...(vocabulary === 'medical' && { domain: 'medical' }) }
}

/** Parses one connection: final words come once, partial words are those after them. */
class TranscriptReader {
  readonly #utterance = new UtteranceWords()

  read(message: string): readonly ServiceEvent[] {
    const parsed = objectOf(message)
    if (parsed === null) return []
    switch (textIn(parsed, 'message')) {
      case 'RecognitionStarted':
        return [{ type: 'ready' }]
      case 'AddPartialTranscript':
        return this.#utterance.heard([], wordsOf(parsed))
      case 'AddTranscript':
        for (const tag of languagesIn(parsed)) this.#utterance.inLanguage(tag)
        return this.#utterance.heard(wordsOf(parsed), [])
      case 'EndOfUtterance':
        return [this.#utterance.ended(null)]
      case 'Error': {
        const type = textIn(parsed, 'type')
        return [{ type: 'failed', kind: speechmaticsFailure(type), reason: reasonOf(type, textIn(parsed, 'reason')) }]
      }
      default:
        return []
    }
  }
}

/** The words of a message, each with the punctuation that follows it. */
function wordsOf({ results }: JsonObject): ServiceWord[] {
  const words: ServiceWord[] = []
  for (const result of Array.isArray(results) ? results.slice(0, MAX_RESULTS) : []) {
    if (!isObject(result)) continue
    const alternatives = Array.isArray(result.alternatives) ? result.alternatives : []
    const best: unknown = alternatives[0]
    const text = isObject(best) ? textIn(best, 'content').trim() : ''
    if (text === '' || !isObject(best)) continue
    const last = words.at(-1)
    if (textIn(result, 'type') === 'punctuation') {
      if (last !== undefined) words[words.length - 1] = { ...last, text: `${last.text}${text}` }
      continue
    }
    const confidence = numberIn(best, 'confidence')
    words.push({
      text,
      startMs: timeIn(result, 'start_time', 1),
      endMs: timeIn(result, 'end_time', 1),
      ...(confidence !== null && { confidence }),
    })
  }
  return words
}

/** The language of each word that has one. */
function languagesIn({ results }: JsonObject): string[] {
  return (Array.isArray(results) ? results.slice(0, MAX_RESULTS) : []).flatMap(result => {
    if (!isObject(result) || textIn(result, 'type') !== 'word' || !Array.isArray(result.alternatives)) return []
    const best: unknown = result.alternatives[0]
    return isObject(best) ? [textIn(best, 'language')] : []
  })
}

/** Classifies the type of an error, which is also the reason of a close, as a refusal, as too many sessions, or as a failure that a retry may mend. */
export function speechmaticsFailure(type: string): 'refused' | 'busy' | 'failed' {
  if (/quota_exceeded/.test(type)) return 'busy'
  return /not_authorised|insufficient_funds|not_allowed|invalid_|forbidden/.test(type) ? 'refused' : 'failed'
}
