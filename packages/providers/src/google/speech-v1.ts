import type { Ms } from '@parley/kernel'
import { isObject, type JsonObject, objectOf, textIn } from '../json-object.ts'
import { regionalTag } from '../regional-tag.ts'
import { encodingFor, SERVICE_FORMATS } from '../service-encoding.ts'
import { expectedWords } from '../speech-to-text/expected-words.ts'
import { numberIn, plainWords, reasonOf, wordsIn } from '../speech-to-text/service-message.ts'
import type {
  RecogniserService,
  ServiceEvent,
  ServiceProtocol,
  ServiceWord,
} from '../speech-to-text/service-protocol.ts'
import type { SpeechStreamOptions } from '../speech-to-text/speech-to-text.ts'
import { primaryTag } from '../text-to-speech/request.ts'
import { googleKey, googleServers } from './google-api.ts'
import { bytesField, varintField } from './protobuf.ts'

/** Values of `google.rpc.Code`. */
const CODES = { invalidArgument: 3, notFound: 5, permissionDenied: 7, exhausted: 8, unauthenticated: 16 }
const MULAW = 3
const LINEAR16 = 1
const MAX_RESULTS = 100

const LANGUAGES = 'en es fr de it pt nl bg cs da el fi hi hu id ja ko no pl ro ru sk sv th tr uk vi'

/** Google's Speech-to-Text v1: words with times once a result is final, no turn detection. `model`: "telephony" and others. */
export function googleSpeech(model = 'telephony', baseUrl: string = googleServers().stt): RecogniserService {
  return {
    id: `google/${model}`,
    languages: LANGUAGES.split(' '),
    formats: SERVICE_FORMATS,
    protocol: speechV1,
    baseUrl,
    path: () => '/google.cloud.speech.v1.Speech/StreamingRecognize',
    headers: googleKey,
    wire: options => ({
      opening: [bytesField(1, streamingConfig(model, options))],
      encode: message => bytesField(2, message),
    }),
    failure: code => googleFailure(code),
  }
}

/** Messages of the protocol that `StreamingCalls` carries out; they are never sent. */
export const FINALIZE = 'finalize'
export const CLOSE = 'close'

/** `StreamingRecognize` of `google.cloud.speech.v1`, whose responses `streaming-calls.ts` hands on as JSON. */
export const speechV1: ServiceProtocol = {
  name: 'Google',
  minMessageMs: 60,
  padsLastMessage: false,
  // A message may have 25 kB, which is more.
  maxMessageMs: 250,
  reportsReady: false,
  // There is no keep-alive message: the service ends a call after about 10 s without audio.
  keepAlive: { afterMs: 800, message: null },
  noMessageTimeoutMs: null,
  stall: { afterMs: 5000, byVoice: false },
  finalizeMessage: FINALIZE,
  closeMessage: CLOSE,
  openReader: () => {
    const reader = new ResultReader()
    return message => reader.read(message)
  },
}

/** A `StreamingRecognitionConfig` of `google.cloud.speech.v1`. */
function streamingConfig(model: string, { language, keywords, format }: SpeechStreamOptions): Uint8Array {
  const { kind, format: sent } = encodingFor(format)
  const terms = expectedWords(keywords)
  const config = [
    varintField(1, kind === 'mu-law' ? MULAW : LINEAR16),
    varintField(2, sent.sampleRateHz),
    bytesField(3, regionalTag(language)),
    ...(terms.length > 0 ? [bytesField(6, Buffer.concat(terms.map(term => bytesField(1, term))))] : []),
    varintField(8, true), // enable_word_time_offsets
    varintField(11, true), // enable_automatic_punctuation
    bytesField(13, model),
    varintField(15, true), // enable_word_confidence
  ]
  return Buffer.concat([
    bytesField(1, Buffer.concat(config)),
    varintField(3, true), // interim_results
    varintField(5, true), // enable_voice_activity_events
  ])
}

