import { ProviderError, type ProviderFailure } from '../errors.ts'
import { type JsonObject, objectOf } from '../json-object.ts'
import { encodingFor } from '../service-encoding.ts'
import { nearestSpeed, primaryTag } from '../text-to-speech/request.ts'
import { bytesIn, errorTextIn, stringIn } from '../text-to-speech/service-message.ts'
import type { SpeechRequest } from '../text-to-speech/text-to-speech.ts'
import type { VoiceMessage, VoiceProtocol, VoiceReader } from '../text-to-speech/voice-protocol.ts'
import { CharacterWords } from './character-words.ts'

const MIN_SPEED = 0.7
const MAX_SPEED = 1.2
/** Models that accept a language; older ones detect it from the text. */
const ACCEPTS_LANGUAGE = /_v2_5$|_v3/

interface ElevenLabsProtocolOptions {
  readonly apiKey: string
  readonly model: string
  readonly baseUrl: string
  /** Voice of requests that name none. */
  readonly voice: string
}

/**
 * ElevenLabs' multi-context WebSocket protocol. An utterance is a context that is opened, filled, flushed and closed at
 * once, because only a closed context reports its end. So a cancel sends nothing, and the capacity is free when the end
 * of the context arrives. A sixth context would make the service close the socket with all others.
 */
export function elevenLabsProtocol(options: ElevenLabsProtocolOptions): VoiceProtocol {
  return {
    service: 'ElevenLabs',
    headers: { 'xi-api-key': options.apiKey },
    utterancesPerSocket: 5,
    startsPerMinute: null,
    maxSocketAgeMs: null,
    // The service closes a socket after 180 s (inactivity_timeout) without text.
    idleMs: 150_000,
    capacityFreedBy: 'ended',
    cancelMs: 15_000,
    url: request => urlFor(request, options),
    begin: beginOf,
    cancel: () => [],
    reader: () => new ElevenLabsReader(),
  }
}

function urlFor(request: Omit<SpeechRequest, 'text'>, { model, baseUrl, voice }: ElevenLabsProtocolOptions): string {
  const query = new URLSearchParams({
    model_id: model,
    output_format: outputFormat(request),
    auto_mode: 'true',
    sync_alignment: 'true',
    inactivity_timeout: '180',
  })
  if (ACCEPTS_LANGUAGE.test(model)) query.set('language_code', primaryTag(request.language))
  const name = encodeURIComponent(request.voice ?? voice)
  return `${baseUrl}/v1/text-to-speech/${name}/multi-stream-input?${query}`
}

function outputFormat(request: Omit<SpeechRequest, 'text'>): string {
  const { kind, format } = encodingFor(request.format)
  return `${kind === 'mu-law' ? 'ulaw' : 'pcm'}_${format.sampleRateHz}`
}

function beginOf(context: string, request: SpeechRequest): readonly string[] {
  const { text } = request
  const settings = voiceSettings(request)
  return [
    { text: ' ', context_id: context, ...(Object.keys(settings).length > 0 && { voice_settings: settings }) },
    // The service requires a blank at the end of the text.
    { text: `${text} `, context_id: context, flush: true },
    { context_id: context, close_context: true },
  ].map(message => JSON.stringify(message))
}

/** A lively voice is one with little stability: 0.5, the service's default, is a temperature of 1. */
function voiceSettings({ speed, temperature }: SpeechRequest): object {
  return {
    ...(speed !== undefined && { speed: nearestSpeed(speed, MIN_SPEED, MAX_SPEED) }),
    ...(temperature !== undefined && temperature !== 1 && { stability: 1 - temperature / 2 }),
  }
}

interface Context {
  readonly words: CharacterWords
  readonly bytesPerMs: number
  bytes: number
}

class ElevenLabsReader implements VoiceReader {
  readonly #contexts = new Map<string, Context>()

  begin(utterance: string, request: SpeechRequest): void {
    const { format, bytesPerSample } = encodingFor(request.format)
    const bytesPerMs = (format.sampleRateHz / 1000) * bytesPerSample
    this.#contexts.set(utterance, { words: new CharacterWords(), bytesPerMs, bytes: 0 })
  }

  text(message: string): readonly VoiceMessage[] {
    const given = objectOf(message)
    if (given === null) return []
    const utterance = stringIn(given.contextId ?? given.context_id)
    if (given.error !== undefined && given.error !== null && given.audio === undefined) {
      return [{ type: 'failed', utterance, error: failureIn(given) }]
    }
    const context = utterance === null ? undefined : this.#contexts.get(utterance)
    return utterance === null || context === undefined ? [] : this.#ofContext(utterance, context, given)
  }

  binary(): readonly VoiceMessage[] {
    return []
  }

  forget(utterance: string): void {
    this.#contexts.delete(utterance)
  }

  #ofContext(utterance: string, context: Context, given: JsonObject): readonly VoiceMessage[] {
    const messages: VoiceMessage[] = []
    const bytes = bytesIn(given.audio)
    const alignment = given.alignment ?? given.normalizedAlignment
    // Times count from the start of the audio in the same message.
    const words = context.words.take(alignment, context.bytes / context.bytesPerMs)
    if (given.isFinal === true) words.push(...context.words.end())
    if (words.length > 0) messages.push({ type: 'words', utterance, words })
    if (bytes !== null) {
      context.bytes += bytes.length
      messages.push({ type: 'audio', utterance, bytes })
    }
    if (given.isFinal === true) {
      this.#contexts.delete(utterance)
      messages.push({ type: 'ended', utterance })
    }
    return messages
  }
}

/** `{message, error, code}`; the socket is closed (1008) after it. */
function failureIn(given: JsonObject): ProviderFailure {
  const code = errorTextIn(given.error)
  const text = `ElevenLabs: ${errorTextIn(given.message, given.error) || 'an error'} (${code})`
  if (/concurrent|max_active|rate|busy|too_many/i.test(code)) return new ProviderError('voice_busy', text)
  if (/voice_id|voice_not|invalid_uid/i.test(code)) return new ProviderError('voice_unknown', text)
  if (/timeout|internal|server|unavailable/i.test(code)) return new ProviderError('voice_failed', text)
  return new ProviderError('voice_refused', text)
}
