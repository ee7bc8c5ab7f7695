import type { Ms, Samples } from '@parley/kernel'

/**
 * What a fake of a speech service does its work with. The fakes speak the vendors' protocols and know no speech of their
 * own: whoever opens one brings the hearing and the voice (in Parley's own tests the simulated pair).
 */

/** A word as the hearing understood it; times in samples at 8 kHz since the stream began. */
export interface FakeWord {
  readonly text: string
  readonly startSample: Samples
  readonly endSample: Samples
}

/** Listens to one stream, 8 kHz mono 16-bit. */
export interface FakeHearing {
  write(audio: Int16Array): void
  /** Called for each word as soon as it is understood, in order. */
  onWord(listener: (word: FakeWord) => void): void
  close(): void
}

export type OpenHearing = (language: string) => FakeHearing

/** Audio at 8 kHz mono 16-bit, and where its words begin. */
export interface FakeSpeech {
  readonly samples: Int16Array
  readonly words: readonly { readonly text: string; readonly startMs: Ms }[]
}

export type Speak = (request: {
  readonly text: string
  readonly language: string
  readonly speed: number
}) => Promise<FakeSpeech>

/** What a fake does to one connection or request, besides its service. Each happens once, in the order given. */
export type Unkindness =
  /** Refuses the connection or request in the vendor's own shape. */
  | { readonly type: 'refuse'; readonly status: number; readonly retryAfterS?: number }
  /** Accepts and never says anything. */
  | { readonly type: 'mute' }
  /**
   * Breaks the connection off, without a close frame, `afterMs` after the first message in either direction; 0: before any
   * reply to it.
   */
  | { readonly type: 'break-off'; readonly afterMs: Ms }
  /** Says an error in the vendor's own shape, and closes as the vendor does. */
  | { readonly type: 'error'; readonly afterMs: Ms }
  /** Stops answering in the middle, and keeps the connection open. */
  | { readonly type: 'stall'; readonly afterMs: Ms }
  /** Sends what makes no sense: no JSON, unknown messages, fields that are missing. */
  | { readonly type: 'garble' }

/** Scripted delays of a service, ms; default none. */
export interface FakeDelays {
  /** Until a connection is accepted. */
  readonly connectMs?: Ms
  /** Hearing: from the end of a word until it is told; from the end of speech until the final is. */
  readonly partialMs?: Ms
  readonly finalMs?: Ms
  /** Voices and models: from the request to the first audio or token, and between tokens. */
  readonly firstMs?: Ms
  readonly tokenMs?: Ms
}
