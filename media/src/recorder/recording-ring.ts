import type { Samples } from '@parley/kernel'

/** Bytes per channel; a power of two; default 32768 = 4.1 s. */
export declare function allocateRecordingRing(capacity?: number): SharedArrayBuffer

/** The media thread's end of a recording: two mu-law channels on the sample clock. Nothing here blocks or allocates. */
export declare class RecordingRing {
  constructor(buffer: SharedArrayBuffer)
  /** Places `count` samples at `position`; what is missing before it is silence, what was already written stands. */
  writeLeft(position: Samples, samples: Int16Array, offset: number, count: Samples): void
  writeRight(position: Samples, samples: Int16Array, offset: number, count: Samples): void
  /** The same with mu-law bytes. */
  writeLeftBytes(position: Samples, bytes: Uint8Array, offset: number, count: Samples): void
  writeRightBytes(position: Samples, bytes: Uint8Array, offset: number, count: Samples): void
  /** The recording ends at `position` on both channels. Later writes do nothing. */
  end(position: Samples): void
  readonly overrunSamples: Samples
}
