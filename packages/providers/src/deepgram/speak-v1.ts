import { ProviderError, type ProviderFailure } from '../errors.ts'
import { type JsonObject, objectOf } from '../json-object.ts'
import { nearestSpeed, primaryTag } from '../text-to-speech/request.ts'
import { sentences } from '../text-to-speech/sentences.ts'
import { errorTextIn } from '../text-to-speech/service-message.ts'
import type { SpeechRequest } from '../text-to-speech/text-to-speech.ts'
import type { VoiceMessage, VoiceProtocol, VoiceReader } from '../text-to-speech/voice-protocol.ts'
import { deepgramToken } from './deepgram-api.ts'

const SLOWEST = 0.7
const FASTEST = 1.5
/** The service takes 2000 in one message. */
const MOST_CHARACTERS = 1800

/** Spoken where a request names no voice, by language. */
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
  /** By language; instead of `AURA_VOICES`. */
  readonly voices: Readonly<Record<string, string>>
}

/**
 * Deepgram's Aura over its WebSocket. Audio carries no id: a socket carries one utterance at a time, from Speak to
 * Flushed. Cancelled is told by Clear, and whatever comes until Cleared is dropped.
 */
export function auraProtocol(options: AuraProtocolOptions): VoiceProtocol {
  return {
    service: 'Deepgram',
    headers: { Authorization: deepgramToken(options.apiKey) },
    utterancesPerSocket: 1,
    // Twenty Flush in sixty seconds, and one is kept back: the service's minute is not ours.
    beginningsPerMinute: 19,
    // Sockets are cut after an hour.
    longestSocketMs: 55 * 60_000,
    // Each open socket counts in the account's concurrency.
    idleMs: 60_000,
    placeFreedBy: 'cancelled',
    cancelMs: 1000,
    url: request => urlFor(request, options),
    begin: (_utterance, { text }) => [
      ...sentencesOf(text).map(piece => JSON.stringify({ type: 'Speak', text: piece })),
      JSON.stringify({ type: 'Flush' }),
    ],
    cancel: () => [JSON.stringify({ type: 'Clear' })],
    reader: () => ({ text: readMessage, binary: readAudio, forget: () => {} }) satisfies VoiceReader,
  }
}

function urlFor(request: Omit<SpeechRequest, 'text'>, { model, baseUrl, voices }: AuraProtocolOptions): string {
  const language = primaryTag(request.language)
  const voice = request.voice ?? voices[language]!
  const query = new URLSearchParams({
    // A whole model name may stand for the voice: "aura-2-thalia-en", "aura-asteria-en".
    model: voice.startsWith('aura-') ? voice : `${model}-${voice}-${language}`,
    encoding: 'mulaw',
    sample_rate: '8000',
  })
  const speed = nearestSpeed(request.speed, SLOWEST, FASTEST)
  if (speed !== 1) query.set('speed', String(speed))
  return `${baseUrl}/v1/speak?${query}`
}

/** Pieces that one message each can carry; the service joins them. */
function sentencesOf(text: string): string[] {
  if (text.length <= MOST_CHARACTERS) return [text]
  const pieces: string[] = []
  for (const sentence of sentences(text, MOST_CHARACTERS)) {
    const last = pieces.at(-1)
    if (last !== undefined && last.length + sentence.length < MOST_CHARACTERS)
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

/** Of warnings only those matter after which the text is not spoken. */
function isLimit(given: JsonObject): boolean {
  return /flush|limit|exceed|too many/i.test(wordsOf(given))
}

function failureIn(given: JsonObject): ProviderFailure {
  const text = `Deepgram: ${wordsOf(given) || 'an error'}`
  if (given.type === 'Warning') return new ProviderError('voice_busy', text)
  return new ProviderError('voice_failed', text)
}

function wordsOf(given: JsonObject): string {
  const code = errorTextIn(given.code, given.warn_code, given.err_code)
  return `${errorTextIn(given.description, given.warn_msg, given.err_msg, given.message)} ${code}`.trim()
}
