import type { Ms, Samples } from '@parley/kernel'

export interface VoiceActivityOptions {
  /** Quiet needed before speech counts as ended, ms; default 200. */
  readonly hangoverMs?: Ms
}

/** Says where speech starts and ends in 8 kHz audio. After `push`, drain `take()`. */
export declare class VoiceActivity {
  constructor(options?: VoiceActivityOptions)
  readonly speaking: boolean
  /** Sample position of the transition that `take()` returned last: true onset, or end of the last speech. */
  readonly position: Samples
  /** `position`: where audio[offset] stands on the sample clock; a jump against the last push starts a new frame. */
  push(position: Samples, audio: Int16Array, offset: number, count: Samples): void
  take(): 'speech-start' | 'speech-end' | null
}
