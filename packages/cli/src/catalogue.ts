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
    return { vendor, models, open: service === undefined ? null : model => open(service, model) }
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
      { vendor: 'simulated', models: ['tones-1'], open: () => new TonesVoice() },
      { vendor: 'local', models: ['flite'], open: () => new LocalFlite() },
      { vendor: 'local', models: ['espeak-ng'], open: () => new LocalEspeak() },
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
