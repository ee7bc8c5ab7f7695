import { NARROWBAND } from '@parley/kernel'
import { checkFormat } from '../declared-formats.ts'
import { ProviderError } from '../errors.ts'
import type { SpeechRequest, TextToSpeech } from './text-to-speech.ts'

export const MAX_TEXT_CODE_POINTS = 4096

/**
 * Checks a request. `voices`: the known names, or the form of a valid name for services with more voices than can be
 * listed. Throws `ProviderError` "text_empty", "text_too_long", "language_not_supported", "voice_unknown",
 * "speed_out_of_range" or "format_not_supported".
 */
export function checkSpeechRequest(
  request: SpeechRequest,
  supported: Pick<TextToSpeech, 'languages' | 'formats'> & { readonly voices: readonly string[] | RegExp },
): void {
  if (request.text.trim() === '') throw new ProviderError('text_empty', 'There is no text to speak.')
  // A string has at least as many UTF-16 units as code points, so code points are counted only near the limit.
  if (request.text.length > 2 * MAX_TEXT_CODE_POINTS || [...request.text].length > MAX_TEXT_CODE_POINTS) {
    throw new ProviderError('text_too_long', `The text is longer than ${MAX_TEXT_CODE_POINTS} characters; split it.`)
  }
  if (!supported.languages.includes(primaryTag(request.language))) {
    const known = supported.languages.join(', ')
    throw new ProviderError('language_not_supported', `This voice speaks ${known}, not "${request.language}".`)
  }
  const { voices } = supported
  if (request.voice !== undefined && !isVoice(request.voice, voices)) {
    const known =
      voices instanceof RegExp
        ? 'the name does not have the form of a voice of this service'
        : `there are ${voices.join(', ')}`
    throw new ProviderError('voice_unknown', `There is no voice "${request.voice}"; ${known}.`)
  }
  const speed = request.speed ?? 1
  if (!(speed >= 0.5 && speed <= 2))
    throw new ProviderError('speed_out_of_range', `The speed ${speed} is not between 0.5 and 2.`)
  checkFormat('voice', request.format, supported.formats)
}

/** Reports all characters of the request as sent. */
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

/** A cache key: equal for requests whose audio is equal. */
export function renderingKey({
  text,
  language,
  voice,
  speed,
  temperature,
  format = NARROWBAND,
}: SpeechRequest): string {
  const languageKey = voice === undefined ? language.toLowerCase() : primaryTag(language)
  return JSON.stringify([voice ?? null, languageKey, speed ?? 1, temperature ?? 1, format.sampleRateHz, text])
}

/** `speed` (0.5 to 2, default 1) limited to the range of a service. */
export function nearestSpeed(speed: number | undefined, min: number, max: number): number {
  return Math.min(max, Math.max(min, speed ?? 1))
}
