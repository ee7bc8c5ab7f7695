import { ProviderError, type ProviderFailure } from '../errors.ts'
import { isObject, type JsonObject, objectOf } from '../json-object.ts'
import { encodingFor } from '../service-encoding.ts'
import { nearestSpeed, primaryTag } from '../text-to-speech/request.ts'
import { bytesIn, errorTextIn, stringIn, stringsIn, timesIn } from '../text-to-speech/service-message.ts'
import type { SpeechRequest } from '../text-to-speech/text-to-speech.ts'
import type { VoiceMessage, VoiceProtocol, VoiceReader } from '../text-to-speech/voice-protocol.ts'

const MIN_SPEED = 0.6
const MAX_SPEED = 1.5
/** Models that accept three speeds only. */
const THREE_SPEEDS = /^sonic(-2|-turbo|$)/

interface CartesiaProtocolOptions {
  readonly apiKey: string
  readonly model: string
  readonly baseUrl: string
  /** Version of the API, such as "2025-04-16". */
  readonly version: string
  /** Voice of requests that name none. */
  readonly voice: string
}

/**
 * Cartesia's WebSocket protocol: an utterance is a context of one message. A cancel stops only generation that has not
 * begun; audio that still arrives has the id of its context and is dropped.
 */
export function cartesiaProtocol(options: CartesiaProtocolOptions): VoiceProtocol {
  const { apiKey, version, baseUrl } = options
  const query = new URLSearchParams({ cartesia_version: version })
  return {
    service: 'Cartesia',
    headers: { 'X-API-Key': apiKey, 'Cartesia-Version': version },
    utterancesPerSocket: 20,
    startsPerMinute: null,
    maxSocketAgeMs: null,
    // The service closes an idle socket after five minutes.
    idleMs: 240_000,
    capacityFreedBy: null,
    cancelMs: 0,
    // Voice and language are in the messages, so all requests share sockets.
    url: () => `${baseUrl}/tts/websocket?${query}`,
    begin: (context, request) => [JSON.stringify(generationOf(context, request, options))],
    cancel: context => [JSON.stringify({ context_id: context, cancel: true })],
    reader: () => ({ begin: () => {}, text: readMessage, binary: () => [], forget: () => {} }) satisfies VoiceReader,
  }
}

function generationOf(context: string, request: SpeechRequest, { model, voice }: CartesiaProtocolOptions): object {
  return {
    model_id: model,
    transcript: request.text,
    voice: { mode: 'id', id: request.voice ?? voice },
    language: primaryTag(request.language),
    context_id: context,
    output_format: outputFormat(request),
    continue: false,
    add_timestamps: true,
    use_normalized_timestamps: false,
    ...speedOf(request.speed, model),
  }
}

function outputFormat(request: SpeechRequest): object {
  const { kind, format } = encodingFor(request.format)
  const encoding = kind === 'mu-law' ? 'pcm_mulaw' : 'pcm_s16le'
  return { container: 'raw', encoding, sample_rate: format.sampleRateHz }
}

function speedOf(speed: number | undefined, model: string): object {
  if (speed === undefined || speed === 1) return {}
  if (!THREE_SPEEDS.test(model)) return { generation_config: { speed: nearestSpeed(speed, MIN_SPEED, MAX_SPEED) } }
  return { speed: speed >= 1.15 ? 'fast' : speed <= 0.85 ? 'slow' : 'normal' }
}

function readMessage(message: string): readonly VoiceMessage[] {
  const given = objectOf(message)
  if (given === null) return []
  const utterance = stringIn(given.context_id)
  if (given.type === 'error' || (given.type === undefined && given.error !== undefined)) {
    return [{ type: 'failed', utterance, error: failureIn(given) }]
  }
  if (utterance === null) return []
  if (given.type === 'chunk') {
    const bytes = bytesIn(given.data)
    return bytes === null ? [] : [{ type: 'audio', utterance, bytes }]
  }
  if (given.type === 'timestamps') return wordsIn(utterance, given)
  return given.type === 'done' ? [{ type: 'ended', utterance }] : []
}

/** `{words, start, end}`, seconds from the start of the context. */
function wordsIn(utterance: string, given: JsonObject): readonly VoiceMessage[] {
  const timestamps = isObject(given.word_timestamps) ? given.word_timestamps : {}
  const texts = stringsIn(timestamps.words)
  const starts = timesIn(timestamps.start)
  if (texts === null || starts === null || texts.length !== starts.length) return []
  return [{ type: 'words', utterance, words: texts.map((text, i) => ({ text, startMs: starts[i]! * 1000 })) }]
}

/** `{title, message, error_code, status_code}`; older versions write `{error, status_code}`. */
function failureIn(given: JsonObject): ProviderFailure {
  const status = typeof given.status_code === 'number' ? given.status_code : 0
  const description = [errorTextIn(given.title), errorTextIn(given.message, given.error)]
    .filter(part => part !== '')
    .join(': ')
  const text = `Cartesia: ${description || 'an error'} (${status} ${errorTextIn(given.error_code)})`.replace(' )', ')')
  if (status === 429 || status === 503) return new ProviderError('voice_busy', text)
  if (/voice/i.test(errorTextIn(given.error_code))) return new ProviderError('voice_unknown', text)
  if (status === 401 || status === 402 || status === 403) return new ProviderError('voice_refused', text)
  return new ProviderError('voice_failed', text, { retryable: status >= 500 })
}
