import { type FluxThresholds, listenV2, listenV2Query } from '../deepgram/listen-v2.ts'
import { ServiceRecogniser, type ServiceRecogniserOptions } from './service-recogniser.ts'

const BASE_URL = 'wss://api.deepgram.com'
const MULTILINGUAL = ['en', 'es', 'fr', 'de', 'hi', 'ru', 'pt', 'ja', 'it', 'nl']

export interface DeepgramFluxRecogniserOptions extends ServiceRecogniserOptions {
  /** Default "flux-general-en"; "flux-general-multi" knows ten languages. */
  readonly model?: string
  readonly thresholds?: FluxThresholds
}

/**
 * Deepgram's Flux: words with times, and its own judgement of turns. `endpointingMs` is the longest silence in a turn, 500
 * to 10 000. While no audio comes it is sent silence, which Deepgram counts as audio.
 */
export class DeepgramFluxRecogniser extends ServiceRecogniser {
  constructor(options: DeepgramFluxRecogniserOptions) {
    const model = options.model ?? 'flux-general-en'
    const service = {
      id: `deepgram/${model}`,
      languages: model.endsWith('-multi') ? MULTILINGUAL : ['en'],
      protocol: listenV2,
      baseUrl: options.baseUrl ?? BASE_URL,
      path: (stream: Parameters<typeof listenV2Query>[1]) =>
        `/v2/listen?${listenV2Query(model, stream, options.thresholds)}`,
      authorization: (apiKey: string) => `Token ${apiKey}`,
    }
    super(service, options)
  }
}
