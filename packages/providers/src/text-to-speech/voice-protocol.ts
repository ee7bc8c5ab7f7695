import type { Ms } from '@parley/kernel'
import type { ProviderFailure } from '../errors.ts'
import type { SpeechRequest } from './text-to-speech.ts'
import type { TimedWord } from './word-alignment.ts'

/** What a message of a service means. `utterance`: its id; null is the only one on the socket. */
export type VoiceMessage =
  | { readonly type: 'audio'; readonly utterance: string | null; readonly bytes: Uint8Array }
  /** As the service tells them, in order. */
  | { readonly type: 'words'; readonly utterance: string | null; readonly words: readonly TimedWord[] }
  /** All its audio came. */
  | { readonly type: 'ended'; readonly utterance: string | null }
  /** Nothing more comes of what was cancelled. */
  | { readonly type: 'cancelled'; readonly utterance: string | null }
  /** `utterance` null: the whole socket, with all that it carries. */
  | { readonly type: 'failed'; readonly utterance: string | null; readonly error: ProviderFailure }

/** Reads what comes on one socket; it may remember what came before. */
export interface VoiceReader {
  text(message: string): readonly VoiceMessage[]
  binary(bytes: Uint8Array): readonly VoiceMessage[]
  /** The utterance is over, and what was remembered of it is no longer needed. */
  forget(utterance: string): void
}

/** How a service speaks over a WebSocket that carries many utterances. Pure: messages in, messages out. */
export interface VoiceProtocol {
  /** What the service is called in messages. */
  readonly service: string
  readonly headers: Readonly<Record<string, string>>
  /** Utterances that one socket carries at a time. */
  readonly utterancesPerSocket: number
  /** Utterances that may begin on one socket within a minute; null is any number. */
  readonly beginningsPerMinute: number | null
  /** A socket older than this takes no new utterance; null is any age. */
  readonly longestSocketMs: Ms | null
  /** An idle socket is closed after this: before the service does, and before it costs somebody else's place. */
  readonly idleMs: Ms
  /**
   * Which message gives back the place of a cancelled utterance; null: it is free at once, since what still comes of it
   * is known by its id and does not count.
   */
  readonly placeFreedBy: 'ended' | 'cancelled' | null
  /** How long that message may take; then the socket takes no more utterances. */
  readonly cancelMs: Ms
  /** URL of a socket that can speak `request`. Requests with the same one share sockets. */
  url(request: Omit<SpeechRequest, 'text'>): string
  begin(utterance: string, request: SpeechRequest): readonly string[]
  /** Empty where the service cannot be told. */
  cancel(utterance: string): readonly string[]
  reader(): VoiceReader
}