/** Parses one connection. Interim results of a passage come in pieces, which are joined; then one final result comes. */
class ResultReader {
  #passage = 0
  /** End of the last final result. */
  #finalToMs: Ms = 0
  /** When the service last noticed speech. */
  #speechFromMs: Ms = 0

  read(message: string): readonly ServiceEvent[] {
    const parsed = objectOf(message)
    if (parsed === null) return []
    const fromMs = numberIn(parsed, 'callFromMs') ?? 0
    if (isObject(parsed.error)) return [failed(parsed.error)]
    const results = (Array.isArray(parsed.results) ? parsed.results.slice(0, MAX_RESULTS) : []).filter(isObject)
    const beganMs = numberIn(parsed, 'speechBeganMs')
    if (beganMs !== null) this.#speechFromMs = fromMs + beganMs
    const events = results.filter(result => result.isFinal === true).map(result => this.#final(result, fromMs))
    const interim = results.filter(result => result.isFinal !== true)
    if (interim.length > 0) events.push(this.#interim(interim, fromMs))
    const began: ServiceEvent[] = beganMs === null ? [] : [{ type: 'speech-started', atMs: this.#speechFromMs }]
    const endedMs = numberIn(parsed, 'callEndedMs')
    return [...began, ...events, ...(endedMs === null ? [] : [this.#callEnded(endedMs)])]
  }

  #final(result: JsonObject, callFromMs: Ms): ServiceEvent {
    const untilMs = callFromMs + (numberIn(result, 'endMs') ?? 0)
    const language = primaryTag(textIn(result, 'language'))
    const fromMs = this.#finalToMs
    this.#finalToMs = Math.max(fromMs, untilMs)
    return {
      type: 'words',
      passage: this.#passage++,
      words: wordsFrom(result, callFromMs),
      fromMs,
      untilMs: this.#finalToMs,
      final: true,
      forced: null,
      stopped: true,
      ...(language !== '' && { language }),
    }
  }

  #interim(results: readonly JsonObject[], callFromMs: Ms): ServiceEvent {
    const fromMs = Math.max(this.#finalToMs, this.#speechFromMs)
    const untilMs = Math.max(fromMs, callFromMs + Math.max(...results.map(result => numberIn(result, 'endMs') ?? 0)))
    const words = plainWords(results.map(result => textIn(result, 'transcript')).join(' '))
    return { type: 'words', passage: this.#passage, words, fromMs, untilMs, final: false, forced: null, stopped: false }
  }

  /** All words of the audio up to here have been sent, which answers a request for final words. */
  #callEnded(untilMs: Ms): ServiceEvent {
    this.#finalToMs = Math.max(this.#finalToMs, untilMs)
    return {
      type: 'words',
      passage: this.#passage++,
      words: [],
      fromMs: untilMs,
      untilMs,
      final: true,
      // Not `true`, which would let it answer a request for audio that came after it.
      forced: null,
      stopped: true,
    }
  }
}

function failed(error: JsonObject): ServiceEvent {
  const code = numberIn(error, 'code')
  const reason = reasonOf(textIn(error, 'message')) || `status ${code}`
  return { type: 'failed', kind: googleFailure(code), reason }
}

/** Classifies a `google.rpc.Code` as a refusal, as too many requests, or as a failure that a new call may mend. */
export function googleFailure(code: number | null): 'refused' | 'busy' | 'failed' {
  if (code === CODES.exhausted) return 'busy'
  const { invalidArgument, notFound, permissionDenied, unauthenticated } = CODES
  return [invalidArgument, notFound, permissionDenied, unauthenticated].includes(code ?? 0) ? 'refused' : 'failed'
}

/** The words of a result, whose times count from the beginning of its call. */
function wordsFrom(result: JsonObject, callFromMs: Ms): ServiceWord[] {
  const later = (ms: Ms | null) => (ms === null ? null : callFromMs + ms)
  return wordsIn(result, ['word'], 1000).map(word => ({
    ...word,
    startMs: later(word.startMs),
    endMs: later(word.endMs),
  }))
}
