export interface WavAudio {
  readonly sampleRate: number
  readonly encoding: 'PCM' | 'PCMU' | 'PCMA'
  /** One array per channel, equally long. */
  readonly channels: readonly Int16Array[]
}

/** Parses 8/16-bit PCM or mu-law/A-law WAV. Throws `ParleyError` "invalid_wav". `maxFrames` default 8000 * 7200. */
export declare function readWav(bytes: Uint8Array, options?: { readonly maxFrames?: number }): WavAudio
