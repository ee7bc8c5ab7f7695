import { listenV1, listenV1Query } from '../deepgram/listen-v1.ts'
import { ServiceRecogniser, type ServiceRecogniserOptions } from './service-recogniser.ts'

const BASE_URL = 'wss://api.deepgram.com'
/** Nova-3's languages with a model of their own. */
const NOVA_3 =
  'en es fr pt de nl sv da it tr no id bg cs fi hi hu ja ko pl ru uk vi ca et el lv lt ms ro sk be bn bs hr kn mk mr sr sl ta tl te zh th'
const NOVA_2 = 'en es fr pt de nl sv da it tr no id bg cs fi hi hu ja ko pl ru uk vi ca et el lv lt ms ro sk zh th'

export interface DeepgramRecogniserOptions extends ServiceRecogniserOptions {
  /** Default "nova-3". */
  readonly model?: string
}

/** Deepgram's Nova: words with times and punctuation; it does not judge turns. `endpointingMs`: default 300. */
export class DeepgramRecogniser extends ServiceRecogniser {
  constructor(options: DeepgramRecogniserOptions) {
    const model = options.model ?? 'nova-3'
    const service = {
      id: `deepgram/${model}`,
      languages: (model.startsWith('nova-3') ? NOVA_3 : NOVA_2).split(' '),
      protocol: listenV1,
      baseUrl: options.baseUrl ?? BASE_URL,
      path: (stream: Parameters<typeof listenV1Query>[1]) => `/v1/listen?${listenV1Query(model, stream)}`,
      authorization: (apiKey: string) => `Token ${apiKey}`,
    }
    super(service, options)
  }
}
