import type { Ms, Samples } from '@parley/kernel'
import type { SpeechStreamOptions } from './speech-to-text.ts'

/** A word as a service tells it; times in samples since its stream began, null where it tells none. */
export interface ServiceWord {
  readonly text: string
  readonly start: Samples | null
  readonly end: Samples | null
  /** 0 to 1. */
  readonly confidence?: number
}

/** What a message of a service means. Times are in samples since the stream to it began. */
export type ServiceEvent =
  /** Audio may be sent; only from services that greet. */
  | { readonly type: 'ready' }
  /** A voice began; null where it is not said when. */
  | { readonly type: 'speech-started'; readonly at: Samples | null }
  /** What it understands of one passage of speech. */
  | {
      readonly type: 'words'
      /** Later words of the same passage replace these. */
      readonly passage: number
      readonly words: readonly ServiceWord[]
      /** Audio that the passage covers; `until` is null where it is not said. */
      readonly from: Samples
      readonly until: Samples | null
      readonly final: boolean
      /** Final because it was asked for; null where it is not said. */
      readonly forced: boolean | null
      /** The speaker has stopped, as the service sees it. */
      readonly stopped: boolean
    }
  | { readonly type: 'end-of-turn'; readonly confidence: number; readonly eager: boolean }
  | { readonly type: 'turn-resumed' }
  /** Nobody was speaking until here. */
  | { readonly type: 'silence'; readonly until: Samples }
  /** The service gives up, or refuses; the connection is over. */
  | { readonly type: 'failed'; readonly kind: 'refused' | 'busy' | 'failed'; readonly reason: string }

/** How one service is spoken to: what differs between them. */
export interface ServiceProtocol {
  /** For people: "Deepgram". */
  readonly name: string
  /** Audio goes out in messages of at least this much, mu-law. */
  readonly chunk: Samples
  /** A shorter message is refused: what is left over is filled up with silence. */
  readonly chunkIsRule: boolean
  /** The longest message. */
  readonly mostChunk: Samples
  /** It tells when it is ready; others are ready when the connection stands. */
  readonly greets: boolean
  /** When no audio has come for so long, this is said, or (null) so much silence is sent. */
  readonly idle: { readonly afterMs: Ms; readonly say: string | null }
  /** A service that has said nothing at all after so much audio is mute; null: it may be silent while people are. */
  readonly muteAfterMs: Ms | null
  /**
   * A service that says nothing after so much audio while words are open has lost the thread; `byVoice`: also when it told
   * of a voice alone.
   */
  readonly stall: { readonly afterMs: Ms; readonly byVoice: boolean }
  readonly finalize: string
  readonly goodbye: string
  /** Reads the messages of one connection. */
  reader(): (message: string) => readonly ServiceEvent[]
}

/** One model of a recognition service: where it is, how a stream is requested, and its protocol. Data only; `ServiceRecogniser` connects. */
export interface RecogniserService {
  /** `vendor/model`. */
  readonly id: string
  /** BCP 47 primary tags. */
  readonly languages: readonly string[]
  readonly protocol: ServiceProtocol
  /** Such as "wss://api.deepgram.com". */
  readonly baseUrl: string
  /** Path and query of the connection for one stream. */
  readonly path: (options: SpeechStreamOptions) => string
  /** Value of the Authorization header. */
  readonly authorization: (apiKey: string) => string
  /** Meaning of a close code, for services that define codes of their own. */
  readonly failure?: (code: number | null, reason: string) => 'refused' | 'busy' | 'failed'
}
