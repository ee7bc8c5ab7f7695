import { ProviderError } from '../errors.ts'
import type { AdapterOptions, LocalServer, Vendor } from '../vendor.ts'
import { OpenAiRecogniser } from './io/openai-recogniser.ts'
import { OpenAiVoice } from './io/openai-voice.ts'

/** Languages of voices of the Kokoro kind. */
const VOICE_LANGUAGES = ['en', 'es', 'fr', 'it', 'pt', 'hi', 'ja', 'zh']

/** The servers with OpenAI's protocol that run on this machine or beside it: Whisper and neural voices. */
export const LOCAL_SERVERS: readonly LocalServer[] = [
  { vendor: 'local_stt', variable: 'PARLEY_LOCAL_STT', what: 'speech to text', model: 'whisper-1' },
  { vendor: 'local_tts', variable: 'PARLEY_LOCAL_TTS', what: 'text to speech', model: 'tts-1' },
]

/** The recogniser of `PARLEY_LOCAL_STT`. */
export const localStt: Vendor = {
  name: 'local_stt',
  settings: null,
  recognisers: [
    {
      models: 'from-settings',
      billsSilence: false,
      open: (model, { languages, ...options }) =>
        new OpenAiRecogniser({
          model,
          provider: 'local_stt',
          apiKey: null,
          time: options.time,
          baseUrl: urlOf(options),
          ...(languages !== undefined && { languages }),
        }),
    },
  ],
}

/** The voice of `PARLEY_LOCAL_TTS`. */
export const localTts: Vendor = {
  name: 'local_tts',
  settings: null,
  voices: [
    {
      models: 'from-settings',
      voices: 'from-settings',
      open: (model, { languages = VOICE_LANGUAGES, voice, ...options }) =>
        new OpenAiVoice({
          model,
          provider: 'local_tts',
          apiKey: null,
          time: options.time,
          baseUrl: urlOf(options),
          languages,
          ...(voice !== undefined && { voice }),
        }),
    },
  ],
}

function urlOf({ baseUrl }: Pick<AdapterOptions, 'baseUrl'>): string {
  if (baseUrl === undefined)
    throw new ProviderError(
      'recogniser_misconfigured',
      'The local server has no address: set PARLEY_LOCAL_STT or PARLEY_LOCAL_TTS.',
    )
  return baseUrl
}
