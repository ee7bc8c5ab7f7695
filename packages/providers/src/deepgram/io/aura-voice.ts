import { serviceUrl } from '../../io/service-url.ts'
import { SocketVoice, type SocketVoiceOptions } from '../../io/socket-voice.ts'
import { DEEPGRAM_URL } from '../deepgram-api.ts'
import { AURA_VOICES, auraProtocol } from '../speak-v1.ts'

export interface AuraVoiceOptions extends SocketVoiceOptions {
  /** Default "aura-2". */
  readonly model?: string
  /** Default "wss://api.deepgram.com". */
  readonly baseUrl?: string
  /** Voices of requests that name none, by language; default `AURA_VOICES`. */
  readonly voices?: Readonly<Record<string, string>>
}

/**
 * Deepgram's Aura over its WebSocket: mu-law, one utterance on a socket at a time, no word times. A voice is a name
 * ("thalia") or a whole model ("aura-2-thalia-en"). Speeds from 0.7 to 1.5; others become the nearest of these. At most 15
 * sockets by default, the service's smallest allowance.
 */
export class AuraVoice extends SocketVoice {
  /** Throws `ProviderError` "voice_misconfigured" for a base URL that is not of the form wss://host/path. */
  constructor(options: AuraVoiceOptions) {
    const { apiKey, model = 'aura-2' } = options
    const baseUrl = serviceUrl(options.baseUrl ?? DEEPGRAM_URL, ['wss:', 'ws:'])
    const voices = options.voices ?? AURA_VOICES
    super(
      {
        id: `deepgram/${model}`,
        languages: Object.keys(voices),
        voiceName: /^[a-z0-9-]{1,64}$/,
        maxSockets: 15,
        protocol: auraProtocol({ apiKey, model, baseUrl, voices }),
      },
      options,
    )
  }
}
