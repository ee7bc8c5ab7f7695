import { ProviderError } from '../errors.ts'
import type { SpeechRequest } from './text-to-speech.ts'

export const MAX_TEXT_CODE_POINTS = 4096

/**
 * Refuses what no voice can take. `voices`: names, or, where a service has more than can be listed, what a name looks
 * like. Throws `ProviderError` "text_empty", "text_too_long", "language_not_supported",
 * "voice_unknown" or "speed_out_of_range".
 */
export function checkSpeechRequest(
  request: SpeechRequest,
  speaks: { readonly languages: readonly string[]; readonly voices: readonly string[] | RegExp },
): void {
  if (request.text.trim() === '') throw new ProviderError('text_empty', 'There is no text to speak.')
  // A string has never fewer UTF-16 units than code points: the costly count is for what is near the limit only.
  if (request.text.length > 2 * MAX_TEXT_CODE_POINTS || [...request.text].length > MAX_TEXT_CODE_POINTS) {
    throw new ProviderError('text_too_long', `The text is longer than ${MAX_TEXT_CODE_POINTS} characters; split it.`)
  }
  if (!speaks.languages.includes(primaryTag(request.language))) {
    const known = speaks.languages.join(', ')
    throw new ProviderError('language_not_supported', `This voice speaks ${known}, not "${request.language}".`)
  }
  const { voices } = speaks
  if (request.voice !== undefined && !isVoice(request.voice, voices)) {
    const known = voices instanceof RegExp ? 'its service has no such names' : `there are ${voices.join(', ')}`
    throw new ProviderError('voice_unknown', `There is no voice "${request.voice}"; ${known}.`)
  }
  const speed = request.speed ?? 1
  if (!(speed >= 0.5 && speed <= 2)) throw new ProviderError('speed_out_of_range', `Speed ${speed} is not 0.5 to 2.`)
}

/** Tells whoever asked that all of the request's text is handed on. */
export function reportSent({ text, onSent }: SpeechRequest): void {
  onSent?.([...text].length)
}

function isVoice(voice: string, voices: readonly string[] | RegExp): boolean {
  return voices instanceof RegExp ? voices.test(voice) : voices.includes(voice)
}

/** "es" of "es-MX" (BCP 47 section 2.2.1). */
export function primaryTag(language: string): string {
  return language.split('-', 1)[0]!.toLowerCase()
}

/** The same for requests that sound the same. */
export function renderingKey({ text, language, voice, speed }: SpeechRequest): string {
  const tongue = voice === undefined ? language.toLowerCase() : primaryTag(language)
  return JSON.stringify([voice ?? null, tongue, speed ?? 1, text])
}

/** `speed` (0.5 to 2, default 1) limited to the range of a service. */
export function nearestSpeed(speed: number | undefined, least: number, most: number): number {
  return Math.min(most, Math.max(least, speed ?? 1))
}
