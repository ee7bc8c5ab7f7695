import { NARROWBAND } from '@parley/kernel'
import { ProviderError, type ProviderErrorCode, type ProviderFailure } from '../errors.ts'
import { isObject, objectOf, textIn } from '../json-object.ts'
import { regionalTag } from '../regional-tag.ts'
import { encodingFor, SERVICE_FORMATS } from '../service-encoding.ts'
import { decoderFor } from '../text-to-speech/audio-decoder.ts'
import type { HttpVoiceService } from '../text-to-speech/http-voice-service.ts'
import { primaryTag } from '../text-to-speech/request.ts'
import type { SpeechRequest } from '../text-to-speech/text-to-speech.ts'
import { AudioContentDecoder } from './audio-content-decoder.ts'
import { googleKey } from './google-api.ts'

/** Each of the Chirp 3 HD voices speaks every language, under a name of its own in each: "es-US-Chirp3-HD-Kore". */
const DEFAULT_VOICE = 'Kore'
const LANGUAGES =
  'en es fr de it pt nl ar bg bn cs da el et fi gu he hi hr hu id ja kn ko lt lv ml mr nb pl ro ru sk sl sr sv sw ta te th tr uk ur vi zh'
/** Where Google's tag of a language is not that of `regionalTag`. */
const TAGS: Readonly<Record<string, string>> = {
  ar: 'ar-XA',
  bn: 'bn-IN',
  et: 'et-EE',
  gu: 'gu-IN',
  kn: 'kn-IN',
  ml: 'ml-IN',
  mr: 'mr-IN',
  pt: 'pt-BR',
  sr: 'sr-RS',
  sw: 'sw-KE',
  ta: 'ta-IN',
  te: 'te-IN',
  ur: 'ur-IN',
  zh: 'cmn-CN',
}

/** Google's Text-to-Speech: text in one HTTP request, the audio in base64 in its answer. */
export const googleVoice: HttpVoiceService = {
  id: 'google/chirp3-hd',
  languages: LANGUAGES.split(' '),
  formats: SERVICE_FORMATS,
  // A voice of Chirp 3 HD by its own name, or any voice by its full name.
  voices: /^([A-Z][a-z]{2,30}|[a-z]{2,3}-[A-Z]{2}-[A-Za-z0-9-]{2,60})$/,
  path: '/v1/text:synthesize',
  authorization: googleKey,
  request: request => ({
    body: JSON.stringify(synthesis(request)),
    headers: { 'content-type': 'application/json' },
  }),
  decoder: ({ format }) => new AudioContentDecoder(decoderFor(format)),
  isAudio: contentType => /\bjson\b/i.test(contentType ?? ''),
  failure: googleVoiceFailure,
}

/** The body of `text:synthesize`. */
export function synthesis({
  text,
  language,
  voice = DEFAULT_VOICE,
  speed = 1,
  format = NARROWBAND,
}: SpeechRequest): object {
  const { kind } = encodingFor(format)
  const full = fullVoiceName(voice, language)
  return {
    input: { text },
    voice: { languageCode: /^[a-z]{2,3}-[A-Z]{2}/.exec(full)![0], name: full },
    audioConfig: {
      audioEncoding: kind === 'mu-law' ? 'MULAW' : 'LINEAR16',
      sampleRateHertz: format.sampleRateHz,
      ...(speed !== 1 && { speakingRate: speed }),
    },
  }
}

/** A voice of Chirp 3 HD is spoken in the language of the request. */
function fullVoiceName(voice: string, language: string): string {
  const [, locale, name] = /^([a-z]{2,3}-[A-Z]{2})-Chirp3-HD-(\w+)$/.exec(voice) ?? [null, null, voice]
  if (name!.includes('-')) return voice
  const tag = regionalTag(language) === language ? language : (TAGS[primaryTag(language)] ?? regionalTag(language))
  if (locale != null && primaryTag(locale) === primaryTag(tag)) return voice
  return `${tag}-Chirp3-HD-${name}`
}

/** The service's text is left out, because it may contain the key. */
function googleVoiceFailure(status: number, body: string): ProviderFailure {
  const failed = (code: ProviderErrorCode, message: string, retryable: boolean) =>
    new ProviderError(code, `${message} (HTTP ${status}).`, { retryable })
  const error = objectOf(body)?.error
  const message = isObject(error) ? textIn(error, 'message') : ''
  // Google answers 400 to a key that it does not know.
  if (status === 401 || status === 403 || (status === 400 && /api.key/i.test(message)))
    return failed('voice_refused', "The voice's service refused the key", false)
  if (status === 429 || status === 503) return failed('voice_busy', "The voice's service is busy", true)
  if (status === 502 || status === 504) return failed('voice_unreachable', "The voice's service is not reachable", true)
  if ((status === 400 || status === 404) && /\bvoice\b/i.test(message))
    return failed('voice_unknown', 'There is no such voice', false)
  return failed('voice_failed', "The voice's service answered with an error", status === 408 || status >= 500)
}
