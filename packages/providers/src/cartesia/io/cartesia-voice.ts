import { serviceUrl } from '../../io/service-url.ts'
import { SocketVoice, type SocketVoiceOptions } from '../../io/socket-voice.ts'
import { phonemesInText } from '../phonemes-in-text.ts'
import { cartesiaProtocol } from '../tts-websocket.ts'

interface CartesiaVoiceOptions extends SocketVoiceOptions {
  /** Default "sonic-2". */
  readonly model?: string
  /** Default "wss://api.cartesia.ai". */
  readonly baseUrl?: string
  /** Version of the API; default "2025-04-16". */
  readonly version?: string
  /** Id of the voice of requests that name none; default "a0e99841-438c-4a64-b679-ae501e7d6091". */
  readonly voice?: string
}

const LANGUAGES = 'en fr de es pt zh ja hi it ko nl pl ru sv tr'.split(' ')

/**
 * Cartesia over its WebSocket: word times, 20 utterances on a socket. Speeds from 0.6 to 1.5, others become the
 * nearest of these; "sonic-2" and older models accept slow, normal and fast only. At most 10 sockets by default.
 */
export class CartesiaVoice extends SocketVoice {
  /** All Sonic models take phonemes in the text. */
  readonly writesPhonemes = phonemesInText

  /** Throws `ProviderError` "voice_misconfigured" for a base URL that is not of the form wss://host/path. */
  constructor(options: CartesiaVoiceOptions) {
    const { apiKey, model = 'sonic-2', version = '2025-04-16' } = options
    const baseUrl = serviceUrl(options.baseUrl ?? 'wss://api.cartesia.ai', ['wss:', 'ws:'])
    const voice = options.voice ?? 'a0e99841-438c-4a64-b679-ae501e7d6091'
    super(
      {
        id: `cartesia/${model}`,
        languages: LANGUAGES,
        voiceName: /^[A-Za-z0-9-]{1,64}$/,
        maxSockets: 10,
        protocol: cartesiaProtocol({ apiKey, model, baseUrl, version, voice }),
      },
      options,
    )
  }
}
