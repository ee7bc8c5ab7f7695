import { type AssemblyAiTurns, assemblyAiFailure, streamingV3, streamingV3Query } from '../assemblyai/streaming-v3.ts'
import { ServiceRecogniser, type ServiceRecogniserOptions } from './service-recogniser.ts'

const BASE_URL = 'wss://streaming.assemblyai.com'
const MULTILINGUAL = ['en', 'es', 'fr', 'de', 'it', 'pt']

export interface AssemblyAiRecogniserOptions extends ServiceRecogniserOptions {
  /** Default "universal-streaming-english"; "universal-streaming-multilingual" knows six languages. */
  readonly model?: string
  readonly turns?: AssemblyAiTurns
}

/**
 * AssemblyAI's streaming models: words with times, and their own judgement of turns, each told once. `endpointingMs` is the
 * longest silence in a turn.
 */
export class AssemblyAiRecogniser extends ServiceRecogniser {
  constructor(options: AssemblyAiRecogniserOptions) {
    const model = options.model ?? 'universal-streaming-english'
    const service = {
      id: `assemblyai/${model}`,
      languages: model.endsWith('-english') ? ['en'] : MULTILINGUAL,
      protocol: streamingV3,
      baseUrl: options.baseUrl ?? BASE_URL,
      path: (stream: Parameters<typeof streamingV3Query>[1]) =>
        `/v3/ws?${streamingV3Query(model, stream, options.turns)}`,
      authorization: (apiKey: string) => apiKey,
      failure: assemblyAiFailure,
    }
    super(service, options)
  }
}
