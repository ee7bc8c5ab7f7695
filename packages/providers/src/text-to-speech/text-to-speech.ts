import type { Ms } from '@parley/kernel'

/**
 * The text-to-speech port. One implementation serves many calls at once; each utterance is its own stream.
 * Audio is always 8 kHz mono 16-bit, whatever the service speaks.
 */
export interface TextToSpeech {
  /** "local/flite", "simulated/tones-1", … */
  readonly id: string
  /** BCP 47 primary tags that this voice speaks: ["en"]. */
  readonly languages: readonly string[]
  /**
   * Why it cannot speak here ("espeak-ng is not installed"), or null when it can. `language` (BCP 47, default the first
   * of `languages`): one may be ready where another is not.
   */
  readiness(language?: string): Promise<string | null>
  /**
   * Speaks `text`. Chunks come as they are made, each at least 10 ms long but the last; iterating ends normally after the last chunk,
   * or at once, without an error, when `signal` aborts. Failures throw `ParleyError`.
   */
  synthesize(request: SpeechRequest, signal: AbortSignal): AsyncIterable<SpeechChunk>
  /**
   * A call is about to speak this language with this voice: what takes time is done now (connections; renderings of
   * `texts` where the voice remembers them). Best effort, never throws; what was made ready and is not used goes away by
   * itself.
   */
  warm?(request: Pick<SpeechRequest, 'language' | 'voice'> & { readonly texts?: readonly string[] }): void
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
  /**
   * Told of the text's characters (code points) when whoever makes the speech has them, once more where it gets them again:
   * they are billed, heard or not. What is remembered costs nothing, nor what is refused over HTTP.
   */
  readonly onSent?: (characters: number) => void
}

export interface SpeechChunk {
  readonly samples: Int16Array
  /** Words that begin in this chunk, offsets from the start of the utterance; empty where the service has no word times. */
  readonly words: readonly { readonly text: string; readonly startMs: Ms }[]
}
