import type { LanguageModel, ModelIdentity } from '../language-model/language-model.ts'
import type { SpeechToText } from '../speech-to-text/speech-to-text.ts'

/**
 * The speech-to-speech port: a model that hears the caller and speaks itself. One implementation serves many calls at once; each
 * call opens a session of its own.
 */
export interface RealtimeModel {
  readonly identity: ModelIdentity
  /** BCP 47 primary tags of the languages that it hears and speaks. */
  readonly languages: readonly string[]
  /** Names of its voices, the default one first. */
  readonly voices: readonly string[]
  /** Why sessions cannot be opened ("no key"); null: they can. */
  readiness(): Promise<string | null>
  /** Prepares the first session of the process, without opening one; never fails. */
  warm?(): Promise<void>
  /** Opens a session and returns at once. A connection that fails is reported by the parts of the session. Throws `ProviderError` "language_not_supported". */
  open(options: RealtimeOptions): RealtimeSession
  /** Closes its sessions as well. Idempotent. */
  close(): Promise<void>
}

export interface RealtimeOptions {
  /** BCP 47; must be one of `languages` by its primary tag. */
  readonly language: string
  /** Words to expect in the transcript of the caller. */
  readonly keywords?: readonly string[]
  /** One of `voices`; null or another name: the default. */
  readonly voice?: string | null
  /** 0.5 to 2; default 1. The nearest that the service can do. */
  readonly speed?: number
}

/**
 * One conversation with a speech-to-speech model, in the form of the ports that it replaces: the recogniser passes the caller's audio
 * to the model and reports its transcript, and the model answers requests from what it has heard. It speaks the answers to requests
 * with `spoken` itself, as "speech" events. After a failure the session is over: its stream ends with an error that is not
 * retryable, and its model throws.
 */
export interface RealtimeSession {
  /** For this call only; its `close` does nothing. */
  readonly recogniser: SpeechToText
  /** The messages of each request are the conversation: what the model has heard or said beyond them is removed from its memory. */
  readonly model: LanguageModel
  /** Whether it was closed or has failed. */
  readonly isOver: boolean
  /** Idempotent. */
  close(): void
}
