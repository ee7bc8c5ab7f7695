import type { Ms, Time } from '@parley/kernel'
import { ProviderError, type ProviderFailure } from '../errors.ts'
import { SERVICE_FORMATS } from '../service-encoding.ts'
import { decoderFor } from '../text-to-speech/audio-decoder.ts'
import { checkSpeechRequest } from '../text-to-speech/request.ts'
import { ServiceUtterance, type VoiceBudgets } from '../text-to-speech/service-utterance.ts'
import type { SpeechChunk, SpeechRequest, TextToSpeech } from '../text-to-speech/text-to-speech.ts'
import type { VoiceProtocol } from '../text-to-speech/voice-protocol.ts'
import type { UtteranceListener } from './voice-socket.ts'
import { VoiceSockets } from './voice-sockets.ts'

/** Options of all voices over WebSockets. */
export interface SocketVoiceOptions {
  readonly apiKey: string
  readonly time: Time
  /** Accepted BCP 47 primary tags; default all that the service speaks. */
  readonly languages?: readonly string[]
  readonly budgets?: VoiceBudgets
  /** Most open sockets, for all voices and calls together; beyond it utterances wait. Default: the adapter's. */
  readonly maxSockets?: number
  /** Time after which an idle socket is closed. Default: the adapter's. */
  readonly idleMs?: Ms
}

interface SocketVoiceService {
  readonly id: string
  readonly languages: readonly string[]
  /** Valid voice names: they become part of a URL or a message. */
  readonly voiceName: RegExp
  readonly maxSockets: number
  readonly protocol: VoiceProtocol
}

/**
 * A voice service over pooled WebSockets, which sends mu-law for telephone calls and linear PCM for wideband calls. When a reused socket turns out dead, the utterance is repeated
 * once on a fresh one, unless audio of it has arrived. Errors: "voice_refused" (key or account), "voice_busy", "voice_unreachable", "voice_failed", "voice_unknown", "voice_closed".
 */
export class SocketVoice implements TextToSpeech {
  readonly id: string
  readonly languages: readonly string[]
  readonly formats = SERVICE_FORMATS
  readonly #service: SocketVoiceService
  readonly #options: SocketVoiceOptions
  readonly #sockets: VoiceSockets
  #closed = false

  constructor(service: SocketVoiceService, options: SocketVoiceOptions) {
    this.id = service.id
    this.languages = options.languages ?? service.languages
    this.#service = service
    this.#options = options
    const { time, apiKey, idleMs } = options
    this.#sockets = new VoiceSockets({
      protocol: service.protocol,
      time,
      secret: apiKey,
      maxSockets: options.maxSockets ?? service.maxSockets,
      ...(idleMs !== undefined && { idleMs }),
    })
  }

  get #supported() {
    return { languages: this.languages, formats: this.formats, voices: this.#service.voiceName }
  }

  /** Number of open sockets. */
  get sockets(): number {
    return this.#sockets.count
  }

  async readiness(): Promise<string | null> {
    if (this.#closed) return 'closed'
    return /^[\x21-\x7e]+$/.test(this.#options.apiKey) ? null : `no key for ${this.#service.protocol.service}`
  }

  async *synthesize(request: SpeechRequest, signal: AbortSignal): AsyncGenerator<SpeechChunk, void, undefined> {
    checkSpeechRequest(request, this.#supported)
    if (this.#closed) throw new ProviderError('voice_closed', 'This voice was closed.')
    const obstacle = await this.readiness()
    if (obstacle !== null) throw new ProviderError('voice_refused', `There is ${obstacle}.`)
    // Punctuation alone is not sent: no service speaks it.
    if (signal.aborted || !/[\p{L}\p{N}]/u.test(request.text)) return
    const { time, budgets } = this.#options
    const utterance: ServiceUtterance = new ServiceUtterance({
      text: request.text,
      decoder: decoderFor(request.format),
      time,
      ...(budgets !== undefined && { budgets }),
      whyLate: () => speaking.whyLate(),
    })
    const speaking = new Speaking(this.#sockets, this.#service.protocol.url(request), request, utterance)
    const stop = () => {
      utterance.stop()
      speaking.stop()
    }
    signal.addEventListener('abort', stop, { once: true })
    try {
      speaking.begin(false)
      yield* utterance.chunks()
    } finally {
      signal.removeEventListener('abort', stop)
      stop()
    }
  }

  warm(request: Pick<SpeechRequest, 'language' | 'voice' | 'format'>): void {
    try {
      checkSpeechRequest({ ...request, text: '-' }, this.#supported)
    } catch {
      return
    }
    if (!this.#closed && this.#options.apiKey !== '') this.#sockets.warm(this.#service.protocol.url(request))
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#sockets.close()
  }
}

/** One utterance, and its repetition on a fresh socket. */
class Speaking {
  readonly #sockets: VoiceSockets
  readonly #url: string
  readonly #request: SpeechRequest
  readonly #utterance: ServiceUtterance
  #leave: () => void = () => {}
  #carried = false
  #begunAgain = false
  #stopped = false

  constructor(sockets: VoiceSockets, url: string, request: SpeechRequest, utterance: ServiceUtterance) {
    this.#sockets = sockets
    this.#url = url
    this.#request = request
    this.#utterance = utterance
  }

  begin(fresh: boolean): void {
    this.#carried = false
    const giveUp = this.#sockets.enter(this.#url, {
      fresh,
      onPlace: socket => {
        this.#carried = true
        const cancel = socket.begin(this.#request, this.#listener)
        // Unless it failed at once and was repeated on another socket.
        if (this.#begunAgain === fresh) this.#leave = cancel
      },
      onClosed: error => this.#utterance.fail(error),
    })
    if (!this.#carried && this.#begunAgain === fresh) this.#leave = giveUp
  }

  /** The error for a late utterance that still waits for a socket; null when the service is late. */
  whyLate(): ProviderFailure | null {
    if (this.#carried) return null
    return new ProviderError('voice_busy', 'No connection to the voice became free in time.')
  }

  stop(): void {
    this.#stopped = true
    this.#leave()
  }

  readonly #listener: UtteranceListener = {
    onAudio: bytes => this.#utterance.audio(bytes),
    onWords: words => {
      for (const word of words) this.#utterance.word(word.text, word.startMs)
    },
    onEnded: () => this.#utterance.end(),
    onFailed: (error, mayBeStale) => {
      this.#leave = () => {}
      if (this.#stopped || !mayBeStale || this.#begunAgain || this.#utterance.samples > 0) {
        this.#utterance.fail(error)
        return
      }
      this.#begunAgain = true
      try {
        this.begin(true)
      } catch (cause) {
        this.#utterance.fail(ProviderError.is(cause) ? cause : error)
      }
    },
  }
}
