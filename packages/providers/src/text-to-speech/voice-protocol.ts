import type { Ms } from '@parley/kernel'
import type { ProviderFailure } from '../errors.ts'
import type { SpeechRequest } from './text-to-speech.ts'
import type { TimedWord } from './word-alignment.ts'

/** An event in a message of a service. `utterance`: its id; null: the only one on the socket. */
export type VoiceMessage =
  | { readonly type: 'audio'; readonly utterance: string | null; readonly bytes: Uint8Array }
  /** Words with times, in order. */
  | { readonly type: 'words'; readonly utterance: string | null; readonly words: readonly TimedWord[] }
  /** The service has sent all audio of the utterance. */
  | { readonly type: 'ended'; readonly utterance: string | null }
  /** The service sends nothing more of a cancelled utterance. */
  | { readonly type: 'cancelled'; readonly utterance: string | null }
  /** `utterance` null: the whole socket failed, with all its utterances. */
  | { readonly type: 'failed'; readonly utterance: string | null; readonly error: ProviderFailure }

/** Parses the messages of one socket; it may keep state between messages. */
export interface VoiceReader {
  /** The messages that begin an utterance were sent. */
  begin(utterance: string, request: SpeechRequest): void
  text(message: string): readonly VoiceMessage[]
  binary(bytes: Uint8Array): readonly VoiceMessage[]
  /** Releases the state of an utterance that is over. */
  forget(utterance: string): void
}

/** The protocol of a voice service over a WebSocket that carries several utterances. Pure: messages in, messages out. */
export interface VoiceProtocol {
  /** Name in error texts, such as "Deepgram". */
  readonly service: string
  readonly headers: Readonly<Record<string, string>>
  /** Most concurrent utterances on one socket. */
  readonly utterancesPerSocket: number
  /** Most utterances that may begin on one socket within a minute; null: no limit. */
  readonly startsPerMinute: number | null
  /** An older socket begins no new utterance; null: no limit. */
  readonly maxSocketAgeMs: Ms | null
  /** Time after which an idle socket is closed: sooner than the service would close it. */
  readonly idleMs: Ms
  /**
   * The message after which the capacity of a cancelled utterance is free; null: it is free at once, because audio
   * that still arrives has the utterance's id.
   */
  readonly capacityFreedBy: 'ended' | 'cancelled' | null
  /** Limit of the wait for that message; after it the socket begins no more utterances. */
  readonly cancelMs: Ms
  /** URL of a socket for `request`. Requests with the same URL share sockets. */
  url(request: Omit<SpeechRequest, 'text'>): string
  /** Messages that begin the utterance. */
  begin(utterance: string, request: SpeechRequest): readonly string[]
  /** Messages that cancel it; empty when the protocol has none. */
  cancel(utterance: string): readonly string[]
  reader(): VoiceReader
}
