import { ProviderError, type ProviderFailure } from '../errors.ts'
import { type JsonObject, objectOf } from '../json-object.ts'
import { nearestSpeed, primaryTag } from '../text-to-speech/request.ts'
import { sentences } from '../text-to-speech/sentences.ts'
import { errorTextIn } from '../text-to-speech/service-message.ts'
import type { SpeechRequest } from '../text-to-speech/text-to-speech.ts'
import type { VoiceMessage, VoiceProtocol, VoiceReader } from '../text-to-speech/voice-protocol.ts'
import { deepgramAudio, deepgramToken } from './deepgram-api.ts'

const MIN_SPEED = 0.7
const MAX_SPEED = 1.5
/** The service accepts 2000 characters in one message. */
const MAX_CHARACTERS = 1800

/** Voices of requests that name none, by language. */
export const AURA_VOICES: Readonly<Record<string, string>> = {
  en: 'thalia',
  es: 'celeste',
  nl: 'rhea',
  fr: 'agathe',
  de: 'julius',
  it: 'livia',
  ja: 'fujin',
}

interface AuraProtocolOptions {
  readonly apiKey: string
  /** "aura-2". */
  readonly model: string
  readonly baseUrl: string
  /** Replaces `AURA_VOICES`. */
  readonly voices: Readonly<Record<string, string>>
}

/**
 * The WebSocket protocol of Deepgram's Aura. Audio has no id, so a socket carries one utterance at a time, from Speak to
 * Flushed. Clear cancels it, and audio is dropped until Cleared.
 */
export function auraProtocol(options: AuraProtocolOptions): VoiceProtocol {
  return {
    service: 'Deepgram',
    headers: deepgramToken(options.apiKey),
    utterancesPerSocket: 1,
    // The service accepts 20 Flush messages in 60 seconds; one less, because the clocks may differ.
    startsPerMinute: 19,
    // The service closes a socket after an hour.
    maxSocketAgeMs: 55 * 60_000,
    // Each open socket counts towards the account's concurrency limit.
    idleMs: 60_000,
    capacityFreedBy: 'cancelled',
    cancelMs: 1000,
    url: request => urlFor(request, options),
    begin: (_utterance, { text }) => [
      ...sentencesOf(text).map(piece => JSON.stringify({ type: 'Speak', text: piece })),
      JSON.stringify({ type: 'Flush' }),
    ],
    cancel: () => [JSON.stringify({ type: 'Clear' })],
    reader: () => ({ begin: () => {}, text: readMessage, binary: readAudio, forget: () => {} }) satisfies VoiceReader,
  }
}

function urlFor(request: Omit<SpeechRequest, 'text'>, { model, baseUrl, voices }: AuraProtocolOptions): string {
  const language = primaryTag(request.language)
  const voice = request.voice ?? voices[language]!
  const query = new URLSearchParams({
    // A whole model name may be given as the voice: "aura-2-thalia-en", "aura-asteria-en".
    model: voice.startsWith('aura-') ? voice : `${model}-${voice}-${language}`,
    ...deepgramAudio(request),
  })
  const speed = nearestSpeed(request.speed, MIN_SPEED, MAX_SPEED)
  if (speed !== 1) query.set('speed', String(speed))
  return `${baseUrl}/v1/speak?${query}`
}

/** Pieces of the text that fit into one message each; the service joins them. */
function sentencesOf(text: string): string[] {
  if (text.length <= MAX_CHARACTERS) return [text]
  const pieces: string[] = []
  for (const sentence of sentences(text, MAX_CHARACTERS)) {
    const last = pieces.at(-1)
    if (last !== undefined && last.length + sentence.length < MAX_CHARACTERS)
      pieces[pieces.length - 1] = `${last}${sentence} `
    else pieces.push(`${sentence} `)
  }
  return pieces
}

function readAudio(bytes: Uint8Array): readonly VoiceMessage[] {
  return [{ type: 'audio', utterance: null, bytes }]
}

function readMessage(message: string): readonly VoiceMessage[] {
  const given = objectOf(message)
  if (given?.type === 'Flushed') return [{ type: 'ended', utterance: null }]
  if (given?.type === 'Cleared') return [{ type: 'cancelled', utterance: null }]
  if (given?.type === 'Error' || (given?.type === 'Warning' && isLimit(given)))
    return [{ type: 'failed', utterance: null, error: failureIn(given) }]
  return []
}

/** Warnings about limits: the text is not spoken after them. Others are ignored. */
function isLimit(given: JsonObject): boolean {
  return /flush|limit|exceed|too many/i.test(descriptionOf(given))
}

function failureIn(given: JsonObject): ProviderFailure {
  const text = `Deepgram: ${descriptionOf(given) || 'an error'}`
  if (given.type === 'Warning') return new ProviderError('voice_busy', text)
  return new ProviderError('voice_failed', text)
}

function descriptionOf(given: JsonObject): string {
  const code = errorTextIn(given.code, given.warn_code, given.err_code)
  return `${errorTextIn(given.description, given.warn_msg, given.err_msg, given.message)} ${code}`.trim()
}
