import { serviceUrl } from '../../io/service-url.ts'
import { SocketVoice, type SocketVoiceOptions } from '../../io/socket-voice.ts'
import { elevenLabsProtocol } from '../multi-stream-input.ts'

interface ElevenLabsVoiceOptions extends SocketVoiceOptions {
  /** Default "eleven_flash_v2_5". */
  readonly model?: string
  /** Default "wss://api.elevenlabs.io". */
  readonly baseUrl?: string
  /** Id of the voice of requests that name none; default "21m00Tcm4TlvDq8ikWAM". */
  readonly voice?: string
}

/** Languages of the multilingual models; others speak English only. */
const LANGUAGES =
  'en es pt fr de it nl pl sv da no fi cs sk hu ro bg el uk ru tr ar hi ta ja ko zh id ms vi hr fil'.split(' ')

/**
 * ElevenLabs over its multi-context WebSocket: mu-law, word times, five utterances on a socket. Speeds from 0.7 to 1.2;
 * others become the nearest of these. At most 20 sockets by default. The service generates and bills cancelled
 * utterances to their end.
 */
export class ElevenLabsVoice extends SocketVoice {
  /** Throws `ProviderError` "voice_misconfigured" for a base URL that is not of the form wss://host/path. */
  constructor(options: ElevenLabsVoiceOptions) {
    const { apiKey, model = 'eleven_flash_v2_5', voice = '21m00Tcm4TlvDq8ikWAM' } = options
    const baseUrl = serviceUrl(options.baseUrl ?? 'wss://api.elevenlabs.io', ['wss:', 'ws:'])
    super(
      {
        id: `elevenlabs/${model}`,
        languages: /multilingual|_v2_5$|_v3/.test(model) ? LANGUAGES : ['en'],
        voiceName: /^[A-Za-z0-9]{1,64}$/,
        maxSockets: 20,
        protocol: elevenLabsProtocol({ apiKey, model, baseUrl, voice }),
      },
      options,
    )
  }
}
