import type { AudioFormat, Ms } from '@parley/kernel'

/** The text-to-speech port. One implementation serves many calls at once; each utterance is its own stream. */
export interface TextToSpeech {
  /** "local/flite", "simulated/tones-1", … */
  readonly id: string
  /** BCP 47 primary tags that this voice speaks: ["en"]. */
  readonly languages: readonly string[]
  /** Formats of audio that it delivers, mono; default 8 kHz only. */
  readonly formats?: readonly AudioFormat[]
  /**
   * Why the voice cannot be used ("espeak-ng is not installed"); null: it is ready. `language`: BCP 47, default the first
   * of `languages`; one language may be ready and another not.
   */
  readiness(language?: string): Promise<string | null>
  /**
   * Speaks `text`. Chunks are yielded as they are synthesised, each at least 10 ms long except the last; iterating ends normally after the last chunk,
   * or at once, without an error, when `signal` aborts. Failures throw `ProviderError`.
   */
  synthesize(request: SpeechRequest, signal: AbortSignal): AsyncIterable<SpeechChunk>
  /**
   * Prepares for a call in this language and format with this voice: opens connections, and renders `texts` where the voice caches
   * them. Best effort, never throws; unused connections close after their idle time.
   */
  warm?(request: Pick<SpeechRequest, 'language' | 'voice' | 'format'> & { readonly texts?: readonly string[] }): void
  /** Writes an IPA pronunciation in the text of a request; absent: the service takes none. Not for every language or model. */
  readonly writesPhonemes?: (ipa: string) => string
  close(): Promise<void>
}

export interface SpeechRequest {
  /** 1 to 4096 code points of plain text. */
  readonly text: string
  /** BCP 47; must be one of `languages` by its primary tag. */
  readonly language: string
  /** A voice of this service; default its first. */
  readonly voice?: string
  /** 0.5 to 2; default 1. */
  readonly speed?: number
  /** 0 (even) to 2 (lively), default 1; a service without such a setting ignores it. */
  readonly temperature?: number
  /** One of the voice's `formats`; default 8 kHz. */
  readonly format?: AudioFormat
  /**
   * Called with the number of characters (code points) each time they are sent to the service, which bills them even
   * when they are not played. Cached audio and requests refused over HTTP cost nothing.
   */
  readonly onSent?: (characters: number) => void
}

export interface SpeechChunk {
  /** 16-bit, in the format of the request. */
  readonly samples: Int16Array
  /** Words that begin in this chunk, offsets from the start of the utterance; empty when the service sends no word times. */
  readonly words: readonly { readonly text: string; readonly startMs: Ms }[]
}
