import type { AudioFormat, Ms } from '@parley/kernel'
import type { SpeechStreamOptions } from './speech-to-text.ts'

/** A word as a service reports it. Times count from the start of the audio that it was sent; null when it sends none. */
export interface ServiceWord {
  readonly text: string
  readonly startMs: Ms | null
  readonly endMs: Ms | null
  /** 0 to 1. */
  readonly confidence?: number
}

/** An event in a message of a service. Times count from the start of the audio that the service was sent. */
export type ServiceEvent =
  /** Audio may be sent; only from services that greet. */
  | { readonly type: 'ready' }
  /** Speech began; `atMs` is null when the service sends no time. */
  | { readonly type: 'speech-started'; readonly atMs: Ms | null }
  /** The recognised words of one passage of speech. */
  | {
      readonly type: 'words'
      /** Later words of the same passage replace these. */
      readonly passage: number
      readonly words: readonly ServiceWord[]
      /** Audio that the passage covers; `untilMs` is null when the service does not send it. */
      readonly fromMs: Ms
      readonly untilMs: Ms | null
      readonly final: boolean
      /** Whether the words are final because of a finalize request; null when the service does not say. */
      readonly forced: boolean | null
      /** The service considers the speech ended. */
      readonly stopped: boolean
      /** Primary tag of the language that the service detected in the words. */
      readonly language?: string
    }
  | { readonly type: 'end-of-turn'; readonly confidence: number; readonly eager: boolean }
  | { readonly type: 'turn-resumed' }
  /** There was no speech before this position. */
  | { readonly type: 'silence'; readonly untilMs: Ms }
  /** The service failed or refused the stream; the connection is closed. */
  | { readonly type: 'failed'; readonly kind: 'refused' | 'busy' | 'failed'; readonly reason: string }

/** The protocol of one recogniser service. */
export interface ServiceProtocol {
  /** Name in error texts, such as "Deepgram". */
  readonly name: string
  /** Audio of the shortest message. */
  readonly minMessageMs: Ms
  /** The service refuses shorter messages, so the last one is padded with silence. */
  readonly padsLastMessage: boolean
  /** Audio of the longest message. */
  readonly maxMessageMs: Ms
  /** The service reports when it is ready; others are ready when the connection is open. */
  readonly reportsReady: boolean
  /** After this time without audio, `message` is sent; when it is null, silence of the same length. */
  readonly keepAlive: { readonly afterMs: Ms; readonly message: string | null }
  /** A connection without any message after this much audio has failed; null when the service may be silent during silence. */
  readonly noMessageTimeoutMs: Ms | null
  /**
   * A connection without a message after this much audio while words are open has stalled; with `byVoice`, also while
   * only speech was reported.
   */
  readonly stall: { readonly afterMs: Ms; readonly byVoice: boolean }
  /** Message that requests final words for all audio so far; null when the service has none. */
  readonly finalizeMessage: string | null
  /** Last message of a connection. */
  readonly closeMessage: string
  /** A parser for the messages of one connection. */
  openReader(): (message: string) => readonly ServiceEvent[]
}

/** What is particular to one connection. */
export interface WireConnection {
  /** 32 hexadecimal digits. */
  readonly id: string
  /** ISO 8601. */
  readonly openedAt: string
}

/** How one connection writes its messages. */
export interface ServiceWire {
  /** Sent before everything else. */
  readonly opening: readonly (string | Uint8Array)[]
  /** The message for audio (bytes) or for one of the protocol's messages (text). */
  encode(message: string | Uint8Array): string | Uint8Array
}

/** One model of a recognition service: where it is, how a stream is requested, and its protocol. Data only; `ServiceRecogniser` connects. */
export interface RecogniserService {
  /** `vendor/model`. */
  readonly id: string
  /** BCP 47 primary tags. */
  readonly languages: readonly string[]
  /** Accepted audio formats; `path` names the encoding of `encodingFor`. */
  readonly formats: readonly AudioFormat[]
  readonly protocol: ServiceProtocol
  /** Such as "wss://api.deepgram.com". */
  readonly baseUrl: string
  /** Path and query of the connection for one stream. */
  readonly path: (options: SpeechStreamOptions) => string
  /** Headers of the handshake that carry the key. */
  readonly headers: (apiKey: string) => Readonly<Record<string, string>>
  /** The wire format of one connection. Default: nothing is sent before the audio, and messages as they are. */
  readonly wire?: (options: SpeechStreamOptions, connection: WireConnection) => ServiceWire
  /** Meaning of a close code, for services that define codes of their own. */
  readonly failure?: (code: number | null, reason: string) => 'refused' | 'busy' | 'failed'
}
