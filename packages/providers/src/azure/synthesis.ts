import { NARROWBAND } from '@parley/kernel'
import { ProviderError, type ProviderErrorCode, type ProviderFailure } from '../errors.ts'
import { regionalTag } from '../regional-tag.ts'
import { SERVICE_FORMATS } from '../service-encoding.ts'
import { decoderFor } from '../text-to-speech/audio-decoder.ts'
import type { HttpVoiceService } from '../text-to-speech/http-voice-service.ts'
import type { SpeechRequest } from '../text-to-speech/text-to-speech.ts'
import { azureKey } from './azure-api.ts'

/** Speaks every language of the service. */
const DEFAULT_VOICE = 'en-US-AvaMultilingualNeural'
const LANGUAGES =
  'en es fr de it pt nl ar bg ca cs da el et fi gl he hi hr hu id is ja ko lt lv ms mt nb pl ro ru sk sl sv ta te th tr uk vi zh'

/** Azure's neural voices: SSML in one HTTP request, the audio as a stream. */
export const azureNeural: HttpVoiceService = {
  id: 'azure/neural',
  languages: LANGUAGES.split(' '),
  formats: SERVICE_FORMATS,
  voices: /^[a-z]{2,3}-[A-Za-z0-9:-]{2,80}$/,
  path: '/cognitiveservices/v1',
  authorization: azureKey,
  request: request => ({
    body: ssml(request),
    headers: {
      'content-type': 'application/ssml+xml',
      'user-agent': 'Parley',
      'x-microsoft-outputformat': outputFormat(request),
    },
  }),
  decoder: ({ format }) => decoderFor(format),
  isAudio: contentType => !/json|html|text|xml/i.test(contentType ?? ''),
  failure: azureFailure,
}

function outputFormat({ format = NARROWBAND }: SpeechRequest): string {
  return format.sampleRateHz === NARROWBAND.sampleRateHz ? 'raw-8khz-8bit-mono-mulaw' : 'raw-16khz-16bit-mono-pcm'
}

/** The text of a request in SSML 1.0. */
export function ssml({ text, language, voice = DEFAULT_VOICE, speed = 1 }: SpeechRequest): string {
  const tag = regionalTag(language)
  const change = Math.round((speed - 1) * 100)
  const plain = escaped(text)
  const paced = change === 0 ? plain : `<prosody rate="${change > 0 ? '+' : ''}${change}%">${plain}</prosody>`
  const spoken = voice.includes('Multilingual') ? `<lang xml:lang="${tag}">${paced}</lang>` : paced
  return `<speak version="1.0" xmlns="http://www.w3.org/2001/10/synthesis" xml:lang="${tag}"><voice name="${voice}">${spoken}</voice></speak>`
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

/** Without the control characters that XML 1.0 does not allow. */
function escaped(text: string): string {
  return text.replace(/[\p{Cc}\p{Cs}\ufffe\uffff]/gu, ' ').replace(/[&<>"']/g, character => ENTITIES[character]!)
}

/** The service's text is left out, because it may contain the key. */
function azureFailure(status: number, body: string): ProviderFailure {
  const failed = (code: ProviderErrorCode, message: string, retryable: boolean) =>
    new ProviderError(code, `${message} (HTTP ${status}).`, { retryable })
  if (status === 401 || status === 403) return failed('voice_refused', "The voice's service refused the key", false)
  if (status === 429 || status === 503) return failed('voice_busy', "The voice's service is busy", true)
  if (status === 502 || status === 504) return failed('voice_unreachable', "The voice's service is not reachable", true)
  if (status === 400 && /unsupported voice|voice .{0,80}not/i.test(body))
    return failed('voice_unknown', 'There is no such voice', false)
  return failed('voice_failed', "The voice's service answered with an error", status === 408 || status >= 500)
}
