import type { AudioFormat, Ms, Samples } from '@parley/kernel'

/**
 * Interfaces between the fakes of speech services and a test. The fakes implement the vendors' protocols; recognition and
 * speech come from the test (in Parley's own tests from the simulated pair).
 */

/** A recognised word; positions are samples at 8 kHz since the stream began. */
export interface FakeWord {
  readonly text: string
  readonly startSample: Samples
  readonly endSample: Samples
}

/** Recognises the words of one stream of 8 kHz mono 16-bit audio. */
export interface WordRecogniser {
  write(audio: Int16Array): void
  /** Called for each word as soon as it is recognised, in order. */
  onWord(listener: (word: FakeWord) => void): void
  close(): void
}

export type OpenRecogniser = (language: string) => WordRecogniser

/** Mono 16-bit audio, and where its words begin. */
export interface FakeSpeech {
  /** In the requested format. */
  readonly samples: Int16Array
  readonly words: readonly { readonly text: string; readonly startMs: Ms }[]
}

export type Speak = (request: {
  readonly text: string
  readonly language: string
  readonly speed: number
  readonly format: AudioFormat
}) => Promise<FakeSpeech>

/** A fault of one connection or request. Each happens once, in the order given. */
export type ServiceFault =
  /** Refuses the connection or request in the vendor's own shape. */
  | { readonly type: 'refuse'; readonly status: number; readonly retryAfterS?: number }
  /** Accepts and never sends anything. */
  | { readonly type: 'mute' }
  /**
   * Breaks the connection off, without a close frame, `afterMs` after the first message in either direction, of a voice after its first
   * audio; 0: before any reply to the first message.
   */
  | { readonly type: 'break-off'; readonly afterMs: Ms }
  /** Sends an error in the vendor's own shape, and closes as the vendor does. */
  | { readonly type: 'error'; readonly afterMs: Ms }
  /** Stops sending in the middle, and keeps the connection open. */
  | { readonly type: 'stall'; readonly afterMs: Ms }
  /** Sends garbage: invalid JSON, unknown messages, messages with missing fields. */
  | { readonly type: 'garble' }

/** Scripted delays of a service, ms; default none. */
export interface FakeDelays {
  /** Until a connection is accepted. */
  readonly connectMs?: Ms
  /** Recognisers: from the end of a word to its partial result; from the end of speech to the final result. */
  readonly partialMs?: Ms
  readonly finalMs?: Ms
  /** Voices and models: from the request to the first audio or token, and between tokens. */
  readonly firstMs?: Ms
  readonly tokenMs?: Ms
}
