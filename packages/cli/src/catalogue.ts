import { systemTime } from '@parley/kernel'
import {
  AnthropicMessages,
  AssemblyAiRecogniser,
  AuraVoice,
  CartesiaVoice,
  DeepgramFluxRecogniser,
  DeepgramRecogniser,
  ElevenLabsVoice,
  type LanguageModel,
  LocalEspeak,
  LocalFlite,
  OpenAiChat,
  OpenAiVoice,
  RulesModel,
  type SpeechToText,
  type TextToSpeech,
  TonesRecogniser,
  TonesVoice,
} from '@parley/providers'
import type { ServiceAccess, Vendor } from './environment.ts'

/** One kind of service of one vendor. */
export interface Offer<Service> {
  readonly vendor: Vendor | 'local' | 'simulated' | 'parley'
  /** Models that are worth offering, the best first. */
  readonly models: readonly string[]
  /** Null: the vendor's key is not in the environment. Otherwise any model of the vendor can be opened. */
  readonly open: ((model: string) => Service) | null
  /** Voices that are worth offering, of what speaks. A vendor takes more than these. */
  readonly voices?: readonly OfferedVoice[]
}

export interface OfferedVoice {
  readonly id: string
  readonly name: string
  readonly gender: 'female' | 'male' | 'neutral'
  /** Default: every language of the service. */
  readonly languages?: readonly string[]
}

const voice = (
  id: string,
  gender: OfferedVoice['gender'],
  languages?: readonly string[],
  name = id.replace(/^[a-z]/, letter => letter.toUpperCase()),
): OfferedVoice => ({ id, name, gender, ...(languages !== undefined && { languages }) })

const FLITE_VOICES = [
  voice('slt', 'female', ['en']),
  voice('rms', 'male', ['en']),
  voice('awb', 'male', ['en']),
  voice('kal16', 'male', ['en']),
  voice('kal', 'male', ['en']),
]
const ESPEAK_SPANISH = [voice('es', 'male', ['es'], 'Español'), voice('es-419', 'male', ['es'], 'Español (América)')]
const ESPEAK_ENGLISH = [voice('en-us', 'male', ['en'], 'English (US)'), voice('en-gb', 'male', ['en'], 'English (UK)')]

/** By vendor: the voice spoken where none is named comes first. */
const VOICES: Readonly<Record<string, readonly OfferedVoice[]>> = {
  elevenlabs: [voice('21m00Tcm4TlvDq8ikWAM', 'female', undefined, 'Rachel')],
  cartesia: [voice('a0e99841-438c-4a64-b679-ae501e7d6091', 'male', undefined, 'Barbershop Man')],
  deepgram: [
    voice('thalia', 'female', ['en']),
    voice('apollo', 'male', ['en']),
    voice('celeste', 'female', ['es']),
    voice('nestor', 'male', ['es']),
  ],
  openai: [voice('alloy', 'neutral'), voice('coral', 'female'), voice('ash', 'male')],
}

/** What agents of this process can hear, speak and think with: services with a key first, then what is built in. */
export interface Catalogue {
  readonly stt: readonly Offer<SpeechToText>[]
  readonly tts: readonly Offer<TextToSpeech>[]
  readonly llm: readonly Offer<LanguageModel>[]
}

type Access = Readonly<Partial<Record<Vendor, ServiceAccess>>>

/** Made once for each process: what it opens holds connections. */
export function catalogueOf(access: Access): Catalogue {
  const time = systemTime
  const keyed = <Service>(
    vendor: Vendor,
    models: readonly string[],
    open: (service: ServiceAccess, model: string) => Service,
  ): Offer<Service> => {
    const service = access[vendor]
    return {
      vendor,
      models,
      open: service === undefined ? null : model => open(service, model),
      voices: VOICES[vendor] ?? [],
    }
  }
  return {
    stt: [
      keyed('deepgram', ['nova-3', 'flux-general-en'], ({ key, webSocketUrl }, model) => {
        const options = { apiKey: key, model, time, ...(webSocketUrl !== null && { baseUrl: webSocketUrl }) }
        return model.startsWith('flux-') ? new DeepgramFluxRecogniser(options) : new DeepgramRecogniser(options)
      }),
      keyed(
        'assemblyai',
        ['universal-streaming-english', 'universal-streaming-multilingual'],
        ({ key, webSocketUrl }, model) =>
          new AssemblyAiRecogniser({
            apiKey: key,
            model,
            time,
            ...(webSocketUrl !== null && { baseUrl: webSocketUrl }),
          }),
      ),
      { vendor: 'simulated', models: ['tones-1'], open: () => new TonesRecogniser() },
    ],
    tts: [
      keyed(
        'elevenlabs',
        ['eleven_flash_v2_5'],
        ({ key, webSocketUrl }, model) =>
          new ElevenLabsVoice({ apiKey: key, model, time, ...(webSocketUrl !== null && { baseUrl: webSocketUrl }) }),
      ),
      keyed(
        'cartesia',
        ['sonic-2'],
        ({ key, webSocketUrl }, model) =>
          new CartesiaVoice({ apiKey: key, model, time, ...(webSocketUrl !== null && { baseUrl: webSocketUrl }) }),
      ),
      keyed(
        'deepgram',
        ['aura-2'],
        ({ key, webSocketUrl }, model) =>
          new AuraVoice({ apiKey: key, model, time, ...(webSocketUrl !== null && { baseUrl: webSocketUrl }) }),
      ),
      keyed(
        'openai',
        ['gpt-4o-mini-tts'],
        ({ key, url }, model) => new OpenAiVoice({ apiKey: key, model, time, ...(url !== null && { baseUrl: url }) }),
      ),
      {
        vendor: 'simulated',
        models: ['tones-1'],
        open: () => new TonesVoice(),
        voices: [...FLITE_VOICES, ...ESPEAK_SPANISH],
      },
      { vendor: 'local', models: ['flite'], open: () => new LocalFlite(), voices: FLITE_VOICES },
      {
        vendor: 'local',
        models: ['espeak-ng'],
        open: () => new LocalEspeak(),
        voices: [...ESPEAK_ENGLISH, ...ESPEAK_SPANISH],
      },
    ],
    llm: [
      keyed(
        'openai',
        access.openai?.models ?? [],
        ({ key, url }, model) =>
          new OpenAiChat({ apiKey: key, model, time, baseUrl: url ?? 'https://api.openai.com/v1' }),
      ),
      keyed(
        'anthropic',
        access.anthropic?.models ?? [],
        ({ key, url }, model) =>
          new AnthropicMessages({ apiKey: key, model, time, ...(url !== null && { baseUrl: url }) }),
      ),
      { vendor: 'parley', models: ['rules-1'], open: () => new RulesModel() },
    ],
  }
}
