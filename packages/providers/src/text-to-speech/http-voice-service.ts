import type { AudioFormat } from '@parley/kernel'
import type { ProviderFailure } from '../errors.ts'
import type { AudioDecoder } from './audio-decoder.ts'
import type { SpeechRequest } from './text-to-speech.ts'

/** A voice that answers one HTTP request (POST) for each utterance with its audio. Data only; `HttpVoice` connects. */
export interface HttpVoiceService {
  /** `vendor/model`. */
  readonly id: string
  /** BCP 47 primary tags. */
  readonly languages: readonly string[]
  readonly formats: readonly AudioFormat[]
  /** Form of the names of its voices. */
  readonly voices: RegExp
  /** Appended to the path of the base URL: "/audio/speech". */
  readonly path: string
  /** Headers that carry the key. */
  authorization(apiKey: string): Readonly<Record<string, string>>
  request(request: SpeechRequest): { readonly body: string; readonly headers: Readonly<Record<string, string>> }
  /** The decoder of the body that answers the request. */
  decoder(request: SpeechRequest): AudioDecoder
  /** Whether a body of this content type may be the requested audio. */
  isAudio(contentType: string | undefined): boolean
  /** The error for an answer with another status than 200; its text must contain nothing of `body` that may be the key. */
  failure(status: number, body: string): ProviderFailure
}
