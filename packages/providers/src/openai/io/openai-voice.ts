import { NARROWBAND, WIDEBAND } from '@parley/kernel'
import { bearer } from '../../bearer.ts'
import { HttpVoice, type HttpVoiceOptions } from '../../io/http-voice.ts'
import { LinearDecoder } from '../../text-to-speech/audio-decoder.ts'
import { mayBeLinear, speechBody, speechFailure } from '../speech-request.ts'

interface OpenAiVoiceOptions extends Omit<HttpVoiceOptions, 'baseUrl'> {
  /** Default "gpt-4o-mini-tts". */
  readonly model?: string
  /** Default "https://api.openai.com/v1"; "/audio/speech" is appended. */
  readonly baseUrl?: string
  /** First part of `id`; default "openai". */
  readonly provider?: string
  /** Voice of requests that name none; default "alloy". */
  readonly voice?: string
  /** Accepted BCP 47 primary tags; default those of OpenAI's voices. The service detects the language from the text. */
  readonly languages?: readonly string[]
  /** Sample rate of the linear audio that the service sends; default 24 000. */
  readonly sampleRateHz?: number
}

const LANGUAGES = (
  'en es fr de it pt nl pl sv da no fi cs sk hu ro bg el uk ru tr ar he hi ta ur fa ja ko zh id ms vi th fil ' +
  'ca gl hr sr sl mk bs lt lv et is cy hy az be kk kn mr mi ne sw'
).split(' ')
const SAMPLE_RATE_HZ = 24_000

/**
 * Speech over OpenAI's `/audio/speech` or a compatible service: linear audio as a stream over HTTP, resampled to the
 * format of the request. Speeds are passed on unchanged; some models ignore them.
 */
export class OpenAiVoice extends HttpVoice {
  /** Throws `ProviderError` "voice_misconfigured" for a base URL or a key that cannot be used. */
  constructor(options: OpenAiVoiceOptions) {
    const { model = 'gpt-4o-mini-tts', provider = 'openai', voice = 'alloy', languages = LANGUAGES } = options
    const { sampleRateHz = SAMPLE_RATE_HZ, baseUrl = 'https://api.openai.com/v1' } = options
    super(
      {
        id: `${provider}/${model}`,
        languages,
        formats: [NARROWBAND, WIDEBAND].filter(format => format.sampleRateHz <= sampleRateHz),
        voices: /^[A-Za-z0-9_.+-]{1,64}$/,
        path: '/audio/speech',
        authorization: bearer,
        request: request => ({
          body: speechBody(request, { model, voice }),
          headers: { 'content-type': 'application/json', accept: 'audio/pcm, application/octet-stream' },
        }),
        decoder: ({ format = NARROWBAND }) => new LinearDecoder(sampleRateHz, format),
        isAudio: mayBeLinear,
        failure: speechFailure,
      },
      { ...options, baseUrl },
    )
  }
}
